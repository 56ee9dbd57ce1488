package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const readme = "../../README.md"

var (
	firstCommand = regexp.MustCompile("(?s)```sh\ngo run \\./cmd/shadow ([^\n]*)\n")
	shownOutput  = regexp.MustCompile("(?s)(\n## What it answers\n\n```\n)(.*?)(```\n)")
)

// TestReadmeShowsTheOutput holds the block under "What it answers" against what the README's first command prints.
// The block may stop early, at a line with "…".
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

// outputBlock is what the README shows of an output: up to the second limit's details.
func outputBlock(out []byte) string {
	end := bytes.Index(out, []byte("\nleaky:6/30s by client"))
	if end < 0 {
		return string(out)
	}
	return string(out[:end]) + "\n…\n"
}

// consoles are the blocks with a command and what it prints.
var consoles = regexp.MustCompile("(?s)(```\n\\$ shadow )([^\n]*)(\n)(.*?)(```\n)")

// shownLines is how much the README shows of the output of such a command, if that is longer.
const shownLines = 22

// TestReadmeShowsConsoles holds each other block with a command against what that prints.
func TestReadmeShowsConsoles(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	got := consoles.ReplaceAllFunc(text, func(block []byte) []byte {
		blocks++
		part := consoles.FindSubmatch(block)
		out := firstLines(run(t, t.TempDir(), strings.Fields(string(part[2]))...), shownLines)
		return bytes.Join([][]byte{part[1], part[2], part[3], out, part[5]}, nil)
	})
	switch {
	case blocks == 0:
		t.Fatal("README.md shows no command with its output")
	case bytes.Equal(got, text):
	case !*update:
		t.Fatalf("README.md should be (-update rewrites it)\n%s", got)
	default:
		if err := os.WriteFile(readme, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// firstLines are the first n lines of text, and a … where there are more.
func firstLines(text []byte, n int) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines) <= n+1 {
		return text
	}
	return append(bytes.Join(lines[:n], nil), "…\n"...)
}

// rootOfSamples is a folder that has the sample logs where the root of the project has them, and nothing else.
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

// TestEveryFlagIsTested wants each flag of each command in some script of testdata/script, with its command.
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
			if !usedIn(scripts, cmd, f) {
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
