package logfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A shelf is a folder in which logs live, and what is known of them from one reading to the next.
type shelf struct {
	t           *testing.T
	dir         string
	saved       []SavedLog
	notes, lost []string
}

func newShelf(t *testing.T) *shelf { return &shelf{t: t, dir: t.TempDir()} }

func (s *shelf) path(name string) string { return filepath.Join(s.dir, name) }

func (s *shelf) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// append writes to a file.
func (s *shelf) append(name, text string) {
	f, err := os.OpenFile(s.path(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	s.check(err)
	_, err = f.WriteString(text)
	s.check(err)
	s.check(f.Close())
}

func (s *shelf) rename(from, to string) { s.check(os.Rename(s.path(from), s.path(to))) }

func (s *shelf) copy(from, to string) {
	data, err := os.ReadFile(s.path(from))
	s.check(err)
	s.check(os.WriteFile(s.path(to), data, 0o600))
}

// pack puts a compressed copy beside a file, of the same age.
func (s *shelf) pack(name string) {
	data, err := os.ReadFile(s.path(name))
	s.check(err)
	info, err := os.Stat(s.path(name))
	s.check(err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(data)
	s.check(w.Close())
	s.check(os.WriteFile(s.path(name+".gz"), packed.Bytes(), 0o600))
	s.check(os.Chtimes(s.path(name+".gz"), info.ModTime(), info.ModTime()))
}

// compress puts a compressed copy in the place of a file.
func (s *shelf) compress(name string) {
	s.pack(name)
	s.remove(name)
}

func (s *shelf) remove(name string) { s.check(os.Remove(s.path(name))) }

// read reads what is new in files, by their names in the folder, and returns it in the order of reading, the files of a log with
// a bar between.
func (s *shelf) read(names ...string) string {
	s.t.Helper()
	for i := range names {
		names[i] = s.path(names[i])
	}
	q, err := Plan(s.t.Context(), names, s.saved)
	s.check(err)
	ranges := q.Ranges()
	var read []RangeRead
	var texts []string
	for i, p := range ranges {
		last := i+1 == len(ranges) || ranges[i+1].Log != p.Log
		text, place, whole := s.readPart(p, last)
		texts = append(texts, text)
		read = append(read, RangeRead{Range: i, Log: p.Log, Rank: p.Log, Place: place, Whole: whole})
	}
	s.saved, s.notes, s.lost = q.Save(ranges, read), q.Notes, q.Lost
	return strings.Join(texts, "|")
}

func (s *shelf) readPart(p Range, last bool) (string, Place, bool) {
	in, err := OpenInput(p.Name, nil)
	s.check(err)
	defer in.Close()
	s.check(in.Follow(p.From, p.Compressed || !last))
	var all []byte
	var b Block
	for err = in.Next(&b); err == nil; err = in.Next(&b) {
		all = append(all, b.Data...)
	}
	if err != io.EOF {
		s.t.Fatal(err)
	}
	return string(all), in.Place(), in.Problem() == ""
}

// want reads, and holds what is new against what should be.
func (s *shelf) want(new string, names ...string) {
	s.t.Helper()
	if got := s.read(names...); got != new {
		s.t.Errorf("read %q, want %q", got, new)
	}
}

// wantNote wants a note of the last reading to hold a text.
func (s *shelf) wantNote(text string) {
	s.t.Helper()
	if !slices.ContainsFunc(s.notes, func(note string) bool { return strings.Contains(note, text) }) {
		s.t.Errorf("no %q in %q", text, s.notes)
	}
}

func (s *shelf) wantLost(text string) {
	s.t.Helper()
	if len(s.lost) != 1 || !strings.Contains(s.lost[0], text) {
		s.t.Errorf("no %q in %q", text, s.lost)
	}
}

// wantNoNote wants nothing to be told twice.
func (s *shelf) wantNoNote() {
	s.t.Helper()
	if len(s.notes)+len(s.lost) > 0 {
		s.t.Error("told twice:", s.notes, s.lost)
	}
}

func TestResume(t *testing.T) {
	long := strings.Repeat("a line that is known by its beginning\n", 200)
	for name, do := range map[string]func(s *shelf){
		"grown": func(s *shelf) {
			s.append("a.log", "1\n2\n")
			s.want("1\n2\n", "a.log")
			s.want("", "a.log")
			s.append("a.log", "3\n4")
			s.want("3\n", "a.log")
			s.append("a.log", "4\n")
			s.want("44\n", "a.log")
		},
		"renamed": func(s *shelf) {
			s.append("a.log", "1\n")
			s.want("1\n", "a.log")
			s.append("a.log", "2\n")
			s.rename("a.log", "a.log.1")
			s.append("a.log", "3\n")
			s.want("2\n|3\n", "a.log")
			s.want("", "a.log", "a.log.1")
		},
		"the last line of a file that was rotated": func(s *shelf) {
			s.append("a.log", "1\n2")
			s.want("1\n", "a.log")
			s.rename("a.log", "a.log.1")
			s.append("a.log", "3\n")
			s.want("2|3\n", "a.log")
			s.want("", "a.log")
		},
		"compressed, and looked into once": func(s *shelf) {
			s.append("a.log", long)
			s.want(long, "a.log")
			s.append("a.log", "2\n")
			s.rename("a.log", "a.log.1")
			s.compress("a.log.1")
			s.append("a.log", "3\n")
			s.want("2\n|3\n", "a.log", "a.log.1.gz")
			if !s.saved[0].Files[0].Compressed {
				s.t.Error("it would be decompressed again")
			}
			s.append("a.log", "4\n")
			s.want("4\n", "a.log", "a.log.1.gz")
		},
		"short and compressed": func(s *shelf) {
			s.append("a.log", "1\n")
			s.want("1\n", "a.log")
			s.append("a.log", "2\n")
			s.rename("a.log", "a.log-20261120")
			s.compress("a.log-20261120")
			s.want("2\n", "a.log-20261120.gz")
		},
		"being compressed": func(s *shelf) {
			s.append("a.log", long)
			s.want(long, "a.log")
			s.rename("a.log", "a.log.1")
			s.pack("a.log.1")
			s.want("", "a.log.1", "a.log.1.gz")
			s.remove("a.log.1")
			s.want("", "a.log.1.gz")
		},
		"given twice at first": func(s *shelf) {
			s.append("a.log", long)
			s.pack("a.log")
			s.want(long, "a.log", "a.log.gz")
			s.want("", "a.log", "a.log.gz")
		},
		"copied and cut": func(s *shelf) {
			s.append("a.log", "1\n")
			s.want("1\n", "a.log")
			s.append("a.log", "2\n")
			s.copy("a.log", "a.log.1")
			s.check(os.Truncate(s.path("a.log"), 0))
			s.append("a.log", "3\n")
			s.want("2\n|3\n", "a.log")
			s.want("", "a.log")
		},
		"replaced": func(s *shelf) {
			s.append("a.log", "1\n")
			s.want("1\n", "a.log")
			s.remove("a.log")
			s.append("a.log", "3\n")
			s.want("3\n", "a.log")
			s.wantLost("up to byte 2 is neither given nor beside it")
			s.want("", "a.log")
			s.wantNoNote()
		},
		"cut": func(s *shelf) {
			s.append("a.log", long+"1\n2\n")
			s.want(long+"1\n2\n", "a.log")
			s.check(os.Truncate(s.path("a.log"), int64(len(long))))
			s.want("", "a.log")
			s.wantNote("it was cut")
			s.append("a.log", "3\n")
			s.want("3\n", "a.log")
		},
		"rotated twice between two readings": func(s *shelf) {
			s.append("a.log", "1\n")
			s.want("1\n", "a.log")
			s.append("a.log", "2\n")
			s.rename("a.log", "a.log.2")
			s.append("a.log.1", "3\n")
			s.append("a.log", "4\n")
			s.want("2\n|3\n|4\n", "a.log")
		},
		"what lay beside it at first": func(s *shelf) {
			s.append("a.log.1", "0\n")
			s.append("a.log", "1\n")
			s.want("1\n", "a.log")
			s.append("a.log", "2\n")
			s.want("2\n", "a.log")
			s.want("", "a.log", "a.log.1")
			s.wantNote("lies before what was read")
		},
		"another host's log with a number": func(s *shelf) {
			s.append("web.log", "1\n")
			s.want("1\n", "web.log")
			s.append("web-2.log", "9\n")
			s.append("web.log", "2\n")
			s.want("2\n", "web.log")
			s.want("9\n", "web.log", "web-2.log")
		},
		"only the rotated file is given": func(s *shelf) {
			s.append("a.log.1", "1\n")
			s.append("a.log", "2\n")
			s.want("1\n", "a.log.1")
			s.append("a.log.1", "late\n")
			s.rename("a.log.1", "a.log.2")
			s.rename("a.log", "a.log.1")
			s.append("a.log", "3\n")
			s.want("late\n|2\n", "a.log.1")
		},
		"not given any more": func(s *shelf) {
			s.append("a.log", "1\n")
			s.append("b.log", "5\n")
			s.want("1\n|5\n", "a.log", "b.log")
			s.append("b.log", "6\n")
			s.want("6\n", "b.log")
			s.wantNote("a.log: was read before, and is not given now")
			s.want("", "b.log")
			s.wantNoNote()
			s.append("a.log", "2\n")
			s.want("2\n", "a.log", "b.log")
		},
		"moved elsewhere": func(s *shelf) {
			s.append("a.log", "1\n")
			s.want("1\n", "a.log")
			s.append("a.log", "2\n")
			s.check(os.Mkdir(s.path("old"), 0o700))
			s.rename("a.log", "old/a.log.1")
			s.append("a.log", "3\n")
			s.want("2\n|3\n", "a.log", "old/a.log.1")
		},
		"all begin alike": func(s *shelf) {
			s.append("a.log", "#Version\n")
			s.want("#Version\n", "a.log")
			s.append("a.log", "1\n")
			s.rename("a.log", "a.log.1")
			s.append("a.log", "#Version\n2\n")
			s.compress("a.log.1")
			s.want("1\n|#Version\n2\n", "a.log")
			s.want("", "a.log", "a.log.1.gz")
		},
		"a copy in another folder": func(s *shelf) {
			s.check(os.Mkdir(s.path("old"), 0o700))
			one, two, three := somebodysLines("a", 0, 100), somebodysLines("a", 100, 10), somebodysLines("a", 110, 10)
			s.append("a.log", one)
			s.copy("a.log", "old/a.log")
			s.want(one, "a.log", "old/a.log")
			s.append("a.log", two)
			s.want(two, "a.log", "old/a.log")
			s.want("", "a.log", "old/a.log")
			s.rename("a.log", "a.log.1")
			s.pack("a.log.1")
			s.append("a.log", three)
			s.want(three, "a.log", "old/a.log", "a.log.1.gz")
			s.remove("a.log.1")
			s.want("", "a.log", "old/a.log", "a.log.1.gz")
		},
		"two that begin alike": func(s *shelf) {
			head := somebodysLines("a", 0, 100)
			s.append("a.log.1", head+"1\n")
			s.append("a.log", head+"2\n")
			s.want(head+"1\n|"+head+"2\n", "a.log", "a.log.1")
		},
		"goes on under another name": func(s *shelf) {
			one, two := somebodysLines("a", 0, 100), somebodysLines("a", 100, 10)
			s.append("a.log", one)
			s.want(one, "a.log")
			s.copy("a.log", "b.log")
			s.append("b.log", two)
			s.want(two, "a.log", "b.log")
			s.want("", "a.log", "b.log")
		},
		"a line that is too long": func(s *shelf) {
			giant := strings.Repeat("x", MaxLine+10)
			s.append("a.log", "1\n"+giant)
			s.want("1\n"+giant[:MaxLine+1]+"\n", "a.log")
			s.append("a.log", "yyy\n2\n")
			s.want("2\n", "a.log")
		},
		"compressed in the middle of it": func(s *shelf) {
			s.append("a.log", long+"1")
			s.want(long, "a.log")
			s.append("a.log", "1\n2\n")
			s.compress("a.log")
			whole, err := os.ReadFile(s.path("a.log.gz"))
			s.check(err)
			s.check(os.WriteFile(s.path("a.log.gz"), whole[:len(whole)-9], 0o600))
			s.read("a.log.gz")
			s.check(os.WriteFile(s.path("a.log.gz"), whole, 0o600))
			s.read("a.log.gz")
			if at := s.saved[0].Files[0].Offset; at != int64(len(long)+len("11\n2\n")) || !s.saved[0].Files[0].Compressed {
				s.t.Errorf("read up to byte %d: %+v", at, s.saved[0].Files)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { do(newShelf(t)) })
	}
}

// A log that is not there any more keeps its place among all, by which what waits of it is known.
func TestRanksStay(t *testing.T) {
	s := newShelf(t)
	s.append("a.log", "1\n")
	s.append("b.log", "2\n")
	s.read("a.log", "b.log")
	s.remove("a.log")
	for range keptLogs + 2 {
		s.append("b.log", "2\n")
		s.read("b.log")
	}
	if len(s.saved) != 2 || s.saved[1].Name != s.path("b.log") || s.saved[0].Files != nil {
		t.Errorf("%+v", s.saved)
	}
}

func TestNamesOfLogs(t *testing.T) {
	for path, want := range map[string]string{
		"/l/access.log": "/l/access.log", "/l/access.log.1": "/l/access.log", "/l/access.log.12.gz": "/l/access.log",
		"/l/access.log-20261120": "/l/access.log", "/l/access.log-20261120.zst": "/l/access.log", "/l/access.log.2026-11-20": "/l/access.log",
		"/l/access-20261120.log": "/l/access.log", "/l/access_2026-11-20.log.xz": "/l/access.log", "/l/access.log.old": "/l/access.log",
		"/l/access_log.3": "/l/access_log", "/l/access.log-20261120-0300.gz": "/l/access.log",
		"/l/web-1.log": "/l/web-1.log", "/l/web-1.log.2": "/l/web-1.log", "/l/web-01": "/l/web-01", "/l/u_ex261120.log": "/l/u_ex261120.log",
		"/l/192.0.2.1.log": "/l/192.0.2.1.log",
	} {
		if got := nameOf(path); got != want {
			t.Errorf("%s is the log %s, want %s", path, got, want)
		}
	}
}

// What is no file is refused.
func TestResumeOfNoFile(t *testing.T) {
	for _, name := range []string{t.TempDir(), os.DevNull, "-", filepath.Join(t.TempDir(), "none")} {
		if _, err := Plan(t.Context(), []string{name}, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if q, err := Plan(t.Context(), nil, nil); err != nil || !reflect.DeepEqual(q.Ranges(), []Range(nil)) {
		t.Error(q, err)
	}
}
