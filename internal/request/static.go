package request

// StaticEndings lists the endings of files that a browser fetches for a page by itself. Documents and downloads (html,
// txt, xml, json, pdf, zip) are asked for, so they are actions of their own.
var StaticEndings = []string{
	"css", "js", "mjs", "map", "wasm",
	"png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "cur", "bmp", "jxl",
	"woff", "woff2", "ttf", "otf", "eot",
	"mp3", "mp4", "m4a", "m4s", "m4v", "ogg", "webm", "wav", "vtt", "ts", "cmfa", "cmfv",
}
