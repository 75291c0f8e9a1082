--- Cuts a rendered book: `pandoc lua build.lua JOB.json` writes its manifest.
---
--- JOB.json: {"site", "manifest", "book_js", "cache", "book": {"title", "authors", "lang", "site_url", "output_name"},
--- "chapters": [{"file", "href", "title"?, "number"?, "part"?}]}, all paths absolute, `href` relative to the site.
--- Prints one line of JSON with counts. On an error the old manifest stays as it is and the exit code is 1.
local here = pandoc.path.directory(arg[0])
table.insert(package.searchers, 2, function(name)
  return loadfile(pandoc.path.join({ here, name .. ".lua" }))
end)

local cut = require("chapter")
local files = require("files")
local fragment = require("fragment")
local identity = require("identity")
local json = require("json")

-- Part of every cache key: change it with anything that changes what a page becomes.
local BUILDER = "1"
local CUT = ".cut"

---@param chapter {file: string, href: string, title?: string, number?: string, part?: string}
---@param book {title: string, lang: string}
---@param page string
---@return string
local function cache_key(chapter, book, page)
  return pandoc.utils.sha1(table.concat({
    BUILDER, chapter.file, chapter.href, chapter.title or "", chapter.number or "", chapter.part or "", book.title, book.lang,
    page,
  }, "\1"))
end

---@param job table
---@param chapter table
---@param page string
---@return Fragment
---@return boolean reused
---@return string name of the fragment's file in the cache
local function fragment_of(job, chapter, page)
  local name = pandoc.utils.sha1(chapter.href):sub(1, 16) .. CUT
  local path = pandoc.path.join({ job.cache, name })
  local key = cache_key(chapter, job.book, page)
  local stored = files.read(path)
  if stored and stored:sub(1, #key + 1) == key .. "\n" then
    return fragment.from_text(stored:sub(#key + 2)), true, name
  end
  local given = {
    title = chapter.title, number = chapter.number, part = chapter.part, lang = job.book.lang, book_title = job.book.title,
  }
  local made = fragment.make(chapter.file, chapter.href, cut(files.clean(page), given))
  files.write(path, key .. "\n" .. fragment.to_text(made))
  return made, false, name
end

---@param cache string
---@param used table<string, boolean>
local function forget_others(cache, used)
  for _, name in ipairs(pandoc.system.list_directory(cache)) do
    if name:sub(-#CUT) == CUT and not used[name] then
      os.remove(pandoc.path.join({ cache, name }))
    end
  end
end

---@param book table
---@param chapters string[]
---@param chunk_list string[]
---@param labels string[]
---@return string
local function manifest_json(book, chapters, chunk_list, labels)
  local body = ('"chapters":[%s],"chunks":[%s],"labels":{%s}}'):format(
    table.concat(chapters, ","), table.concat(chunk_list, ","), table.concat(labels, ",")
  )
  local id = identity.book_id(book.title, book.lang, book.site_url, book.output_name)
  local head = json.object({ "id", id, "title", book.title })
  local tail = json.object({ "lang", book.lang, "site_url", book.site_url, "hash", pandoc.utils.sha1(body):sub(1, 16) })
  return ('{"version":1,"book":%s,"authors":%s,%s,%s\n'):format(head:sub(1, -2), json.strings(book.authors), tail:sub(2), body)
end

---@param manifest string
---@return string a script that gives the book to a page opened as a file, and to nobody else
local function book_script(manifest)
  local argument = manifest:sub(1, -2):gsub("</", "<\\/"):gsub("\u{2028}", "\\u2028"):gsub("\u{2029}", "\\u2029")
  return 'if (location.protocol === "file:") askBookManifest(' .. argument .. ");\n"
end

---@param job table
---@return string summary
local function build(job)
  local chapters, chunk_list, labels, labelled, used = {}, {}, {}, {}, {}
  local sums, reused = { 0, 0, 0, 0 }, 0
  pandoc.system.make_directory(job.cache, true)
  for _, chapter in ipairs(job.chapters) do
    local page = files.read(pandoc.path.join({ job.site, chapter.href }))
    if not page then
      io.stderr:write(("ask-book: %s (from %s) is not in the rendered book, left out\n"):format(chapter.href, chapter.file))
    else
      local part, is_reused, name = fragment_of(job, chapter, page)
      local index = #chapters
      used[name] = true
      reused = reused + (is_reused and 1 or 0)
      chapters[index + 1] = fragment.at(part.chapter, index)
      chunk_list[#chunk_list + 1] = part.chunks ~= "" and fragment.at(part.chunks, index) or nil
      for i = 1, #part.labels, 2 do
        local id = part.labels[i]
        if not labelled[id] then
          labelled[id] = true
          labels[#labels + 1] = json.string(id) .. ":" .. part.labels[i + 1]
        end
      end
      local i = 0
      for count in part.counts:gmatch("%d+") do
        i = i + 1
        sums[i] = sums[i] + math.tointeger(count)
      end
    end
  end
  forget_others(job.cache, used)
  local manifest = manifest_json(job.book, chapters, chunk_list, labels)
  local changed = files.write(job.manifest, manifest)
  if job.book_js then
    changed = files.write(job.book_js, book_script(manifest)) or changed
  end
  return ('{"chapters":%d,"sections":%d,"blocks":%d,"chunks":%d,"reused":%d,"chars":%d,"changed":%s}'):format(
    #chapters, sums[1], sums[2], sums[3], reused, sums[4], changed
  )
end

local ok, message = pcall(function()
  local source = arg[1] and files.read(arg[1])
  if not source then
    error(("there is no job at %s"):format(arg[1] or "(no argument)"), 0)
  end
  local job = pandoc.json.decode(source, false)
  job.book_js = type(job.book_js) == "string" and job.book_js or nil
  print(build(job))
end)
if not ok then
  io.stderr:write("ask-book: the manifest was not written: " .. tostring(message) .. "\n")
  os.exit(1)
end
