-- `pandoc lua run.lua MODULES LUAUNIT`: runs the unit tests beside this file against the modules in a folder.
local here = pandoc.path.directory(arg[0])
local modules, luaunit_file = arg[1], arg[2]
table.insert(package.searchers, 2, function(name)
  return loadfile(pandoc.path.join({ modules, name .. ".lua" }))
end)
package.preload.luaunit = loadfile(luaunit_file)

for _, name in ipairs(pandoc.system.list_directory(here)) do
  if name:find("^test_.*%.lua$") then
    dofile(pandoc.path.join({ here, name }))
  end
end
os.exit(require("luaunit").LuaUnit.run("--output", "text"))
