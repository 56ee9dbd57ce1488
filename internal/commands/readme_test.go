package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/parse/detect"
)

const readme = "../../README.md"

var (
	firstCommand = regexp.MustCompile("(?s)```sh\ngo run \\./cmd/shadow ([^\n]*)\n")
	shownOutput  = regexp.MustCompile("(?s)(\n## What it answers\n\n```\n)(.*?)(```\n)")
)

// TestReadmeShowsTheOutput holds the block under "What it answers" against what the README's first command prints.
func TestReadmeShowsTheOutput(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	call, block := firstCommand.FindSubmatch(text), shownOutput.FindSubmatch(text)
	if call == nil || block == nil {
		t.Fatal("README.md has no first command, or no block of its output")
	}
	got := outputBlock(run(t, rootOfSamples(t), strings.Fields(string(call[1]))...))
	if string(block[2]) == got {
		return
	}
	if !*update {
		t.Fatalf("README.md shows (-update rewrites it)\n%swant\n%s", block[2], got)
	}
	text = bytes.Replace(text, bytes.Join(block[1:4], nil), []byte(string(block[1])+got+string(block[3])), 1)
	if err := os.WriteFile(readme, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// outputBlock returns what the README shows of an output: all but where it is stored.
func outputBlock(out []byte) string {
	shown, _, _ := strings.Cut(string(out), "\nstored  ")
	return shown
}

// consoles are the blocks with a command and what it prints.
var consoles = regexp.MustCompile("(?s)(```\n\\$ shadow )([^\n]*)(\n)(.*?)(```\n)")

// elided stands for lines that a block leaves out: those of the first paragraph where it comes first, and all further ones
// where it comes last.
const elided = "…\n"

// TestPagesShowConsoles holds each block with a command in the tutorial against what that prints.
func TestPagesShowConsoles(t *testing.T) {
	for _, page := range []string{"../../docs/tutorial.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks, root := 0, rootOfSamples(t)
		got := consoles.ReplaceAllFunc(text, func(block []byte) []byte {
			blocks++
			part := consoles.FindSubmatch(block)
			out := shownOf(run(t, root, strings.Fields(string(part[2]))...), part[4])
			return bytes.Join([][]byte{part[1], part[2], part[3], out, part[5]}, nil)
		})
		switch {
		case blocks == 0:
			t.Errorf("%s shows no command with its output", page)
		case bytes.Equal(got, text):
		case !*update:
			t.Errorf("%s should be (-update rewrites it)\n%s", page, got)
		default:
			if err := os.WriteFile(page, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// shownOf returns what a block shows of an output: as much as it showed before.
func shownOf(out, before []byte) []byte {
	var shown []byte
	if rest, cut := bytes.CutPrefix(before, []byte(elided)); cut {
		_, out, _ = bytes.Cut(out, []byte("\n\n"))
		before, shown = rest, []byte(elided)
	}
	lines := bytes.SplitAfter(out, []byte("\n"))
	before, cut := bytes.CutSuffix(before, []byte(elided))
	if n := bytes.Count(before, []byte("\n")); cut && n < len(lines)-1 {
		return append(append(shown, bytes.Join(lines[:n], nil)...), elided...)
	}
	return append(shown, out...)
}

// rootOfSamples returns a folder that has the sample logs where the root of the project has them, and nothing else.
func rootOfSamples(t *testing.T) string {
	t.Helper()
	samples, err := filepath.Abs("../../sample-logs")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Symlink(samples, filepath.Join(root, "sample-logs")); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestTablesOfDocs holds the tables of the manual between the comments "generated: NAME" and "end" against the program.
func TestTablesOfDocs(t *testing.T) {
	for page, tables := range map[string]map[string]string{
		"limits": {"algorithms": algorithmsTable(), "presets": presetsTable(t)},
		"logs":   {"formats": formatsTable()},
	} {
		name := "../../docs/" + page + ".md"
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := string(text)
		for table, rows := range tables {
			begin, rest, found := strings.Cut(want, "<!-- generated: "+table+" -->\n")
			_, end, closed := strings.Cut(rest, "<!-- end -->\n")
			if !found || !closed {
				t.Fatalf("%s has no place for the table %s", name, table)
			}
			want = begin + "<!-- generated: " + table + " -->\n\n" + rows + "\n<!-- end -->\n" + end
		}
		switch {
		case want == string(text):
		case !*update:
			t.Errorf("%s should have (-update rewrites it)\n%v", name, tables)
		default:
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// algorithmsTable lists the algorithms, each with a link to its section.
func algorithmsTable() string {
	var b strings.Builder
	b.WriteString("| limit | what it is | options |\n|---|---|---|\n")
	for _, a := range policy.Algorithms {
		options := ""
		if a.Options != "" {
			options = "`" + strings.ReplaceAll(strings.ReplaceAll(a.Options, ", ", "`, `"), "|", `\|`) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | [%s](#%s) | %s |\n", a.Example, a.Summary, strings.TrimSuffix(a.Name, "~"), options)
	}
	for _, a := range anyAlgorithm {
		name, _, _ := strings.Cut(a.Options, "=")
		_, example, _ := strings.Cut(a.Example, ",")
		fmt.Fprintf(&b, "| `…,%s` | on any: [%s](#%s) | `%s` |\n", example, a.Summary, name, strings.ReplaceAll(a.Options, "|", `\|`))
	}
	return b.String()
}

// presetsTable lists the names of libraries and servers, each with the limit that its example is.
func presetsTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| limit | of | setting there | means | options |\n|---|---|---|---|---|\n")
	code := func(text string) string {
		if text == "" {
			return ""
		}
		return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
	}
	for _, p := range policy.Presets {
		policies, err := policy.ParseLimits([]string{p.Example}, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(p.Example), p.System, code(p.Setting), code(policies[0].Text()),
			strings.ReplaceAll(code(p.Options), ", ", "`, `"))
	}
	return b.String()
}

// formatsTable lists the known formats.
func formatsTable() string {
	var b strings.Builder
	b.WriteString("| format | what it is |\n|---|---|\n")
	for _, f := range detect.Catalogue() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Name, f.Summary)
	}
	return b.String()
}

// TestRecipesAreTested holds the recipes of docs/policies.md against the configuration that the script systems judges by.
func TestRecipesAreTested(t *testing.T) {
	page, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/systems.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, config, _ := bytes.Cut(script, []byte("\n-- shadow.yaml --\n"))
	config, _, _ = bytes.Cut(config, []byte("\n-- "))
	_, recipes, _ := bytes.Cut(page, []byte("\n## Recipes\n"))
	if len(config) == 0 || !bytes.Contains(recipes, []byte("\n```yaml\n"+string(config)+"\n```\n")) {
		t.Error("docs/policies.md has other recipes than testdata/script/systems.txtar")
	}
}

// TestEveryFlagIsTested wants each flag of each command in some script of testdata/script, with its command. Help is the
// same of all.
func TestEveryFlagIsTested(t *testing.T) {
	names, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var scripts []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, text...)
	}
	for _, cmd := range newRoot().Commands() {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.HasPrefix(f.Name, "help") && !usedIn(scripts, cmd, f) {
				t.Errorf("no script calls shadow %s --%s", cmd.Name(), f.Name)
			}
		})
	}
}

func usedIn(scripts []byte, cmd *cobra.Command, f *pflag.Flag) bool {
	flag := "--" + f.Name
	if f.Shorthand != "" {
		flag = "(" + flag + "|-" + f.Shorthand + ")"
	}
	return regexp.MustCompile(`(?m)shadow ` + cmd.Name() + `\b.* ` + flag + `( |=|$)`).Match(scripts)
}
