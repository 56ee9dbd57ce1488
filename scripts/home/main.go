// Command home gives the project a home: the path of its modules in every go.mod, import and the profile, the homepage
// and maintainer of packages, a contact, and badges if a forge hosts it. It does so again when the project moves.
//
//	make home MODULE=example.com/you/shadow CONTACT=you@example.com
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

const usage = "usage: make home MODULE=example.com/you/shadow CONTACT=you@example.com"

func main() {
	said, err := "", errors.New(usage)
	if len(os.Args) == 3 {
		said, err = move(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "home:", err)
		os.Exit(1)
	}
	fmt.Print(said)
}

// mailbox keeps out of addresses what a shell would read as more than text.
var mailbox = regexp.MustCompile(`^[\w.+-]+@[\w-]+(\.[\w-]+)+$`)

// move changes the files of the project in the current folder and returns what it did. It writes nothing until all
// changes are known to be possible.
func move(to, contact string) (string, error) {
	if err := module.CheckPath(to); err != nil {
		return "", fmt.Errorf("MODULE: %w\n%s", err, usage)
	}
	if _, major, _ := module.SplitPathVersion(to); major != "" {
		return "", fmt.Errorf("MODULE: leave out %s, as no release has that version\n%s", major, usage)
	}
	if !mailbox.MatchString(contact) {
		return "", fmt.Errorf("CONTACT: want an address for mail, not %q\n%s", contact, usage)
	}
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return "", fmt.Errorf("run it in the root of the project: %w", err)
	}
	from := modfile.ModulePath(text)
	changed := changes{}
	if err := errors.Join(changed.sources(from, to), changed.pages(pages(to, contact))); err != nil {
		return "", err
	}
	if len(changed) == 0 {
		return fmt.Sprintf("nothing to change: the project is at %s, contact %s\n", to, contact), nil
	}
	code, others, err := changed.write()
	return fmt.Sprintf("moved from %s to %s, contact %s\nchanged the imports of %d Go files\nchanged %s\n"+
		"Read git diff, run scripts/test and commit.\n", from, to, contact, code, strings.Join(others, ", ")), err
}

// changes holds what files will be, by their names.
type changes map[string][]byte

// edit changes a file, or fails where it cannot be changed.
func (c changes) edit(name string, edit func(text []byte) ([]byte, error)) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	edited, err := edit(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !bytes.Equal(edited, text) {
		c[filepath.ToSlash(name)] = edited
	}
	return nil
}

// write writes the files, and returns how many are of Go and which are others.
func (c changes) write() (code int, others []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if path.Ext(name) == ".go" {
			code++
		} else {
			others = append(others, name)
		}
		if err := os.WriteFile(name, c[name], 0o644); err != nil { // a file that is there keeps its mode
			return code, others, err
		}
	}
	return code, others, nil
}

// sources renames the module in what Go's tools read.
func (c changes) sources(from, to string) error {
	renames := map[string]func(text []byte, from, to string) ([]byte, error){
		".go": imports, ".mod": requirements, ".pgo": profile,
	}
	return filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		rename := renames[path.Ext(name)]
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case rename == nil || !entry.Type().IsRegular():
			return nil
		}
		return c.edit(name, func(text []byte) ([]byte, error) { return rename(text, from, to) })
	})
}

// imports renames what a Go file imports, and sorts its imports again, as gofmt does.
func imports(text []byte, from, to string) ([]byte, error) {
	files, renamed := token.NewFileSet(), text
	file, err := parser.ParseFile(files, "", text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, spec := range slices.Backward(file.Imports) {
		if rest, ok := strings.CutPrefix(spec.Path.Value, `"`+from); ok && (rest[0] == '/' || rest == `"`) {
			at := files.File(spec.Pos()).Offset(spec.Path.Pos())
			renamed = slices.Concat(renamed[:at], []byte(`"`+to+rest), renamed[at+len(spec.Path.Value):])
		}
	}
	if bytes.Equal(renamed, text) {
		return text, nil
	}
	return format.Source(renamed)
}

// requirements renames the modules of a go.mod, and sorts them again, as go mod tidy does.
func requirements(text []byte, from, to string) ([]byte, error) {
	ours := regexp.MustCompile(`(?m)^((?:module|replace|require) |\t)` + regexp.QuoteMeta(from) + `(/| |$)`)
	file, err := modfile.Parse("go.mod", ours.ReplaceAll(text, []byte("${1}"+to+"${2}")), nil)
	if err != nil {
		return nil, err
	}
	file.SortBlocks()
	return file.Format()
}

// A page is a text that names an address of the project or a contact. Its pattern fits before and after a move.
type page struct{ name, pattern, text string }

// pages returns all pages, with texts for a new address.
func pages(to, contact string) []page {
	return []page{
		{".golangci.yml", `(module-path:) .*`, "$1 " + to},
		{
			"scripts/release", `(HOMEPAGE:-)[^}]*(}\nmaintainer=.* <).*(>)`,
			"${1}https://" + to + "${2}" + contact + "${3}",
		},
		{"contrib/shadow.schema.json", `("\$id": ").*(/shadow.schema.json")`, "${1}https://" + to + "$2"},
		{
			"internal/commands/testdata/script/config-init.txtar", `(\$schema=).*(/shadow.schema.json)`,
			"${1}https://" + to + "$2",
		},
		{"README.md", `\A(# .*\n)(\n(\[!.*\n)+)?`, "$1" + badges(to)},
		{"SECURITY.md", `(→ "Report a vulnerability"\))(,\nor write to .*)?\.`, "$1,\nor write to " + contact + "."},
		{
			"CONTRIBUTING.md", `(?s)(The project has no public address yet|Questions go to).*?\n\n`,
			"Questions go to " + contact + ".\n`HOMEPAGE` and `MAINTAINER` replace address and contact in packages.\n\n",
		},
		{
			"docs/library.md", "(?s)(The module's path is `shadow` until|`go get ).*?\\.\n",
			"`go get " + to + "` adds it to a module.\n",
		},
	}
}

// pages puts the texts of pages where their patterns fit. A page without its pattern is an error.
func (c changes) pages(pages []page) error {
	for _, p := range pages {
		pattern := regexp.MustCompile(p.pattern)
		if err := c.edit(p.name, func(text []byte) ([]byte, error) {
			if !pattern.Match(text) {
				return nil, fmt.Errorf("nothing like %s", pattern)
			}
			return pattern.ReplaceAll(text, []byte(p.text)), nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// badges returns a paragraph with the badges of a module on a forge, or "" for one elsewhere.
func badges(to string) string {
	const badge = "[![%s](%s)](%s)\n"
	const site = "https://pkg.go.dev/"
	reference := fmt.Sprintf("\n"+badge, "Go reference", site+"badge/"+to+".svg", site+to)
	switch host, _, _ := strings.Cut(to, "/"); host {
	case "github.com":
		ci := "https://" + to + "/actions/workflows/ci.yml"
		return reference + fmt.Sprintf(badge, "CI", ci+"/badge.svg", ci)
	case "gitlab.com", "codeberg.org":
		return reference
	}
	return ""
}
