// The service worker: it keeps the files of the site, so that the page opens without a network, and asks for nothing else.
// FILES has the hash of each. Those of another site differ, so browsers find this script changed, and take that site.
"use strict";

const files = FILES; // path → hashes
const mine = `shadow ${registration.scope} `; // caches are those of all sites of a host
const current = mine + JSON.stringify(files);

self.addEventListener("install", (event) => event.waitUntil((async () => {
	const cache = await caches.open(current);
	await cache.addAll(Object.entries(files).map(([path, integrity]) => new Request(path, { integrity, cache: "no-cache" })));
	await self.skipWaiting(); // pages that are open have all that they need
})()));

self.addEventListener("activate", (event) => event.waitUntil((async () => {
	for (const other of await caches.keys()) {
		if (other.startsWith(mine) && other !== current) await caches.delete(other);
	}
	await self.clients.claim();
})()));

self.addEventListener("fetch", (event) => event.respondWith((async () => {
	const path = event.request.url.replace(/[?#].*/, "").replace(/\/index\.html$/, "/");
	const cache = await caches.open(current);
	return await cache.match(path, { ignoreVary: true }) ?? fetch(event.request);
})()));
