autocmd BufRead,BufNewFile *.bench setfiletype bench
