"use strict";
const assert = require("node:assert/strict");
const { createServer } = require("node:http");
const { test } = require("node:test");
const { load, plain, fixture } = require("./load.js");

const { client } = load("en", ["client.js"]);
const config = { book: { id: "c66661cb3635", title: "A book", lang: "en" }, endpoint: "https://ask.example.org/book" };
const candidates = (page, options = {}, token = "") => {
  const { protocol, hostname, href } = new URL(page);
  return plain(client.candidates({ protocol, hostname }, { ...config, ...options }, new URL("./", href).href, token));
};
const PORTS = ["http://127.0.0.1:25900/", "http://127.0.0.1:25901/", "http://127.0.0.1:25902/", "http://127.0.0.1:25903/"];

test("the four ports follow from the book's id", () => {
  assert.deepEqual(plain(client.ports("c66661cb3635")), PORTS.map((url) => Number(new URL(url).port)));
});

test("the ports are those that Python derives", () => {
  for (const { id, ports } of fixture("book_ids.json")) assert.deepEqual(plain(client.ports(id)), ports);
});

test("a page on loopback asks its own origin, then the four ports, then the endpoint", () => {
  assert.deepEqual(candidates("http://localhost:4200/ch/one.html"), [["http://localhost:4200/ch/"], PORTS, ["https://ask.example.org/book/"]]);
});

test("a public page asks its own origin and the endpoint, never loopback", () => {
  assert.deepEqual(candidates("https://author.github.io/book/one.html"), [["https://author.github.io/book/"], ["https://ask.example.org/book/"]]);
  assert.deepEqual(candidates("https://author.github.io/book/one.html", { endpoint: "http://127.0.0.1:9/" }), [["https://author.github.io/book/"]]);
  assert.deepEqual(candidates("https://127.0.0.1.example.org/", { endpoint: null }), [["https://127.0.0.1.example.org/"]]);
});

test("a file asks nobody without the token, and the four ports with it", () => {
  assert.deepEqual(candidates("file:///home/book/index.html"), []);
  assert.deepEqual(candidates("file:///home/book/index.html", {}, "secret"), [PORTS]);
});

test("loopback names", () => {
  const isLoopback = (host) => client.isLoopback(host);
  for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "book.localhost"]) assert.equal(isLoopback(host), true, host);
  for (const host of ["example.org", "localhost.example.org", "127.0.0.1.nip.io", "notlocalhost", "10.0.0.1", ""]) assert.equal(isLoopback(host), false, host);
});

test("events are read wherever the stream is cut", () => {
  const stream = 'event: sources\r\ndata: []\r\n\r\n: a comment\n\nevent: delta\ndata: {"text":\ndata:  "ñ 🌍"}\n\nevent: done\ndata: {"id": "x"}\n\n';
  const expected = [["sources", []], ["delta", { text: "ñ 🌍" }], ["done", { id: "x" }]];
  for (let size = 1; size <= stream.length; size++) {
    const got = [];
    const read = client.eventReader((kind, data) => got.push([kind, plain(data)]));
    for (let at = 0; at < stream.length; at += size) read(stream.slice(at, at + size));
    assert.deepEqual(got, expected, `pieces of ${size}`);
  }
});

/** A small server, on `port` if that is free: it has a book of this id and hash, as its health and as `book.js`. */
const serve = (id, hash, port = 0) => new Promise((resolve, reject) => {
  const server = createServer(({ url }, answer) => {
    const isHealth = url === "/health" && port;
    if (!isHealth && url !== "/ask-book/book.js") return answer.writeHead(404).end();
    answer.writeHead(200, { "Content-Type": isHealth ? "application/json" : "text/javascript", Connection: "close" });
    answer.end(isHealth ? JSON.stringify({ book: { id, hash } }) : `askBookManifest({"version":1,"book":{"id":"${id}","hash":"${hash}"},"chapters":[]});`);
  }).once("error", reject).listen(port, "127.0.0.1", () => resolve(server));
});

/** Two servers of one book, of hashes `a` and `b`, on ports of their own. */
async function twins() {
  for (;;) {
    const id = Math.floor(Math.random() * 2 ** 32).toString(16).padEnd(12, "0");
    const [first, second] = client.ports(id);
    const servers = await Promise.allSettled([serve(id, "a", first), serve(id, "b", second)]);
    if (servers.every(({ status }) => status === "fulfilled")) return { id, servers: servers.map(({ value }) => value) };
    for (const { value } of servers) value?.close();
  }
}

test("of two copies of one book on a machine, a page asks the one that it is of, else the first", async () => {
  const { id, servers } = await twins();
  for (const [hash, wanted] of [["b", 1], ["a", 0], ["c", 0]]) {
    const pages = await serve(id, hash);
    const { client } = load("en", ["client.js"], { id, root: `http://127.0.0.1:${pages.address().port}/` });
    const found = await client.findSidecar();
    assert.equal(found.base, `http://127.0.0.1:${client.ports(id)[wanted]}/`);
    pages.close();
  }
  for (const server of servers) server.close();
});
