package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/limit/limittest"
)

const limitsPage = "../../docs/limits.md"

// The examples of docs/limits.md are played.
func TestExamplesOfPage(t *testing.T) { limittest.Document(t, limitsPage, newLimiter) }

// docs/limits.md has a row and a section for each algorithm, in their order; the section names each option, tells a
// source and has an example.
func TestPageHasAllLimits(t *testing.T) {
	page := readPage(t)
	last := 0
	for _, a := range Algorithms {
		at, section := sectionOf(page, a.Name)
		if section == "" {
			t.Errorf("%s has no section on %s", limitsPage, a.Name)
			continue
		}
		if at < last {
			t.Errorf("the section on %s does not come in its turn", a.Name)
		}
		last = at
		for _, want := range append(optionsOf(a), "Source", "\nlimit "+a.Name+":") {
			if !strings.Contains(section, want) {
				t.Errorf("the section on %s lacks %q", a.Name, want)
			}
		}
		if !strings.Contains(page, "\n| `"+a.Name+":") {
			t.Errorf("%s has no row for %s in its table", limitsPage, a.Name)
		}
	}
	if _, section := sectionOf(page, "cooldown"); !strings.Contains(section, "cooldown=30s/extend") {
		t.Error("the cooldown is not explained")
	}
}

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(limitsPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each piece of configuration in README.md is a file that can be read.
func TestReadmeConfig(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, block := range blocks {
		if _, err := ParseConfig("shadow.yaml", []byte(block[1])); err != nil {
			t.Errorf("%v in\n%s", err, block[1])
		}
	}
	if len(blocks) == 0 {
		t.Error("README.md has no configuration")
	}
}

// The limits that docs/articles.md names are such.
func TestLimitsOfArticles(t *testing.T) {
	text, err := os.ReadFile("../../docs/articles.md")
	if err != nil {
		t.Fatal(err)
	}
	limits := regexp.MustCompile("`((?:[a-z]+:[0-9]+)[^` ]*)`").FindAllStringSubmatch(string(text), -1)
	for _, l := range limits {
		if _, err := ParseLimits([]string{l[1]}, request.ByClient); err != nil {
			t.Error(err)
		}
	}
	if len(limits) < 8 {
		t.Errorf("%d limits", len(limits))
	}
}

// sectionOf is the section under the heading name, with those below it, and where it begins.
func sectionOf(page, name string) (at int, section string) {
	_, rest, found := strings.Cut(page, "\n## "+name+"\n")
	if !found {
		return 0, ""
	}
	section, _, _ = strings.Cut(rest, "\n## ")
	return len(page) - len(rest), section
}

// optionsOf are the options of an algorithm as a text has them: "burst=", "refill=even", "refill=step", "nodelay".
func optionsOf(a Algorithm) (texts []string) {
	if a.Options == "" {
		return nil
	}
	for option := range strings.SplitSeq(a.Options, ", ") {
		name, value, _ := strings.Cut(option, "=")
		words := strings.Split(value, "|")
		switch {
		case strings.HasSuffix(name, "["): // with or without a value
			name = strings.TrimSuffix(name, "[")
			texts = append(texts, name, name+"=")
		case len(words) > 1:
			for _, word := range words {
				texts = append(texts, name+"="+word)
			}
		case value != "":
			texts = append(texts, name+"=")
		default:
			texts = append(texts, name)
		}
	}
	return texts
}
