// Fetches the engine and a sample log for a page that may not connect. A worker with an address of its own has rules of its own; this
// one never sees a log. It answers {script: text, program: ArrayBuffer, sample: Blob}, or {failed: text}.
"use strict";

// part returns a part of the engine. Some servers decompress what is compressed, and others do not.
async function part(name) {
	const response = await fetch(name);
	if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
	const blob = await response.blob();
	const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
	if (first !== 0x1f || second !== 0x8b) return new Response(blob);
	return new Response(blob.stream().pipeThrough(new DecompressionStream("gzip")));
}

(async () => {
	const [script, program, sample] = await Promise.all(["engine.js", "shadow.wasm.gz", "sample.log.gz"].map(part));
	const message = { script: await script.text(), program: await program.arrayBuffer(), sample: await sample.blob() };
	self.postMessage(message, [message.program]);
})().catch((error) => self.postMessage({ failed: String(error) }));
