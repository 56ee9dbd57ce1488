package policy

import (
	"fmt"
	"strings"
	"testing"
)

// Empty documents, as Helm writes them, end no file, and move no line.
func TestEmptyDocuments(t *testing.T) {
	for _, text := range []string{
		"a: 1\n---\n---\nb: 2\n", "a: 1\n---\n# Source: x\n---\n\n---\nb: 2\n", "---\n---\na: 1\n--- # c\n---\n# d\nb: 2\n---\n",
		"# c\n---\n---\na: |\n  x\n  ---\n  ---\n---\nb: 2\n", "a: 1\n---\nb: 2\n",
	} {
		trees, err := Trees([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, tree := range trees {
			got += fmt.Sprint(tree.Keys(), tree.Line)
		}
		lines := func(key string) int {
			before, _, _ := strings.Cut(text, key)
			return strings.Count(before, "\n") + 1
		}
		if want := fmt.Sprintf("[a]%d[b]%d", lines("a:"), lines("b:")); strings.ReplaceAll(got, " ", "") != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
