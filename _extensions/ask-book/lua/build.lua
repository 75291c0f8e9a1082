--- Cuts a rendered book: `pandoc lua build.lua JOB.json` writes its manifest.
---
--- JOB.json: {"site", "manifest", "book_js", "cache"} and either the book and its pages in reading order,
--- {"book": {"title", "authors", "lang", "site_url", "output_name"},
--- "chapters": [{"file", "href", "title"?, "number"?, "part"?}]}, or {"records", "full"}: where the filter left them,
--- and whether it was a full render, which ends the records of pages that are gone. Paths are absolute or relative to
--- the working folder, `href` to the site.
--- Prints one line of JSON with counts. On an error the old manifest stays as it is and the exit code is 1.
local here = pandoc.path.directory(arg[0])
local sources = {}
table.insert(package.searchers, 2, function(name)
  local file = io.open(pandoc.path.join({ here, name .. ".lua" }), "rb")
  if not file then
    return nil
  end
  local source = file:read("a")
  file:close()
  sources[#sources + 1] = source
  return load(source, "@" .. name .. ".lua")
end)

local cut = require("chapter")
local files = require("files")
local fragment = require("fragment")
local identity = require("identity")
local json = require("json")
local records = require("records")

-- What was cut by another version of these modules is cut again.
local VERSION = pandoc.utils.sha1(table.concat(sources))
local CUT = ".cut"

---@param book table
---@param chapter table
---@param page string
---@return string
local function cache_key(book, chapter, page)
  return pandoc.utils.sha1(table.concat({
    VERSION, book.title, book.lang, chapter.file, chapter.href,
    chapter.title or "", chapter.number or "", chapter.part or "", page,
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
  local key = cache_key(job.book, chapter, page)
  local stored = files.read(path)
  if stored and stored:sub(1, #key + 1) == key .. "\n" then
    return fragment.from_text(stored:sub(#key + 2)), true, name
  end
  local made = fragment.make(chapter.file, chapter.href, cut(files.clean(page), chapter, job.book))
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
---@param body string
---@return string JSON: what the manifest and `book.js` say of the whole book
local function book_json(book, body)
  local id = book.id or identity.book_id(book.title, book.lang, book.site_url, book.output_name)
  local head = json.object({ "id", id, "title", book.title })
  local hash = pandoc.utils.sha1(body):sub(1, 16)
  local tail = json.object({ "lang", book.lang, "site_url", book.site_url, "hash", hash })
  return ('%s,"authors":%s,%s'):format(head:sub(1, -2), json.strings(book.authors), tail:sub(2))
end

--- A script that gives the book to a page opened as a file, and to nobody else.
---@param book string JSON
---@param briefs string[]
---@return string
local function book_script(book, briefs)
  return ('if (location.protocol === "file:") askBookManifest({"version":1,"book":%s,"chapters":[%s]});\n'):format(
    book, table.concat(briefs, ",")
  )
end

---@param job table
---@param chapter table
---@return string|nil page nil when the book does not have it
local function page_of(job, chapter)
  local page = files.read(pandoc.path.join({ job.site, chapter.href }))
  if chapter.record and not records.is_alive(chapter, page) then
    if job.full then
      os.remove(chapter.record)
    end
    return nil
  elseif not page then
    io.stderr:write(("ask-book: left out %s: the book has no page %s\n"):format(chapter.file, chapter.href))
  end
  return page
end

---@param job table
---@return string summary as JSON
local function build(job)
  local chapters, briefs, chunk_list, labels, labelled, used = {}, {}, {}, {}, {}, {}
  local sums = { sections = 0, blocks = 0, chunks = 0, chars = 0, reused = 0 }
  pandoc.system.make_directory(job.cache, true)
  if job.records then
    job.book, job.chapters = records.read(job.records)
  end
  for _, chapter in ipairs(job.chapters) do
    local page = page_of(job, chapter)
    if page then
      local part, is_reused, name = fragment_of(job, chapter, page)
      local index = #chapters
      used[name] = true
      chapters[index + 1] = fragment.at(part.chapter, index, 1)
      briefs[index + 1] = part.brief
      chunk_list[#chunk_list + 1] = part.chunks ~= "" and fragment.at(part.chunks, index) or nil
      for i = 1, #part.labels, 2 do
        local id = part.labels[i]
        labels[#labels + 1] = not labelled[id] and json.string(id) .. ":" .. part.labels[i + 1] or nil
        labelled[id] = true
      end
      for key, count in part.counts:gmatch("(%a+)=(%d+)") do
        sums[key] = sums[key] + math.tointeger(count)
      end
      sums.reused = sums.reused + (is_reused and 1 or 0)
    end
  end
  forget_others(job.cache, used)
  local body = ('"chapters":[%s],"chunks":[%s],"labels":{%s}}'):format(
    table.concat(chapters, ","), table.concat(chunk_list, ","), table.concat(labels, ",")
  )
  local book = book_json(job.book, body)
  local changed = files.write(job.manifest, ('{"version":1,"book":%s,%s\n'):format(book, body))
  if job.book_js then
    changed = files.write(job.book_js, book_script(book, briefs)) or changed
  end
  return ('{"chapters":%d,"sections":%d,"blocks":%d,"chunks":%d,"reused":%d,"chars":%d,"changed":%s}'):format(
    #chapters, sums.sections, sums.blocks, sums.chunks, sums.reused, sums.chars, changed
  )
end

---@param value any JSON's null is a value of its own
---@return any
local function given(value)
  return value ~= pandoc.json.null and value or nil
end

---@param path string|nil
---@return table job
local function read_job(path)
  local source = path and files.read(path)
  if not source then
    error(("there is no job at %s"):format(path or "(no argument)"), 0)
  end
  local job = pandoc.json.decode(source, false)
  job.book_js = given(job.book_js)
  for _, chapter in ipairs(job.chapters or {}) do
    chapter.title, chapter.number, chapter.part = given(chapter.title), given(chapter.number), given(chapter.part)
  end
  return job
end

local ok, message = pcall(function()
  print(build(read_job(arg[1])))
end)
if not ok then
  io.stderr:write("ask-book: the manifest was not written: " .. tostring(message) .. "\n")
  os.exit(1)
end
