// The worker in which logs are read. It gets the program first, then questions:
//
//	{program: ArrayBuffer | WebAssembly.Module, scripts: ["wasm_exec.js", "files.js"]}   it answers {ready: true}
//	{id, ask, options, files: [{name, file}]}   it answers with texts, see main.go
//
// Without files a question is about those of the question before.
"use strict";

let names = [];

async function start({ program, scripts }) {
	importScripts(...scripts);
	const go = new Go();
	const { instance = undefined, ...rest } = await WebAssembly.instantiate(program, go.importObject);
	go.run(instance || rest).catch((error) => self.postMessage({ failed: String(error) }));
	self.postMessage({ ready: true });
}

self.onmessage = ({ data }) => {
	if (data.program) {
		start(data).catch((error) => self.postMessage({ failed: String(error) }));
		return;
	}
	const { id, ask, options } = data;
	if (data.files) names = serveFiles(data.files);
	shadowAsk(JSON.stringify({ id, ask, options, files: names }), (text) => self.postMessage(text));
};
