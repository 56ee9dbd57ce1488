//go:build !js

// Command shadow-page is the engine in a browser, see main.go. Outside of one it writes the page of the site, whose rules
// name the scripts and styles of the page that answers.
package main

import (
	_ "embed"
	"fmt"
	"strings"

	"shadow/report/html"
)

//go:embed site/index.html
var index string

func main() {
	script, style := html.AskedHashes()
	fmt.Print(strings.NewReplacer("SCRIPT", script, "STYLE", style).Replace(index))
}
