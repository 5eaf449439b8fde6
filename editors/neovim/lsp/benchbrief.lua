-- For Neovim 0.11 and later: `vim.lsp.enable("benchbrief")`.
return {
  cmd = function(dispatchers)
    local command = require("benchbrief").command(vim.api.nvim_get_current_buf())
    return vim.lsp.rpc.start(command or { "bench", "lsp" }, dispatchers)
  end,
  filetypes = { "bench" },
  root_markers = { ".git" },
}
