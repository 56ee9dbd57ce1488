package follow

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
)

// saidOnce holds what was said against what must have been, once.
func (b *bench) saidOnce(text string) {
	b.t.Helper()
	if n := strings.Count(b.said.String(), text); n != 1 {
		b.t.Errorf("%q was said %d times: %s", text, n, b.said.String())
	}
}

// unreadable makes reading the oldest file of a log fail, as a network file system may, until mend is called.
func unreadable(l *Log) (mend func()) {
	f := l.files[0].(*plain)
	old := f.handle
	f.handle, _ = os.Open(os.DevNull)
	f.handle.Close()
	return func() { f.handle = old }
}

// A log that cannot be read for a while stops no other, and then goes on where it was.
func TestLogThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.names = []string{b.path("a.log"), b.path("b.log")}
	b.start()
	b.append("a.log", line(1, b.now))
	b.append("b.log", line(1, b.now))
	b.step(time.Second)
	mend := unreadable(b.set.logs[0])
	for range 5 {
		b.append("a.log", line(2, b.now))
		b.append("b.log", line(2, b.now))
		b.step(time.Second)
	}
	b.counted(7)
	b.saidOnce("it is tried again")
	mend()
	b.step(time.Second)
	b.counted(12)
	unreadable(b.set.logs[0]) // and forever: it is said again
	b.step(time.Second)
	if n := strings.Count(b.said.String(), "it is tried again"); n != 2 {
		t.Errorf("said %d times: %s", n, b.said.String())
	}
	b.stop()
}

// A file that has lost the name and cannot be read any more does not keep the next one from being read, and what is lost is said.
func TestEarlierFileThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.start()
	b.append("access.log", line(1, b.now))
	b.step(time.Second)
	b.append("access.log", line(2, b.now))
	b.set.logs[0].Measure()
	unreadable(b.set.logs[0])
	check(t, os.Rename(b.path("access.log"), b.path("access.log.1")))
	b.append("access.log", line(3, b.now))
	b.step(time.Second)
	b.counted(2)
	b.step(2 * linger)
	b.saidOnce("bytes of an earlier file could not be read, and are lost")
	b.append("access.log", line(3, b.now))
	b.step(time.Second)
	b.counted(3)
	b.loses = true
	b.stop()
	if b.lost != 1 {
		t.Errorf("%d files are lost, %d are counted, want 1", b.lost, b.lost)
	}
}

// A file that was empty when it was found is read to its end, be its first line long, and be it deleted then.
func TestDeletedFileBeginsWithALongLine(t *testing.T) {
	b := newBench(t)
	b.following()
	b.append("access.log.1", "")
	check(t, os.Rename(b.path("access.log"), b.path("access.log.2")))
	b.append("access.log", line(2, b.now))
	b.step(time.Second)
	long := strings.Replace(line(3, b.now), "page0", strings.Repeat("p", logfile.HeadBlock), 1)
	b.append("access.log.1", long+strings.Repeat(line(3, b.now), 20_000))
	b.step(time.Second)
	check(t, os.Remove(b.path("access.log.1")))
	b.step(2 * linger)
	b.counted(20_003)
	b.stop()
}

// A stubborn file cannot be read but for its rest, as one on a network file system that comes back in between.
type stubborn struct{ *plain }

func (stubborn) next(*logfile.Block) (bool, error) { return false, os.ErrDeadlineExceeded }

// A file that can be read again when it is about to be closed is read to its end.
func TestEarlierFileThatCanBeReadAgain(t *testing.T) {
	b := newBench(t)
	l := b.following()
	b.append("access.log", strings.Repeat(line(1, b.now), 20_000)+strings.TrimSuffix(line(2, b.now), "\n"))
	l.Measure()
	l.files[0] = stubborn{l.files[0].(*plain)}
	check(t, os.Remove(b.path("access.log")))
	b.append("access.log", line(3, b.now))
	b.step(time.Second)
	b.counted(20_003)
	if len(l.files) != 1 {
		t.Errorf("%d files are open", len(l.files))
	}
	b.stop()
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(text))
	check(t, err)
	check(t, z.Close())
	return packed.Bytes()
}

// Of a compressed log that is cut short what there is counts, and its rest is lost.
func TestHalfOfACompressedLog(t *testing.T) {
	b := newBench(t)
	b.append("access.log", line(1, b.now))
	b.start()
	b.step(time.Second)
	b.stop()
	var text strings.Builder
	for i := range 20_000 {
		text.WriteString(line(i%200, b.now.Add(time.Duration(i)*7919*time.Microsecond)))
	}
	packed := gzipped(t, text.String())
	check(t, os.Rename(b.path("access.log"), b.path("access.log.2")))
	check(t, os.WriteFile(b.path("access.log.1.gz"), packed[:len(packed)/2], 0o644))
	b.append("access.log", line(1, b.now))
	b.start()
	b.step(time.Second)
	if n := b.Lines; n < 5_000 || n > 15_000 {
		t.Errorf("%d lines have been read of half a file", n)
	}
	b.saidOnce("access.log.1.gz: truncated gzip: the file ends before its compressed data does; it was read up to byte ")
	b.loses = true
	b.stop()
	if b.lost != 1 {
		t.Errorf("%d files are lost, want 1", b.lost)
	}
}

// A log that is compressed while a tail that was reading it is away goes on where that was, also inside a line of which no
// more was wanted.
func TestCompressedMeanwhile(t *testing.T) {
	long := strings.Repeat("x", 2*logfile.MaxLine)
	for _, written := range []int{10, logfile.MaxLine - 5, logfile.MaxLine + 1, logfile.MaxLine + 2, logfile.MaxLine + 100, 3 * logfile.MaxLine / 2, 2 * logfile.MaxLine} {
		b := newBench(t)
		b.change = func(o *Options) { o.From = FromStart }
		b.append("access.log", strings.Repeat(line(1, b.now), 100)+long[:written])
		b.start()
		b.change = nil
		b.step(time.Second)
		b.stop()
		b.append("access.log", long[written:]+"\n"+line(2, b.now)+line(3, b.now))
		text, err := os.ReadFile(b.path("access.log"))
		check(t, err)
		check(t, os.WriteFile(b.path("access.log.1.gz"), gzipped(t, string(text)), 0o644))
		check(t, os.Remove(b.path("access.log")))
		b.append("access.log", line(1, b.now))
		b.start()
		b.step(time.Second)
		b.counted(104)
		if n := b.Unreadable; n != 1 {
			t.Errorf("%d bytes of the long line were written when the tail ended: %d unreadable", written, n)
		}
		b.stop()
	}
}

// A last block that is a line feed alone is a line, though it is the shortest there is.
func TestCompressedLogEndsInABlockOfALineFeed(t *testing.T) {
	b := newBench(t)
	b.change = func(o *Options) { o.From = FromStart }
	text := line(1, b.now)
	b.append("access.log", text)
	b.start()
	b.change = nil
	b.step(time.Second)
	b.stop()
	const block = 512 << 10 // what is read of compressed content at once
	text += line(2, b.now)
	text += strings.Repeat("x", block-len(text)-1) + "\n" + "\n"
	check(t, os.WriteFile(b.path("access.log.1.gz"), gzipped(t, text), 0o644))
	check(t, os.Remove(b.path("access.log")))
	b.append("access.log", line(3, b.now))
	b.start()
	b.step(time.Second)
	b.counted(5)
	b.stop()
}

// A log that is cut to nothing while its writer goes on where it was begins with zeros, which are no part of its first line.
func TestHoleOfWriter(t *testing.T) {
	b := newBench(t)
	b.loses = true
	b.start()
	b.append("access.log", line(1, b.now)+line(2, b.now))
	b.step(time.Second)
	b.counted(2)
	check(t, os.Truncate(b.path("access.log"), 0))
	b.step(time.Second)
	b.append("access.log", strings.Repeat("\x00", 3<<20)+line(3, b.now))
	b.step(time.Second)
	b.counted(3)
	if b.Unreadable != 0 {
		t.Errorf("%d lines cannot be read", b.Unreadable)
	}
	b.stop()
}

// A byte order mark before the first line is no part of it, as in a replay.
func TestByteOrderMark(t *testing.T) {
	b := newBench(t)
	b.start()
	b.append("access.log", string(logfile.ByteOrderMark)+line(1, b.now))
	b.step(time.Second)
	b.counted(1)
	b.append("access.log", line(2, b.now))
	b.step(time.Second)
	b.counted(2)
	if b.Unreadable != 0 {
		t.Errorf("%d lines cannot be read", b.Unreadable)
	}
	b.stop()
}
