// The worker in which logs are read, behind wasm_exec.js and files.js in one script. It gets the program first, then
// questions. Without files a question is about those of the question before:
//
//	{program: ArrayBuffer}                      it answers {ready: true}
//	{id, ask, …, files: [{name, file}]}         it answers with texts, see main.go
//
// When something is wrong with the program itself, it answers {failed: text}.
"use strict";

let names = [];

const fail = (error) => self.postMessage({ failed: String(error) });

async function start(program) {
	const go = new Go();
	go.exit = (code) => fail(`the engine has ended with code ${code}`);
	const { instance } = await WebAssembly.instantiate(program, go.importObject);
	go.run(instance).catch(fail);
	self.postMessage({ ready: true });
}

self.onmessage = ({ data }) => {
	if (data.program) {
		start(data.program).catch(fail);
		return;
	}
	const { files, ...question } = data;
	if (files) names = serveFiles(files);
	shadowAsk(JSON.stringify({ ...question, files: names }), (text) => self.postMessage(text));
};
