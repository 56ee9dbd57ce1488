// The page: it starts the engine, hands it the logs that are dropped, and shows the answer.
"use strict";

const element = (id) => document.getElementById(id);
const say = (text) => { element("state").textContent = text; };

// engine is the worker that reads logs, once it is ready. Its script comes as a blob, so it has the rules of this page.
const engine = new Promise((resolve, reject) => {
	const loader = new Worker("loader.js");
	loader.onerror = () => reject(new Error("the engine cannot be loaded"));
	loader.onmessage = ({ data }) => {
		loader.terminate();
		if (data.failed) {
			reject(new Error(data.failed));
			return;
		}
		const worker = new Worker(URL.createObjectURL(new Blob([data.script], { type: "text/javascript" })));
		worker.onerror = (event) => reject(new Error(event.message));
		worker.onmessage = ({ data: { ready, failed } }) => (ready ? resolve(worker) : reject(new Error(failed)));
		worker.postMessage({ program: data.program }, [data.program]);
	};
});
engine.then(() => say("Ready."), (error) => say(String(error)));

let latest = 0; // question

async function ask(files) {
	const id = ++latest;
	if (files.length === 0) return;
	element("answer").hidden = true;
	const worker = await engine;
	worker.onmessage = ({ data }) => {
		if (data.failed) {
			say(data.failed);
			return;
		}
		const reply = JSON.parse(data);
		if (reply.id === latest) show(reply);
	};
	worker.postMessage({ id, ask: "suggest", options: {}, files });
}

function show({ progress, error, answer }) {
	const bar = element("progress");
	bar.hidden = !progress;
	if (progress) {
		bar.max = progress.all || 1;
		bar.value = progress.done;
		say(`${progress.name} …`);
		return;
	}
	if (error) {
		say(error);
		return;
	}
	say(`${answer.input.requests.toLocaleString("en")} requests by ${answer.input.clients.toLocaleString("en")} clients`);
	element("verdict").textContent = answer.answer.verdict;
	element("limit").textContent = answer.answer.limit || "none";
	element("reason").textContent = answer.answer.reason;
	element("answer").hidden = false;
}

// within returns the files of what was dropped, folders and all that is in them, under their names there.
async function within(entry) {
	if (entry.isFile) {
		const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
		return [{ name: entry.fullPath, file }];
	}
	const reader = entry.createReader();
	const found = [];
	for (;;) { // a reader hands out some entries at a time
		const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
		if (some.length === 0) return found;
		for (const inner of some) found.push(...await within(inner));
	}
}

element("files").onchange = ({ target }) => ask([...target.files].map((file) => ({ name: file.name, file })));

document.ondragover = (event) => {
	event.preventDefault();
	document.body.classList.add("over");
};
document.ondragleave = () => document.body.classList.remove("over");
document.ondrop = async (event) => {
	event.preventDefault();
	document.body.classList.remove("over");
	const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry);
	try {
		ask((await Promise.all(entries.map(within))).flat());
	} catch (error) {
		say(String(error));
	}
};
