// The page: it starts the engine, hands it the logs that are dropped, and shows the answer.
"use strict";

const element = (id) => document.getElementById(id);
const say = (text) => { element("state").textContent = text; };

// engine is the worker that reads logs, once it is ready. Its script comes as a blob, so it has the rules of this page.
let sample; // a log to try, which comes with the engine: later nothing can be fetched
const engine = new Promise((resolve, reject) => {
	const loader = new Worker("loader.js");
	loader.onerror = () => reject(new Error("the engine cannot be loaded"));
	loader.onmessage = ({ data }) => {
		loader.terminate();
		if (data.failed) {
			reject(new Error(data.failed));
			return;
		}
		sample = new File([data.sample], "shop-combined.log");
		const worker = new Worker(URL.createObjectURL(new Blob([data.script], { type: "text/javascript" })));
		worker.onerror = (event) => {
			reject(new Error(event.message));
			end(event.message);
		};
		worker.onmessage = ({ data: { ready, failed } }) => (ready ? resolve(worker) : reject(new Error(failed)));
		worker.postMessage({ program: data.program }, [data.program]);
	};
});
engine.then(() => {
	element("sample").disabled = false;
	say("Ready.");
	keep().catch(() => {}); // browsers may forbid it
}, (error) => say(String(error)));

// keep has the browser keep the site, now that all of it was fetched, and says when it has.
async function keep() {
	if (!navigator.serviceWorker) return; // as on http:
	await navigator.serviceWorker.register("sw.js");
	await navigator.serviceWorker.ready;
	element("kept").hidden = false;
}

let last = 0; // question
const waiting = new Map(); // by question: who wants the answer
let ended = null; // why the engine answers no more

// end tells all who wait that the engine has ended, as where there is no memory left.
function end(why) {
	ended = new Error(`${why}. Load this page again.`);
	for (const { reject } of waiting.values()) reject(ended);
	waiting.clear();
}

// put asks the engine, and returns the answer.
async function put(question) {
	const worker = await engine, id = ++last;
	if (ended) throw ended;
	worker.onmessage = ({ data }) => {
		if (data.failed) {
			end(data.failed);
			return;
		}
		const { id, progress, error, answer } = JSON.parse(data);
		if (progress) {
			move(progress);
			return;
		}
		const { resolve, reject } = waiting.get(id);
		waiting.delete(id);
		if (error) reject(new Error(error));
		else resolve(answer);
	};
	return new Promise((resolve, reject) => {
		waiting.set(id, { resolve, reject });
		worker.postMessage({ ...question, id });
	});
}

let cost = ""; // what is said of the memory that reading takes

function move(progress) {
	const bar = element("progress");
	bar.hidden = false;
	bar.max = progress.all || 1;
	bar.value = progress.done;
	say(`${progress.name} …${cost}`);
}

// options returns what was chosen, as flags of the command.
function options() {
	const chosen = [...new FormData(element("options"))].filter(([, value]) => value);
	return Object.fromEntries(chosen.map(([name, value]) => [name, [value]]));
}

// summary says what was read, and what the answer is for.
function summary({ input, answer, answers }) {
	const [n, m] = [input.requests, input.clients].map((number) => number.toLocaleString("en"));
	const goals = answers[0].spare.map(({ who, percent }) => `${percent} % of ${who}`).join(", ");
	const recover = element("options").elements.recover.selectedOptions[0].text;
	const server = answer.for === "any" ? "any server" : answer.for;
	return `${n} requests by ${m} clients; for ${server}, protects ${goals}, forgives within ${recover}`;
}

// memoryOf returns about the memory that reading takes, in bytes, as measured with 1 to 8 million lines: 500 MB and 0.8 for
// each byte, with 200,000 clients in a million lines 140 MB more. Compressed logs hold about ten times their size.
const memoryOf = (files) => files.reduce((sum, { name, file }) => (
	sum + 0.8 * file.size * (/\.(gz|zst|xz|bz2)$/i.test(name) ? 10 : 1)), 5e8);
const mostMemory = 3 * 2 ** 30; // as the engine has it

// open has the engine read logs, or those of before again, and shows the page of the answer: in a frame, which can do no
// more than this page, and has its questions passed on. The page is made of texts as any other of this program, by the
// engine. Logs that may be too large are read if the visitor is sure.
let opened = 0;
async function open(files, sure) {
	if (files?.length === 0) return;
	element("anyway").hidden = true;
	if (files) {
		const memory = memoryOf(files);
		cost = memory > 1e9 ? ` About ${(memory / 1e9).toFixed(1)} GB of memory are needed.` : "";
		if (memory > mostMemory && !sure) {
			say(`These logs are large.${cost} A page has 3 GB: shadow suggest reads them on a terminal.`);
			element("anyway").hidden = false;
			element("anyway").onclick = () => open(files, true);
			return;
		}
	}
	const mine = ++opened;
	element("page").hidden = true;
	document.body.classList.remove("answered");
	say(`Reading …${cost}`);
	try {
		const found = await put({ ask: "suggest", options: options(), files });
		const page = await put({ ask: "page" });
		if (mine !== opened) return;
		say(summary(found));
		element("page").srcdoc = page;
		element("page").hidden = false;
		document.body.classList.add("answered");
	} catch (error) {
		if (mine === opened) say(error.message);
	}
	element("progress").hidden = true;
}

addEventListener("message", async ({ source, data: { number, question, dragged } }) => {
	if (source !== element("page").contentWindow) return;
	if (dragged) { // the frame gives way, so that this page takes what is dropped
		document.body.classList.add("over");
		return;
	}
	const reply = await put(question).then((answer) => ({ number, answer }), (error) => ({ number, error: error.message }));
	source.postMessage(reply, "*"); // to the frame, which has no origin
});

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

element("files").onchange = async ({ target }) => {
	await open([...target.files].map((file) => ({ name: file.name, file })));
	target.value = ""; // so that the same log can be chosen again
};

element("options").onchange = () => { if (opened > 0) open(); };

element("sample").onclick = () => open([{ name: sample.name, file: sample }]);

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
		open((await Promise.all(entries.map(within))).flat());
	} catch (error) {
		say(String(error));
	}
};
