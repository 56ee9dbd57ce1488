// Runs the engine of a site in Node, as its worker does: node worker.mjs SITE. Standard input has a question a line, {"id",
// "ask", "options", "files": [paths]}. Each text that the worker posts goes to standard output, as a text of JSON.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import vm from "node:vm";
import zlib from "node:zlib";

const site = process.argv[2];
const memory = process.env.WORKER_MEMORY; // whether to say how much memory there was

// A piece of a file, as in browsers.
class Piece {
	constructor(name, from, to) { Object.assign(this, { name, from, to }); }
	get size() { return this.to - this.from; }
	get lastModified() { return Math.floor(fs.statSync(this.name).mtimeMs); }
	slice(from, to) { return new Piece(this.name, Math.min(this.from + from, this.to), Math.min(this.from + to, this.to)); }
}
globalThis.FileReaderSync = class {
	readAsArrayBuffer(piece) {
		const bytes = new Uint8Array(piece.size);
		const fd = fs.openSync(piece.name);
		const n = fs.readSync(fd, bytes, 0, bytes.length, piece.from);
		fs.closeSync(fd);
		return bytes.buffer.slice(0, n);
	}
};

// dropped returns the files below a path, as a page hands them on.
function dropped(name) {
	const all = fs.statSync(name).isDirectory() ? fs.readdirSync(name, { recursive: true }).map((n) => path.join(name, n)) : [name];
	return all.filter((n) => fs.statSync(n).isFile()).map((n) => (
		{ name: path.relative(path.dirname(name), n), file: new Piece(n, 0, fs.statSync(n).size) }));
}

const { exit, stdin, resourceUsage } = process;
const began = performance.now();
let answered;
globalThis.self = globalThis;
globalThis.postMessage = (message) => {
	if (typeof message !== "string") {
		if (message.failed) {
			console.error(message.failed);
			exit(1);
		}
		answered(); // ready
		return;
	}
	fs.writeSync(1, JSON.stringify(message) + "\n");
	if (!message.includes('"progress":')) answered();
};
const ask = (data) => new Promise((resolve) => {
	answered = resolve;
	globalThis.onmessage({ data });
});

vm.runInThisContext(fs.readFileSync(path.join(site, "engine.js"), "utf8"), "engine.js");
const program = zlib.gunzipSync(fs.readFileSync(path.join(site, "shadow.wasm.gz")));
await ask({ program: program.buffer.slice(program.byteOffset, program.byteOffset + program.length) });
if (memory) console.error(`started after ${Math.round(performance.now() - began)} ms`);
for await (const line of readline.createInterface({ input: stdin })) {
	const question = JSON.parse(line);
	const from = performance.now();
	await ask({ ...question, files: question.files.flatMap(dropped) });
	if (memory) {
		console.error(`${((performance.now() - from) / 1000).toFixed(2)} s, ${resourceUsage().maxRSS >> 10} MB`);
	}
}
exit(0);
