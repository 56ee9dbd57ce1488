package shadow_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"shadow"
)

// The picture of layers in docs/architecture.md is the rule: a package may import packages of lower layers only.
// docs/architecture.md also names the one home of each third-party package.

var module = reflect.TypeFor[shadow.Options]().PkgPath() + "/"

// layers reads the picture: which layer each room is on. What stands beside a star is for all rooms, and below them.
func layers(t *testing.T, page string) map[string]int {
	layers := map[string]int{}
	for _, line := range regexp.MustCompile(`(?m)^ ?(\d+|\*)  (\S.*)$`).FindAllStringSubmatch(page, -1) {
		layer, err := strconv.Atoi(line[1])
		if err != nil {
			layer = -1
		}
		for _, room := range strings.Fields(line[2]) {
			layers[room] = layer
		}
	}
	if len(layers) < 10 {
		t.Fatalf("the picture of layers has only %d rooms", len(layers))
	}
	return layers
}

// homes reads the table: for each folder the words that stand for its third-party packages.
func homes(page string) map[string]string {
	homes := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\S+)/` \\| .* \\| (.*) \\|$").FindAllStringSubmatch(page, -1) {
		homes[row[1]] = row[2]
	}
	return homes
}

// imports lists what each package of the module imports, tests left out. Packages of the module have their places in the
// picture for names.
func imports(t *testing.T) map[string][]string {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		imports[place(strings.TrimPrefix(words[0], module))] = words[1:]
	}
	return imports
}

// place returns the name of a folder in the picture.
func place(folder string) string { return strings.TrimPrefix(folder, "internal/") }

// room returns the room of the picture that a folder belongs to, "" if it stands beside the house.
func room(layers map[string]int, folder string) string {
	for ; folder != "."; folder = path.Dir(folder) {
		if _, known := layers[folder]; known {
			return folder
		}
	}
	return ""
}

func TestLayers(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	layers := layers(t, string(page))
	for folder, imports := range imports(t) {
		here := room(layers, folder)
		if here == "" || strings.HasSuffix(folder, "test") {
			continue
		}
		for _, name := range imports {
			other, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			if there := room(layers, place(other)); there != here && (there == "" || layers[there] >= layers[here]) {
				t.Errorf("%s (layer %d) imports %s, which is not on a lower layer", folder, layers[here], other)
			}
		}
	}
	for folder := range layers {
		_, err := os.Stat(folder)
		_, inside := os.Stat(filepath.Join("internal", folder))
		if err != nil && inside != nil {
			t.Errorf("the picture has a folder that is not there: %s", folder)
		}
	}
}

func TestHomes(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	homes, layers := homes(string(page)), layers(t, string(page))
	for folder, imports := range imports(t) {
		if room(layers, folder) == "" || strings.HasSuffix(folder, "test") {
			continue
		}
		for _, name := range imports {
			if domain, _, _ := strings.Cut(name, "/"); !strings.Contains(domain, ".") || strings.HasPrefix(name, module) {
				continue // the standard library, or ours
			}
			if !names(homes[folder], name) {
				t.Errorf("%s imports %s, of which docs/architecture.md does not make it the home", folder, name)
			}
		}
	}
}

// names reports whether one of the words of a table cell stands for the package.
func names(cell, path string) bool {
	for word := range strings.SplitSeq(cell, ",") {
		word = strings.TrimPrefix(strings.TrimSpace(word), "x/")
		if word != "–" && strings.Contains(path, "/"+word) {
			return true
		}
	}
	return false
}

// A folder that people can look over has at most 30 files, tests left out.
func TestRoomsAreSmall(t *testing.T) {
	const most = 30
	files := map[string]int{}
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			files[filepath.Dir(name)]++
		}
		return err
	})
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for folder, n := range files {
		if n > most {
			t.Errorf("%s has %d files, more than %d: what in it could be a folder of its own?", folder, n, most)
		}
	}
}
