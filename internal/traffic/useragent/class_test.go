package useragent

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"shadow/internal/request"
)

// TestClassify reads testdata/agents.txt: a class, a tab, an agent.
func TestClassify(t *testing.T) {
	f, err := os.Open("testdata/agents.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, class := 0, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		switch {
		case line == "" || strings.HasPrefix(strings.TrimSpace(line), "#"):
		case strings.HasPrefix(line, "    "):
			n++
			if got := Classify([]byte(line[4:])).String(); got != class {
				t.Errorf("%q is %s, want %s", line[4:], got, class)
			}
		default:
			class = strings.TrimSuffix(line, ":")
		}
	}
	if n < 60 {
		t.Errorf("only %d agents", n)
	}
}

func TestClassifyWhatNoTextCanHold(t *testing.T) {
	for _, agent := range []string{"", "\x00", "\xff\xfe", "\x16\x03\x01", "\n", strings.Repeat("A", 1<<20), strings.Repeat("bo", 300)} {
		if got := Classify([]byte(agent)); got != request.Unknown {
			t.Errorf("%.20q is %s", agent, got)
		}
	}
	if got := Classify(append([]byte("curl/8.5.0 "), make([]byte, 1<<20)...)); got != request.Tool {
		t.Errorf("a long agent is %s", got)
	}
}

// TestPatterns holds the matcher against the plain loop over all regular expressions.
func TestPatterns(t *testing.T) {
	type pattern struct {
		re    *regexp.Regexp
		class request.Class
	}
	var all []pattern
	unknown := map[string]bool{}
	for line := range strings.Lines(crawlerList) {
		source, tags, _ := strings.Cut(strings.TrimSpace(line), "\t")
		for tag := range strings.SplitSeq(tags, ",") {
			if _, ok := classOfTag[tag]; !ok && !unknown[tag] {
				unknown[tag] = true
				t.Errorf("what does the tag %q mean?", tag)
			}
		}
		if notFollowed[source] == "" {
			all = append(all, pattern{regexp.MustCompile(source), classOfTags(tags)})
		}
	}
	for class, sources := range ownPatterns {
		for _, source := range sources {
			all = append(all, pattern{regexp.MustCompile(source), class})
		}
	}
	if len(all) < 1500 {
		t.Fatalf("%d patterns", len(all))
	}
	slow := func(agent string) request.Class {
		class := request.Unknown
		for _, p := range all {
			if strength[p.class] > strength[class] && p.re.MatchString(agent) {
				class = p.class
			}
		}
		return class
	}
	for _, agent := range patternTexts(t) {
		if got, want := patterns().match([]byte(agent)), slow(agent); got != want {
			t.Errorf("%q: %s, want %s", agent, got, want)
		}
	}
}

// patternTexts returns agents that touch many patterns: those of the table, every literal alone, cut short, and inside
// other text.
func patternTexts(t *testing.T) (texts []string) {
	data, err := os.ReadFile("testdata/agents.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts = strings.Split(string(data), "\n")
	for i, p := range patterns().patterns {
		texts = append(texts, p.literal)
		if i%7 == 0 {
			texts = append(texts, p.literal[1:], "x"+p.literal, " "+p.literal+"/1.0", strings.ToUpper(p.literal))
		}
	}
	return texts
}

func TestEveryNotFollowedPatternIsInTheList(t *testing.T) {
	for source := range notFollowed {
		if !strings.Contains(crawlerList, "\n"+source+"\t") {
			t.Errorf("%q is not in the list any more", source)
		}
	}
}

func TestClassifyDoesNotAllocate(t *testing.T) {
	agents := [][]byte{
		[]byte("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
		[]byte("curl/8.5.0"),
		[]byte("some words"),
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, a := range agents {
			Classify(a)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClassify(b *testing.B) {
	start := time.Now()
	patterns()
	b.Logf("patterns built in %v", time.Since(start))
	agent := []byte("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36")
	b.ReportAllocs()
	for b.Loop() {
		Classify(agent)
	}
}
