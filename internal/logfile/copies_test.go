package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// somebodysLines returns lines of one host's log.
func somebodysLines(host string, from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "192.0.2.1 - - [01/Jan/2026:00:%02d:%02d +0000] \"GET /%s/%d HTTP/1.1\" 200 1\n", (from+i)/60, (from+i)%60, host, from+i)
	}
	return b.String()
}

// found finds the copies among all files of the shelf, in the order of their paths.
func (s *shelf) found(want, doubts string) {
	s.t.Helper()
	var names []string
	s.check(filepath.WalkDir(s.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, path)
		}
		return err
	}))
	copies, err := FindCopies(s.t.Context(), names)
	s.check(err)
	text := func(all []Copy) string {
		var texts []string
		for _, c := range all {
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("%s %s %s", s.short(c.Name), s.short(c.Of), c.How)))
		}
		slices.Sort(texts)
		return strings.Join(texts, ", ")
	}
	if got := text(copies.Found); got != want {
		s.t.Errorf("copies: %s\nwant:   %s", got, want)
	}
	if got := text(copies.Doubts); got != doubts {
		s.t.Errorf("doubts: %s\nwant:   %s", got, doubts)
	}
}

func (s *shelf) short(path string) string {
	rel, err := filepath.Rel(s.dir, path)
	s.check(err)
	return rel
}

func (s *shelf) mkdir(name string) { s.check(os.MkdirAll(s.path(name), 0o700)) }

func TestCopies(t *testing.T) {
	checks := strings.Repeat("192.0.2.9 - - [01/Jan/2026:00:00:00 +0000] \"GET /health HTTP/1.1\" 200 1\n", 100) // more than a head
	for name, do := range map[string]func(s *shelf){
		"compressed and not removed": func(s *shelf) {
			s.append("a.log.1", somebodysLines("a", 0, 200))
			s.pack("a.log.1")
			s.append("a.log", somebodysLines("a", 200, 200))
			s.found("a.log.1.gz a.log.1 copy", "")
		},
		"in another folder": func(s *shelf) {
			s.mkdir("old")
			s.append("a.log", somebodysLines("a", 0, 2))
			s.copy("a.log", "old/x")
			s.found("old/x a.log copy", "")
		},
		"compressed by all": func(s *shelf) {
			s.append("a.log", somebodysLines("a", 0, 5000))
			text, err := os.ReadFile(s.path("a.log"))
			s.check(err)
			for codec, compress := range compressors {
				if codec != "" {
					s.append("a."+codec, string(compress(s.t, text)))
				}
			}
			s.found("a.bzip2 a.log copy, a.gzip a.log copy, a.xz a.log copy, a.zstd a.log copy", "")
		},
		"grown since": func(s *shelf) {
			s.mkdir("old")
			s.append("a.log", somebodysLines("a", 0, 20))
			s.copy("a.log", "old/1")
			s.append("a.log", somebodysLines("a", 20, 2000))
			s.copy("a.log", "old/2")
			s.append("a.log", somebodysLines("a", 2020, 2000))
			s.pack("old/2")
			s.found("old/1 a.log beginning, old/2 a.log beginning, old/2.gz a.log beginning", "")
		},
		"cut inside a line": func(s *shelf) {
			text := somebodysLines("a", 0, 3000)
			s.append("a.log", text)
			s.append("b", text[:len(text)/2])
			s.found("b a.log beginning", "")
		},
		"a copy of a short log that has grown, beside it": func(s *shelf) {
			s.append("a.log.1", somebodysLines("a", 0, 2))
			s.append("a.log", somebodysLines("a", 0, 3))
			s.found("a.log.1 a.log beginning", "")
		},
		"a damaged archive": func(s *shelf) {
			s.append("a.log", somebodysLines("a", 0, 3000))
			s.pack("a.log")
			info, err := os.Stat(s.path("a.log.gz"))
			s.check(err)
			s.check(os.Truncate(s.path("a.log.gz"), info.Size()/2))
			s.found("a.log.gz a.log beginning", "")
		},
		"of two archives the whole one": func(s *shelf) {
			text := []byte(somebodysLines("a", 0, 3000))
			packed := gzipped(s.t, text)
			s.append("1.gz", string(packed[:len(packed)-4])) // all of the content, and no checksum
			s.append("2.gz", string(packed))
			s.found("1.gz 2.gz copy", "")
		},
		"two hosts that begin alike": func(s *shelf) {
			s.append("a", checks+somebodysLines("a", 0, 10))
			s.append("b", checks+somebodysLines("b", 0, 10))
			s.append("c", somebodysLines("c", 0, 5)+somebodysLines("a", 5, 5))
			s.append("d", somebodysLines("c", 0, 5)+somebodysLines("b", 5, 5))
			s.found("", "")
		},
		"that differ in the last byte": func(s *shelf) {
			s.append("a", somebodysLines("a", 0, 9000)+"1")
			s.append("b", somebodysLines("a", 0, 9000)+"2")
			s.found("", "")
		},
		"one line": func(s *shelf) {
			line := somebodysLines("a", 0, 1)
			s.mkdir("b")
			s.append("a.log", line)
			s.append("b/a.log", line)
			s.found("", "b/a.log a.log")
			s.pack("b/a.log")
			s.pack("a.log")
			s.found("a.log.gz a.log copy, b/a.log.gz b/a.log copy", "b/a.log a.log")
		},
		"few lines that another log begins with": func(s *shelf) {
			s.append("a", somebodysLines("a", 0, 9))
			s.append("b", somebodysLines("a", 0, 9)+somebodysLines("b", 9, 100))
			s.found("", "a b")
		},
		"nothing": func(s *shelf) {
			s.append("a", "")
			s.append("b", "")
			s.pack("a")
			s.append("c", somebodysLines("a", 0, 9))
			s.found("", "")
		},
		"without a last line feed": func(s *shelf) {
			s.append("a", strings.TrimSpace(somebodysLines("a", 0, 2)))
			s.copy("a", "b")
			s.found("b a copy", "")
		},
		"heads of a format": func(s *shelf) { // as W3C logs have
			for i := range 50 {
				s.append(fmt.Sprint(i), "#Version: 1.0\n#Fields: date time\n"+somebodysLines("a", i, i))
			}
			s.copy("30", "x")
			s.found("x 30 copy", "0 49")
		},
	} {
		t.Run(name, func(t *testing.T) { do(newShelf(t)) })
	}
}

// Many files of one content, or of one first line, are compared in a time that grows with their number.
func TestCopiesAreManyFiles(t *testing.T) {
	s := newShelf(t)
	const n = 3000
	for i := range n {
		s.append(fmt.Sprintf("a%d", i), "#Version: 1.0\n")
		s.append(fmt.Sprintf("b%d", i), "#Version: 1.0\n"+somebodysLines("b", i, 3))
	}
	names, err := filepath.Glob(s.path("*"))
	s.check(err)
	copies, err := FindCopies(t.Context(), names)
	s.check(err)
	if len(copies.Found) != 0 || len(copies.Doubts) != n {
		t.Errorf("%d copies, %d doubts", len(copies.Found), len(copies.Doubts))
	}
}
