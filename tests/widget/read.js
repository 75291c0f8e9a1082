/** `book.js` as the panel reads it: `node read.js BOOK_JS` prints the manifest. */
"use strict";
const { readFileSync } = require("node:fs");
const { load } = require("./load.js");

const { buffer, byteOffset, byteLength } = readFileSync(process.argv[2]);
const { read } = load("en", ["brief.js"]);
process.stdout.write(JSON.stringify(read(buffer.slice(byteOffset, byteOffset + byteLength))));
