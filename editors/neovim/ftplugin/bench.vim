" How specs are written: two spaces, comments with `#`, and `gf` on the file of a `use`.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=#\ %s comments=:#
setlocal shiftwidth=2 softtabstop=2 expandtab
setlocal suffixesadd=.bench include=^\\s*use
let b:undo_ftplugin = 'setlocal commentstring< comments< shiftwidth< softtabstop< expandtab< suffixesadd< include<'
