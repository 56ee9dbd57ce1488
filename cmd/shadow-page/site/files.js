// Files that were dropped, as Go's wasm_exec.js wants them: globalThis.fs with the calls of Node. Reading is
// synchronous (FileReaderSync, which only workers have), so a file is never in memory as a whole. Nothing can be written.
"use strict";

(() => {
	const files = new Map(); // path → File
	const folders = new Map([["", new Set()]]); // path → names
	const open = new Map(); // descriptor → {path, at}
	let next = 3;
	let said = "";

	// tidy returns a path without what says nothing: "/a//b/." is "a/b".
	const tidy = (path) => {
		const parts = [];
		for (const part of path.split("/")) {
			if (part === "..") parts.pop();
			else if (part !== "" && part !== ".") parts.push(part);
		}
		return parts.join("/");
	};

	const failure = (code) => Object.assign(new Error(code), { code });

	const stats = (path) => {
		const file = files.get(path);
		if (!file && !folders.has(path)) throw failure("ENOENT");
		const ms = file ? file.lastModified : 0;
		return {
			dev: 0, ino: 0, mode: file ? 0o100444 : 0o040555, nlink: 1, uid: 0, gid: 0, rdev: 0,
			size: file ? file.size : 0, blksize: 4096, blocks: 0, atimeMs: ms, mtimeMs: ms, ctimeMs: ms,
			isDirectory: () => !file,
		};
	};

	const pathOf = (fd) => {
		if (!open.has(fd)) throw failure("EBADF");
		return open.get(fd).path;
	};

	const calls = {
		open(path) {
			path = tidy(path);
			stats(path);
			open.set(next, { path, at: 0 });
			return next++;
		},
		close(fd) {
			pathOf(fd);
			open.delete(fd);
		},
		read(fd, buffer, offset, length, position) {
			const file = files.get(pathOf(fd));
			if (!file) throw failure("EISDIR");
			const from = position === null ? open.get(fd).at : position;
			const piece = new FileReaderSync().readAsArrayBuffer(file.slice(from, from + length));
			buffer.set(new Uint8Array(piece), offset);
			if (position === null) open.get(fd).at += piece.byteLength;
			return piece.byteLength;
		},
		readdir(path) {
			path = tidy(path);
			if (!folders.has(path)) throw failure(files.has(path) ? "ENOTDIR" : "ENOENT");
			return [...folders.get(path)].sort();
		},
		fstat: (fd) => stats(pathOf(fd)),
		stat: (path) => stats(tidy(path)),
		lstat: (path) => stats(tidy(path)),
		readlink() { throw failure("EINVAL"); },
	};

	const fs = {
		constants: { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 },
		writeSync(fd, bytes) { // what Go says when it panics, in pieces of lines
			said += new TextDecoder().decode(bytes);
			const end = said.lastIndexOf("\n");
			if (end >= 0) console.error(said.slice(0, end));
			said = said.slice(end + 1);
			return bytes.length;
		},
		write(fd, bytes, offset, length, position, done) { done(null, this.writeSync(fd, bytes)); },
		fsync(fd, done) { done(null); },
	};
	for (const name of ["chmod", "chown", "fchmod", "fchown", "ftruncate", "lchown", "link", "mkdir", "rename", "rmdir",
		"symlink", "truncate", "unlink", "utimes"]) {
		calls[name] = () => { throw failure("EROFS"); };
	}
	for (const [name, call] of Object.entries(calls)) {
		fs[name] = (...args) => {
			const done = args.pop();
			let value;
			try {
				value = call(...args);
			} catch (error) {
				done(error.code ? error : failure("EIO")); // a file that has changed since cannot be read any more
				return;
			}
			done(null, value);
		};
	}
	globalThis.fs = fs;
	globalThis.process = { getuid: () => -1, getgid: () => -1, geteuid: () => -1, getegid: () => -1, pid: -1, ppid: -1,
		cwd: () => "/", umask() { throw failure("ENOSYS"); }, chdir() { throw failure("ENOSYS"); },
		getgroups() { throw failure("ENOSYS"); } };

	// serveFiles has these files be there, and no others: [{name: "logs/access.log", file}]. It returns what lies at the
	// top, as somebody names it who stands there.
	globalThis.serveFiles = (dropped) => {
		files.clear();
		folders.clear();
		folders.set("", new Set());
		for (const { name, file } of dropped) {
			const parts = tidy(name).split("/");
			for (let i = 0; i < parts.length; i++) {
				const folder = parts.slice(0, i).join("/");
				if (!folders.has(folder)) folders.set(folder, new Set());
				folders.get(folder).add(parts[i]);
			}
			files.set(parts.join("/"), file);
		}
		return calls.readdir("");
	};
})();
