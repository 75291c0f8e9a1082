/**
 * The hooks of ask-book, run by Quarto's own Deno (see _extension.yml): `pre` starts the sidecar, `post` makes the
 * book's manifest. A hook never fails, hangs or loops a render: each outer command has a time limit, each error is one
 * line of output, and nothing is written outside `.quarto/` and the output folder.
 *
 * Quarto waits for the end of the hook's stdout and stderr, so no process that may outlive the hook gets either.
 *
 * This is a classic script: its value, the object at the end, is what the entry of _extension.yml evaluates.
 */
"use strict";

(() => {
  const START_SECONDS = 10;
  const BUILD_SECONDS = 180;
  const HEALTH_MILLISECONDS = 400;
  const KEPT_OUTPUT_BYTES = 65536;
  const NOT_FOUND =
    "no sidecar found (ASK_BOOK, the project's .venv, the active environment, the PATH, Quarto's Python): install " +
    "the package ask-book in one of them; until then readers search in the browser. ASK_BOOK=off ends this line.";
  const MARKER = 'id="ask-book-config"';
  const isWindows = Deno.build.os === "windows";

  /** @typedef {{argv: string[], origin: string}} Sidecar a command, and where it was found, in the author's words */
  /** @typedef {{code: number|null, stdout: string, stderr: string}} Outcome `code` is null when time ran out */
  /** @typedef {{version: string, book: {id: string}}} BookRecord what the filter says of the book, as far as hooks care */
  /**
   * @typedef {object} Render
   * @property {string} project absolute
   * @property {string} output absolute
   * @property {string} data where ask-book keeps what it makes of this project and profile, absolute
   * @property {string} extension relative to the project
   * @property {boolean} isFull the whole book is rendered
   * @property {boolean} isSave some pages are rendered again, as on every save of a preview
   */

  /** @param {string} line */
  const say = (line) => console.log(`ask-book: ${line}`);

  /** @param {string} name @returns {string} "" when it is not set */
  const env = (name) => Deno.env.get(name) ?? "";

  /** @param {...string} parts @returns {string} */
  const join = (...parts) => parts.join("/");

  /** @param {string} path @param {string} folder @returns {string} the path, seen from a folder if it is relative */
  const resolve = (path, folder) => /^(?:[\\/]|[A-Za-z]:)/.test(path) ? path : join(folder, path);

  /** @param {string} path @returns {string|null} null when it cannot be read */
  function readText(path) {
    try {
      return Deno.readTextFileSync(path);
    } catch {
      return null;
    }
  }

  /** @param {string} path @returns {any} null when it is missing or no JSON */
  function readJson(path) {
    try {
      return JSON.parse(Deno.readTextFileSync(path));
    } catch {
      return null;
    }
  }

  /** @param {string} path @returns {boolean} */
  function isFile(path) {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  }

  /** @param {string} path @returns {string[]} names, sorted; none when there is no such folder */
  function namesIn(path) {
    try {
      return [...Deno.readDirSync(path)].map((entry) => entry.name).sort();
    } catch {
      return [];
    }
  }

  /** @param {string} text @returns {string} on one line, of a bounded length, without our own name before it */
  const oneLine = (text) => text.replace(/\s+/g, " ").trim().replace(/^ask-book: /, "").slice(0, 300);

  /**
   * Files that Quarto names to a hook, in the environment or in a file that the environment names.
   * @param {"INPUT"|"OUTPUT"} which @returns {string[]}
   */
  function filesOfRender(which) {
    const listFile = env(`QUARTO_USE_FILE_FOR_PROJECT_${which}_FILES`);
    const listed = (listFile ? readText(listFile) : null) ?? env(`QUARTO_PROJECT_${which}_FILES`);
    return listed.split("\n").map((path) => path.trim()).filter(Boolean);
  }

  // ---------------------------------------------------------------- configuration

  /**
   * YAML without its comments. A `#` begins one at the start of a line or after a space, outside quotes.
   * @param {string} yaml @returns {string}
   */
  function withoutComments(yaml) {
    return yaml.replace(/"(?:\\.|[^"\\\n])*"|'[^'\n]*'|(^|[ \t])#[^\n]*/gm, (found, before) => before ?? found);
  }

  /**
   * YAML without the text of its block scalars (`key: |`), which may say anything.
   * @param {string} yaml @returns {string}
   */
  function withoutBlockScalars(yaml) {
    let indent = Infinity;
    return yaml.split("\n").filter((line) => {
      const depth = line.search(/\S/);
      if (depth > indent) return false;
      if (depth >= 0) indent = /(?:^|[\s:-])[|>][-+\d]*\s*$/.test(line) ? depth : Infinity;
      return true;
    }).join("\n");
  }

  /**
   * What follows a key: the flow list, the lines of the block list, or the scalar.
   * @param {string} text from the character after the colon @param {number} depth the key's column @returns {string}
   */
  function valueAfter(text, depth) {
    if (/^\s*\[/.test(text)) return text.slice(0, text.indexOf("]") + 1 || undefined);
    const [line, ...rest] = text.split("\n");
    if (line.trim()) return line.split(/[,}]/)[0];
    const end = rest.findIndex((next) => next.trim() && next.search(/\S/) < depth + (/^\s*- /.test(next) ? 0 : 1));
    return rest.slice(0, end < 0 ? undefined : end).join("\n");
  }

  /**
   * The texts listed under a key anywhere in a YAML file. This is no YAML reader: it knows lists, which is all that
   * `filters:` and `metadata-files:` are.
   * @param {string} yaml @param {string} key @returns {string[]}
   */
  function listedUnder(yaml, key) {
    const text = withoutBlockScalars(withoutComments(yaml.replace(/\r\n?/g, "\n")));
    const keys = new RegExp(`(^|[\\s{,])(["']?)${key}\\2[ \\t]*:(?=\\s|\\[)`, "g");
    return [...text.matchAll(keys)].flatMap((match) => {
      const start = match.index + match[1].length;
      const depth = start - (text.lastIndexOf("\n", start - 1) + 1);
      return valueAfter(text.slice(match.index + match[0].length), depth)
        .split(/[\n,[\]{}]/)
        .map((item) => item.trim().replace(/^-\s+/, "").replace(/^path\s*:\s*/, "").replace(/^(["'])(.*)\1$/, "$2"))
        .filter(Boolean);
    });
  }

  /** @param {string} yaml @returns {boolean} whether a `filters:` of it has this extension, by name or by file */
  function listsFilter(yaml) {
    return listedUnder(yaml, "filters").some((item) => /^(?:.*\/)?ask-book(?:\.lua)?$/.test(item));
  }

  /** @param {string} project @returns {boolean} whether the configuration of the active profiles lists the filter */
  function isListed(project) {
    const stems = ["_quarto", ...env("QUARTO_PROFILE").split(",").filter(Boolean).map((name) => `_quarto-${name}`)];
    const names = [...stems.flatMap((stem) => [`${stem}.yml`, `${stem}.yaml`]), "_quarto.yml.local", "_metadata.yml"];
    const texts = names.map((name) => readText(join(project, name)) ?? "");
    const included = texts.flatMap((text) => listedUnder(text, "metadata-files"));
    return [...texts, ...included.map((name) => readText(join(project, name)) ?? "")].some(listsFilter);
  }

  // ---------------------------------------------------------------- processes

  /**
   * The first bytes of a stream as text; the rest is read too, so that the writer does not wait, and forgotten.
   * @param {ReadableStream<Uint8Array>} stream
   */
  function keepStart(stream) {
    const decoder = new TextDecoder();
    const kept = { text: "", done: Promise.resolve() };
    kept.done = (async () => {
      for await (const bytes of stream) {
        if (kept.text.length < KEPT_OUTPUT_BYTES) kept.text += decoder.decode(bytes, { stream: true });
      }
    })().catch(() => {});
    return kept;
  }

  /** @param {number} milliseconds @returns {Promise<null>} */
  const after = (milliseconds) => new Promise((resolve) => setTimeout(() => resolve(null), milliseconds));

  /** @returns {Promise<Array<{pid: number, parent: number}>>} all processes, where `/proc` or `ps` tells */
  async function processes() {
    const numbered = namesIn("/proc").filter((name) => /^\d+$/.test(name));
    if (numbered.length) {
      return numbered.map((name) => {
        const afterName = (readText(`/proc/${name}/stat`) ?? "").split(") ").pop() ?? "";
        return { pid: Number(name), parent: Number(afterName.split(" ")[1]) };
      });
    }
    const ps = await new Deno.Command("ps", { args: ["-A", "-o", "pid=,ppid="] }).output();
    return new TextDecoder().decode(ps.stdout).trim().split("\n").map((row) => {
      const [pid, parent] = row.trim().split(/\s+/).map(Number);
      return { pid, parent };
    });
  }

  /** @param {number} pid killed with all its descendants */
  async function killTree(pid) {
    if (isWindows) {
      await new Deno.Command("taskkill", { args: ["/PID", String(pid), "/T", "/F"] }).output();
      return;
    }
    const all = await processes().catch(() => []);
    const doomed = [pid];
    for (const parent of doomed) doomed.push(...all.filter((one) => one.parent === parent).map((one) => one.pid));
    for (const one of doomed) {
      try {
        Deno.kill(one, "SIGKILL");
      } catch {
        // it has ended by itself
      }
    }
  }

  /**
   * Run a command with no input, and kill it with its children when its time is over.
   * @param {string[]} argv @param {string} cwd @param {number} seconds @returns {Promise<Outcome>}
   */
  async function runBounded(argv, cwd, seconds) {
    const child = new Deno.Command(argv[0], {
      args: argv.slice(1),
      cwd,
      // compiled Python under _extensions/ would make `quarto preview` render again
      env: { PYTHONDONTWRITEBYTECODE: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const [stdout, stderr] = [keepStart(child.stdout), keepStart(child.stderr)];
    const status = await Promise.race([child.status, after(seconds * 1000)]);
    if (!status) await killTree(child.pid);
    // a process that lives on may hold the pipes open for ever
    await Promise.race([Promise.all([stdout.done, stderr.done]), after(300)]);
    return { code: status ? status.code : null, stdout: stdout.text, stderr: stderr.text };
  }

  // ---------------------------------------------------------------- pre: the sidecar

  /** @param {string} folder @param {string} name @returns {string|null} the command in that folder */
  function commandIn(folder, name) {
    const names = isWindows ? [`${name}.exe`] : [name];
    return names.map((file) => join(folder, file)).find(isFile) ?? null;
  }

  /** @param {string} environment a virtual environment's folder @returns {string|null} */
  function commandOfEnvironment(environment) {
    return commandIn(join(environment, isWindows ? "Scripts" : "bin"), "ask-book");
  }

  /** @param {string} name @returns {string|null} the first on the PATH */
  function commandOnPath(name) {
    const folders = env("PATH").split(isWindows ? ";" : ":").filter(Boolean);
    return folders.map((folder) => commandIn(folder, name)).find(Boolean) ?? null;
  }

  /**
   * The sidecar's command: what the environment names, the project's own virtual environment, the active one, the PATH,
   * Quarto's Python.
   * @param {string} project @returns {Sidecar|null}
   */
  function findSidecar(project) {
    const named = env("ASK_BOOK");
    if (named) {
      const command = /[\\/]/.test(named) ? resolve(named, project) : commandOnPath(named) ?? named;
      return { argv: [command], origin: "ASK_BOOK" };
    }
    const environments = [
      ...[".venv", "venv", "env"].map((name) => ({ folder: join(project, name), origin: `the project's ${name}` })),
      ...["VIRTUAL_ENV", "CONDA_PREFIX"].map((name) => ({ folder: env(name), origin: name })),
    ];
    for (const { folder, origin } of environments) {
      const command = folder && commandOfEnvironment(folder);
      if (command) return { argv: [command], origin };
    }
    const command = commandOnPath("ask-book");
    if (command) return { argv: [command], origin: "the PATH" };
    const python = env("QUARTO_PYTHON");
    return python ? { argv: [python, "-m", "ask_book"], origin: "QUARTO_PYTHON" } : null;
  }

  /** @param {string} id of a book @returns {number[]} the four ports its sidecar may listen on */
  function portsOf(id) {
    const first = 10240 + 4 * (parseInt(id.slice(0, 8), 16) % 5440);
    return [first, first + 1, first + 2, first + 3];
  }

  /**
   * @param {string} id of the book @param {number} port
   * @returns {Promise<{url: string, version: string}|null>} null when no sidecar of this book answers there
   */
  async function healthAt(id, port) {
    try {
      const url = `http://127.0.0.1:${port}`;
      const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_MILLISECONDS) });
      const health = await response.json();
      return health.book.id === id ? { url, version: health.versions.ask_book } : null;
    } catch {
      return null;
    }
  }

  /** @param {string} id of the book @returns {Promise<{url: string, version: string}|null>} */
  async function runningSidecar(id) {
    const found = await Promise.all(portsOf(id).map((port) => healthAt(id, port)));
    return found.find(Boolean) ?? null;
  }

  /** @param {Outcome} outcome @param {Sidecar} sidecar @returns {string} one line on what went wrong */
  function reason(outcome, sidecar) {
    if (outcome.code === null) return `it gave no answer in ${START_SECONDS} seconds`;
    if (sidecar.origin === "QUARTO_PYTHON" && /No module named/.test(outcome.stderr)) return "ask-book is not in it";
    const lines = outcome.stderr.split("\n").filter((line) => line.trim());
    const told = /^Traceback/.test(lines[0] ?? "") ? lines[lines.length - 1] : lines[0];
    return told ? oneLine(told) : `it ended with code ${outcome.code}`;
  }

  /** @param {string} answer of `ask-book start --json` @returns {string|null} */
  function urlIn(answer) {
    try {
      return String(JSON.parse(answer).url ?? "").replace(/\/$/, "") || null;
    } catch {
      return null;
    }
  }

  /**
   * @param {Sidecar} sidecar @param {string} project
   * @returns {Promise<{url: string}|{trouble: string}>}
   */
  async function startSidecar(sidecar, project) {
    try {
      const outcome = await runBounded([...sidecar.argv, "start", "--book", project, "--json"], project, START_SECONDS);
      if (outcome.code !== 0) return { trouble: reason(outcome, sidecar) };
      const url = urlIn(outcome.stdout);
      return url ? { url } : { trouble: "its answer was not understood" };
    } catch (error) {
      return { trouble: oneLine(/** @type {Error} */ (error).message) };
    }
  }

  /** @returns {boolean} whether this is a pipeline that did not ask for a sidecar */
  function isSilentPipeline() {
    return !["", "0", "false"].includes(env("CI").toLowerCase()) && env("ASK_BOOK_START") !== "1";
  }

  /**
   * Have a sidecar of this book running. On a save of `quarto preview` one that answers is enough and one that failed
   * is not tried again.
   * @param {Render} render
   */
  async function pre({ project, data, isSave }) {
    if (!isListed(project)) return;
    if (env("ASK_BOOK").toLowerCase() === "off") return;
    if (isSilentPipeline()) {
      if (!isSave) say("no sidecar is started, because CI is set (ASK_BOOK_START=1 starts one).");
      return;
    }
    /** @type {BookRecord|null} */
    const known = readJson(join(data, "book.json"));
    const running = known && await runningSidecar(known.book.id);
    if (known && running && (isSave || running.version === known.version)) {
      if (!isSave) say(`answers at ${running.url}`);
      return;
    }
    const failure = join(data, "start-failed");
    if (isSave && isFile(failure)) return;

    const sidecar = findSidecar(project);
    if (!sidecar) {
      if (!isSave) say(NOT_FOUND);
      return;
    }
    const started = await startSidecar(sidecar, project);
    if ("url" in started) {
      say(`answers at ${started.url} (found in ${sidecar.origin})`);
      if (isFile(failure)) Deno.removeSync(failure);
      return;
    }
    const command = [...sidecar.argv, "start", "--book", "."].join(" ");
    say(`the sidecar found in ${sidecar.origin} did not start: ${started.trouble}. To see more: ${command}`);
    Deno.mkdirSync(data, { recursive: true });
    Deno.writeTextFileSync(failure, started.trouble + "\n");
  }

  // ---------------------------------------------------------------- post: the manifest

  /** @param {string} path @returns {boolean} whether the page was made with this filter */
  const isMarked = (path) => (readText(path) ?? "").includes(MARKER);

  /**
   * Whether this run may have something new for the manifest: pages made with the filter, or, at the start of a
   * preview that finds all pages made, what an earlier render without hooks has left.
   * @param {string} project @returns {boolean}
   */
  function hasNews(project) {
    const rendered = filesOfRender("OUTPUT");
    if (!rendered.length) return isListed(project);
    return rendered.some((path) => /\.html$/i.test(path) && isMarked(resolve(path, project)));
  }

  /** @returns {string[]} the start of a command that runs Quarto's own pandoc */
  function pandocCommand() {
    const bin = env("QUARTO_BIN_PATH");
    const suffix = isWindows ? ".exe" : "";
    const paths = [
      env("QUARTO_PANDOC"),
      join(bin, "tools", Deno.build.arch, `pandoc${suffix}`),
      join(bin, "tools", `pandoc${suffix}`),
      join(bin, `pandoc${suffix}`),
    ];
    const pandoc = paths.find((path) => path && isFile(path));
    return pandoc ? [pandoc] : [bin ? join(bin, `quarto${suffix}`) : "quarto", "pandoc"];
  }

  /** @param {number} count @param {string} noun @returns {string} */
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  /** @param {{chapters: number, chunks: number, reused: number, changed: boolean}} built @returns {string} */
  function summary({ chapters, chunks, reused, changed }) {
    const cut = chapters - reused;
    const news = !changed ? "nothing changed" : cut ? `${counted(cut, "chapter")} new or changed` : "made anew";
    return `${counted(chapters, "chapter")}, ${counted(chunks, "chunk")}; ${news}`;
  }

  /**
   * Make the manifest from the pages just rendered and those of earlier renders.
   * @param {Render} render
   */
  async function post(render) {
    const { project, output, data, extension, isFull } = render;
    if (!hasNews(project) || !isFile(join(data, "book.json"))) return;

    // On Windows pandoc's Lua opens no path with letters beyond its code page: what is inside the project is named from
    // there, which keeps the folders above out of it.
    /** @param {string} path */
    const inside = (path) =>
      path.startsWith(project) && /[\\/]/.test(path[project.length] ?? "") ? path.slice(project.length + 1) : path;
    const job = {
      site: inside(output),
      manifest: inside(join(data, "manifest.json")),
      book_js: inside(join(output, "ask-book", "book.js")),
      cache: inside(join(data, "cut")),
      records: inside(data),
      full: isFull,
    };
    Deno.writeTextFileSync(join(data, "job.json"), JSON.stringify(job));
    const argv = [...pandocCommand(), "lua", `${extension}/lua/build.lua`, inside(join(data, "job.json"))];
    const outcome = await runBounded(argv, project, BUILD_SECONDS);
    const remarks = oneLine(outcome.stderr);
    if (outcome.code === 0) {
      if (remarks) say(remarks);
      say(summary(JSON.parse(outcome.stdout)));
      return;
    }
    const late = outcome.code === null ? `no end after ${BUILD_SECONDS} seconds` : "";
    say(`the manifest is not made anew: ${late || remarks || `code ${outcome.code}`}`);
  }

  // ---------------------------------------------------------------- entry

  /** @param {string} owner folder of `_extensions` that holds `ask-book`, "." for none @returns {Render} */
  function thisRender(owner) {
    const project = (env("QUARTO_PROJECT_DIR") || Deno.cwd()).replace(/[\\/]+$/, "");
    const isFull = env("QUARTO_PROJECT_RENDER_ALL") === "1";
    return {
      project,
      output: env("QUARTO_PROJECT_OUTPUT_DIR").replace(/[\\/]+$/, "") || project,
      data: join(project, ".quarto", "ask-book", env("QUARTO_PROFILE").replaceAll(",", "+") || "default"),
      extension: owner === "." ? "_extensions/ask-book" : `_extensions/${owner}/ask-book`,
      isFull,
      // the start of a preview may have nothing to render, a save always has
      isSave: !isFull && filesOfRender("INPUT").length > 0,
    };
  }

  /**
   * Run the hook that the command line names.
   * @param {string} owner folder of `_extensions` that holds `ask-book`, "." for none
   */
  async function run(owner) {
    try {
      await (Deno.args[0] === "pre" ? pre(thisRender(owner)) : post(thisRender(owner)));
    } catch (error) {
      say(`the ${Deno.args[0]} hook gave up: ${/** @type {Error} */ (error).message}`);
    }
    // a killed command's pipes must not keep this process, and with it the render
    Deno.exit(0);
  }

  return { run, listsFilter, listedUnder, portsOf, findSidecar };
})();
