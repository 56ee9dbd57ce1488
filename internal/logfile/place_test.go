package logfile

import (
	"os"
	"testing"
)

// A log that was truncated, begins as before and has grown beyond its old length is read from its start, which is told.
func TestResumeOfLogThatBeginsAlike(t *testing.T) {
	s, head := newShelf(t), somebodysLines("a", 0, 400)
	if len(head) < HeadBlock {
		t.Fatal("the beginning is too short")
	}
	s.append("a.log", head+somebodysLines("b", 0, 100))
	s.read("a.log")
	s.check(os.Truncate(s.path("a.log"), 0))
	now := head + somebodysLines("c", 0, 300)
	s.append("a.log", now)
	s.want(now, "a.log")
	s.wantLost("the file that was read up to byte")
	s.append("a.log", "new\n")
	s.want("new\n", "a.log")
}

// A place that stands is the end of what was read, wherever that lies.
func TestPlaceStands(t *testing.T) {
	name := t.TempDir() + "/a.log"
	text := []byte(somebodysLines("a", 0, 400))
	for _, offset := range []int64{0, 1, HeadBlock - 1, HeadBlock, HeadBlock + 1, int64(len(text))} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, _ := SiblingAt(name)
		at := r.mark(Place{Offset: offset})
		if !at.StandsIn(name) || (at.Mark == 0) != (offset == 0) {
			t.Errorf("%+v does not stand", at)
		}
		changed := append([]byte(nil), text...)
		changed[max(0, offset-1)]++
		if err := os.WriteFile(name, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if at.StandsIn(name) != (offset == 0) {
			t.Errorf("%+v stands, though the byte before it has changed", at)
		}
		if err := os.Truncate(name, offset/2); err != nil {
			t.Fatal(err)
		}
		if !at.StandsIn(name) {
			t.Errorf("%+v: a file that was cut is no other one", at)
		}
	}
}
