package limittest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"shadow/limit"
)

// Document plays the scripts in a Markdown file: each block between lines of ``` whose first line is one of a limit.
// There must be one.
func Document(t *testing.T, file string, build func(limit.Spec) (limit.Limiter, error)) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, played, err := playBlocks(string(text), build)
	if err != nil {
		t.Fatalf("%s:%v", file, err)
	}
	if played == 0 {
		t.Fatalf("%s has no script", file)
	}
	Golden(t, file, got)
}

// playBlocks returns the document with its scripts as they should be, and how many there are.
func playBlocks(document string, build func(limit.Spec) (limit.Limiter, error)) (string, int, error) {
	lines := strings.Split(document, "\n")
	played, begin, inside := 0, 0, false
	for i, line := range lines {
		if !strings.HasPrefix(line, "```") {
			continue
		}
		if inside = !inside; inside {
			begin = i + 1
			continue
		}
		block := lines[begin:i]
		if len(block) == 0 || !strings.HasPrefix(block[0], "limit ") {
			continue
		}
		got, err := play(strings.Join(block, "\n"), build)
		if err != nil {
			return "", 0, fmt.Errorf("%d: in this block, line %w", begin+1, err)
		}
		copy(block, strings.Split(got, "\n"))
		played++
	}
	return strings.Join(lines, "\n"), played, nil
}
