-- Starts benchbrief's language server for .bench files, with Neovim 0.7 or later.

local M = {}

local windows = vim.fn.has("win32") == 1

-- The nearest folder, from `start` upward, for which `found` answers; nil when there is none.
local function upward(start, found)
  local folder, last = start, nil
  while folder ~= last do
    local answer = found(folder)
    if answer then
      return answer
    end
    folder, last = vim.fn.fnamemodify(folder, ":h"), folder
  end
end

local function folder_of(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  return name == "" and vim.fn.getcwd() or vim.fn.fnamemodify(name, ":p:h")
end

-- The server's command for a buffer: `.venv` of its folder or one above it, then the PATH. nil when there is none.
function M.command(buffer)
  local program = windows and "/.venv/Scripts/bench.exe" or "/.venv/bin/bench"
  local bench = upward(folder_of(buffer), function(folder)
    return vim.fn.executable(folder .. program) == 1 and folder .. program or nil
  end)
  if not bench and vim.fn.executable("bench") == 1 then
    bench = "bench"
  end
  return bench and { bench, "lsp" } or nil
end

-- The folder that a buffer's specs belong to: the repository's, else the file's own.
function M.root(buffer)
  local start = folder_of(buffer)
  return upward(start, function(folder)
    local has_git = vim.fn.isdirectory(folder .. "/.git") == 1 or vim.fn.filereadable(folder .. "/.git") == 1
    return has_git and folder or nil
  end) or start
end

local warned = false

local function warn_once()
  if not warned then
    warned = true
    vim.notify(
      "benchbrief: there is no `bench` command in .venv or on the PATH. Install benchbrief there, or name the command: "
        .. 'require("benchbrief").setup({ cmd = { "/path/to/bench", "lsp" } })',
      vim.log.levels.WARN
    )
  end
end

local clients = {} -- before Neovim 0.8: the client of each command and root

local function attach(buffer, config)
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  local key = table.concat(config.cmd, "\n") .. "\n" .. config.root_dir
  local client = clients[key] and vim.lsp.get_client_by_id(clients[key])
  if not client or client.is_stopped() then
    clients[key] = vim.lsp.start_client(config)
  end
  vim.lsp.buf_attach_client(buffer, clients[key])
end

-- `options`: `cmd`, the server's command in place of the one that is searched for, and whatever `vim.lsp.start` takes
-- (`on_attach`, `capabilities`).
function M.setup(options)
  options = options or {}
  local function start(buffer)
    local cmd = options.cmd or M.command(buffer)
    if not cmd then
      warn_once()
      return
    end
    attach(buffer, vim.tbl_extend("force", { name = "benchbrief" }, options, { cmd = cmd, root_dir = M.root(buffer) }))
  end
  vim.api.nvim_create_autocmd("FileType", {
    group = vim.api.nvim_create_augroup("benchbrief", { clear = true }),
    pattern = "bench",
    callback = function(event)
      start(event.buf)
    end,
  })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].filetype == "bench" then
      start(buffer)
    end
  end
end

return M
