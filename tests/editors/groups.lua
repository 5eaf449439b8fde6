-- Writes the syntax groups of the current buffer to the file $GROUPS: each line, and below it its words.

local hidden = { benchQuantity = true, benchGroup = true, benchIn = true } -- they only hold others
local lines = {}
for number, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
  local row, word, last = {}, "", ""
  local function close()
    if last ~= "" and word:match("%S") then
      table.insert(row, vim.trim(word) .. " = " .. last)
    end
  end
  for column = 1, #text do
    local group = ""
    for _, id in ipairs(vim.fn.synstack(number, column)) do
      local name = vim.fn.synIDattr(id, "name")
      group = hidden[name] and group or name
    end
    if group ~= last then
      close()
      word, last = "", group
    end
    word = word .. text:sub(column, column)
  end
  close()
  table.insert(lines, text)
  if #row > 0 then
    table.insert(lines, "    >> " .. table.concat(row, "  |  "))
  end
end
vim.fn.writefile(lines, vim.env.GROUPS)
