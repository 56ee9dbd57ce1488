package shadow_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each link within the manual leads to a file that is there, and to a heading of it.

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	code    = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	unslug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

func TestLinks(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		for _, to := range link.FindAllStringSubmatch(code.ReplaceAllString(prose(t, page), ""), -1) {
			if strings.Contains(to[1], "://") {
				continue
			}
			checked++
			if err := follow(t, page, to[1]); err != nil {
				t.Errorf("%s: the link to %s: %v", page, to[1], err)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d links were found", checked)
	}
}

// GitHub keeps the hyphens of a heading and makes one of each blank; of headings alike, the later ones get a number.
func TestAnchors(t *testing.T) {
	text := "# Late requests, and --since\n## `charge=all`\n### Policies\n# policies\n"
	want := []string{"late-requests-and---since", "chargeall", "policies", "policies-1"}
	if got := anchors(text); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// pages returns the pages at the root and in docs.
func pages(t *testing.T) []string {
	found := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// prose is a page without its blocks of code.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return fence.ReplaceAllString(string(text), "")
}

// follow goes where a link leads to.
func follow(t *testing.T, page, to string) error {
	file, anchor, hasAnchor := strings.Cut(to, "#")
	if file != "" {
		file = filepath.Join(filepath.Dir(page), file)
		if _, err := os.Stat(file); err != nil {
			return err
		}
		page = file
	}
	if hasAnchor && !slices.Contains(anchors(prose(t, page)), anchor) {
		return fmt.Errorf("%s has no heading of that name", page)
	}
	return nil
}

// anchors are the names under which the headings of a text can be linked to, as GitHub makes them.
func anchors(text string) (names []string) {
	seen := map[string]int{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")
		if n := seen[name]; n > 0 {
			names = append(names, fmt.Sprintf("%s-%d", name, n))
		} else {
			names = append(names, name)
		}
		seen[name]++
	}
	return names
}
