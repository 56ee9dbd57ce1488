//go:build !js

// Command shadow-page is the engine in a browser, see main.go. Outside of one it completes a site in the folder named: with
// the page, whose rules name the scripts and styles of the page that answers, and with the service worker, which knows the
// other files by their hashes.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"shadow/internal/servers"
	"shadow/report/html"
)

//go:embed site/index.html
var index string

//go:embed site/sw.js
var serviceWorker string

// files lists what a site consists of, beside the service worker. Hosts may send index.html elsewhere, and never its folder.
var files = []string{
	"./", "engine.js", "licenses.txt", "loader.js", "page.js", "sample.log.gz", "shadow.wasm.gz", "style.css",
}

func main() {
	if err := complete(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func complete(folder string) error {
	script, style := html.AskedHashes()
	page := strings.NewReplacer(
		"SCRIPT", script, "STYLE", style, "SERVERS", "<option>"+strings.Join(servers.Names(), "</option><option>")+"</option>",
	).Replace(index)
	if err := os.WriteFile(filepath.Join(folder, "index.html"), []byte(page), 0o644); err != nil {
		return err
	}
	hashes := map[string]string{}
	for _, name := range files {
		file := name
		if name == "./" {
			file = "index.html"
		}
		content, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return err
		}
		hashes[name] = hash(content)
		if strings.HasSuffix(name, ".gz") { // some servers say that it is compressed, so that browsers decompress it
			r, err := gzip.NewReader(bytes.NewReader(content))
			if err != nil {
				return err
			}
			if content, err = io.ReadAll(r); err != nil {
				return err
			}
			hashes[name] += " " + hash(content)
		}
	}
	list, err := json.Marshal(hashes)
	if err != nil {
		return err
	}
	text := strings.Replace(serviceWorker, "= FILES", "= "+string(list), 1)
	return os.WriteFile(filepath.Join(folder, "sw.js"), []byte(text), 0o644)
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
