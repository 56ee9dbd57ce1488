package shadow_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The manual is plain English: no words of words.txt, and no sentence of more than 25 words. It is short, too.

const (
	longest   = 25     // words of a sentence
	mostWords = 42_000 // in docs/, with code and tables
)

var (
	enumeration = regexp.MustCompile(`CODE(?:(?:,| and| or|, and|, or| …)? CODE)+`)
	mention     = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	emphasis    = regexp.MustCompile(`\*\*|__`)
	item        = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
	pause       = regexp.MustCompile(`[.!?][)"]?\s+`)
	humps       = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	nounClause  = regexp.MustCompile(`(?m)^\w+ (?:is|are) (?:what|how|those|that)\b`)
	noOne       = regexp.MustCompile(`(?i)\b(?:nobody|somebody|whoever|anybody)\b`)
)

func TestWordsOfManual(t *testing.T) {
	banned := wordsOf(t, "prose")
	for _, page := range pages(t) {
		for _, paragraph := range paragraphs(t, page) {
			text := code.ReplaceAllString(paragraph, "CODE")
			for word, better := range banned {
				if word.MatchString(text) {
					t.Errorf("%s: %q is better said as %s: %.80s", page, word.FindString(text), better, paragraph)
				}
			}
			for _, s := range sentences(text) {
				if n := wordsIn(s); n > longest {
					t.Errorf("%s: a sentence of %d words: %s", page, n, s)
				}
			}
		}
	}
}

func TestWordsOfCode(t *testing.T) {
	comments, names, texts := wordsOf(t, "comments"), wordsOf(t, "names"), wordsOf(t, "strings")
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		check := func(banned map[*regexp.Regexp]string, at token.Pos, text string) {
			for word, better := range banned {
				if word.MatchString(text) {
					t.Errorf("%s: %q is better said as %s", files.Position(at), word.FindString(text), better)
				}
			}
		}
		for _, group := range file.Comments {
			check(comments, group.Pos(), group.Text())
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				check(names, n.Pos(), humps.ReplaceAllString(n.Name, "$1 $2"))
			case *ast.BasicLit:
				// A word by itself is data, and tests feed in whatever they like.
				if n.Kind == token.STRING && strings.Contains(n.Value, " ") && !strings.HasSuffix(path, "_test.go") {
					check(texts, n.Pos(), n.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGrammarOfComments rejects comments such as "limits are those of …", which say nothing that a caller gets, and words
// that do not say who: "no client", "the user", "a client that" do.
func TestGrammarOfComments(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || path == "words_test.go" {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			text := strings.TrimPrefix(group.Text(), "Nobody returns ") // the name of a function
			if found := cmp.Or(nounClause.FindString(text), noOne.FindString(text)); found != "" {
				t.Errorf("%s: %q: begin with a verb such as returns or holds, and say who", files.Position(group.Pos()), found)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") && !strings.HasSuffix(path, "_test.go") &&
				lit.Value != `"nobody there"` && noOne.MatchString(lit.Value) { // that is data of suggest, which scripts read
				t.Errorf("%s: %q: say who", files.Position(lit.Pos()), noOne.FindString(lit.Value))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The manual stays short: a page says a thing once, and others link to it. As in a sentence, a word has a letter or a
// digit, so the bars of tables and the dashes of lists are none.
func TestSizeOfManual(t *testing.T) {
	total := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(page, "docs/") && page != "docs/table.md" { // which a program writes
			for word := range strings.FieldsSeq(string(text)) {
				if isWord(word) {
					total++
				}
			}
		}
	}
	if total > mostWords {
		t.Errorf("docs/ has %d words, want at most %d: shorten a page", total, mostWords)
	}
}

func TestSentences(t *testing.T) {
	got := sentences("One `x.y` counts 0.1 %. Two (see it.) Then three? [Four](a.md) ends.")
	want := []string{"One `x.y` counts 0.1 %.", "Two (see it.)", "Then three?", "Four ends."}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := wordsIn("CODE, CODE and CODE are – three words"); n != 4 {
		t.Errorf("%d words, want 4: an enumeration of code is one", n)
	}
}

// wordsOf returns a section of words.txt: each word, and what to say instead.
func wordsOf(t *testing.T, section string) map[*regexp.Regexp]string {
	t.Helper()
	text, err := os.ReadFile("words.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "["+section+"]\n")
	list, _, _ = strings.Cut(list, "\n[")
	words := map[*regexp.Regexp]string{}
	for line := range strings.Lines(list) {
		if word, better, found := strings.Cut(strings.TrimSpace(line), "  "); found {
			words[regexp.MustCompile(`(?i)\b`+word+`\b`)] = strings.TrimSpace(better)
		}
	}
	if len(words) == 0 {
		t.Fatalf("words.txt has no section %s", section)
	}
	return words
}

// paragraphs are the paragraphs, list items, headings and table cells of a page, without blocks of code.
func paragraphs(t *testing.T, page string) (all []string) {
	var open []string
	end := func() {
		if len(open) > 0 {
			all = append(all, strings.Join(open, " "))
			open = nil
		}
	}
	indented, blank := false, true
	for line := range strings.Lines(prose(t, page)) {
		line = strings.TrimRight(line, "\n")
		if indented = strings.HasPrefix(line, "    ") && (blank || indented); indented {
			end()
			continue
		}
		blank = line == ""
		switch {
		case blank || strings.HasPrefix(line, "<!--"):
			end()
		case strings.HasPrefix(line, "|"):
			end()
			all = append(all, strings.Split(strings.ReplaceAll(line, `\|`, "/"), "|")...)
		case strings.HasPrefix(line, "#"):
			end()
			all = append(all, line)
		case item.MatchString(line):
			end()
			open = []string{item.ReplaceAllString(line, "")}
		default:
			open = append(open, strings.TrimLeft(line, "> "))
		}
	}
	end()
	return all
}

// sentences cuts a paragraph where a full stop is followed by anything but a small letter.
func sentences(text string) (all []string) {
	text = mention.ReplaceAllStringFunc(emphasis.ReplaceAllString(text, ""), func(link string) string {
		words := mention.FindStringSubmatch(link)[1]
		return strings.ToUpper(words[:1]) + words[1:]
	})
	begin := 0
	for _, stop := range pause.FindAllStringIndex(text, -1) {
		if next := []rune(text[stop[1]:] + "a")[0]; !unicode.IsLower(next) {
			all = append(all, strings.TrimSpace(text[begin:stop[1]]))
			begin = stop[1]
		}
	}
	return append(all, strings.TrimSpace(text[begin:]))
}

// wordsIn counts what has a letter or a digit. Pieces of code in a row are one word.
func wordsIn(sentence string) (n int) {
	for word := range strings.FieldsSeq(enumeration.ReplaceAllString(sentence, "CODE")) {
		if isWord(word) {
			n++
		}
	}
	return n
}

func isWord(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
