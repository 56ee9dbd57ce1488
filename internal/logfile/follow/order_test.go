package follow

import (
	"os"
	"strings"
	"testing"
	"time"
)

// inOrder reads what there is to read, and holds the clients against those that were written, in their order.
func (b *bench) inOrder(want string) {
	b.t.Helper()
	var got strings.Builder
	b.now = b.now.Add(time.Second)
	b.set.Look()
	for _, l := range b.set.Logs() {
		for l.Next(&b.block) {
			for text := range strings.Lines(string(b.block.Data)) {
				client, _, _ := strings.Cut(strings.TrimPrefix(text, "192.0.2."), " ")
				got.WriteString(client)
			}
		}
	}
	if got.String() != want {
		b.t.Errorf("%q, want %q; it was said: %s", got.String(), want, b.said.String())
	}
}

// pack compresses a file, with its time, and removes it.
func (b *bench) pack(name string) {
	b.t.Helper()
	info, err := os.Stat(b.path(name))
	check(b.t, err)
	b.copy(name, name+".gz", true)
	check(b.t, os.Chtimes(b.path(name+".gz"), info.ModTime(), info.ModTime()))
	check(b.t, os.Remove(b.path(name)))
}

// whenOpened does something once, when the next file has been opened but for some.
func (b *bench) whenOpened(but int, do func()) {
	b.set.Now = func() time.Time {
		if but--; but < 0 && do != nil {
			now := do
			do = nil
			now()
		}
		return b.now
	}
}

// rotateTo renames the log after it was written to.
func (b *bench) rotateTo(client int, name string) {
	b.t.Helper()
	b.append("access.log", line(client, b.now))
	b.age("access.log", time.Duration(9-client)*time.Minute)
	b.rename("access.log", name)
}

// Whatever was compressed before it was opened is read before what was written later, also across a kill.
func TestOrderOfWhatIsCompressedUnread(t *testing.T) {
	for _, beside := range []bool{false, true} {
		for _, kill := range []bool{false, true} {
			b := newBench(t)
			b.start()
			b.append("access.log", line(1, b.now))
			b.inOrder("1")
			if b.save(); kill {
				b.kill()
			}
			b.rotateTo(2, "access.log-0001")
			b.rotateTo(3, "access.log-0002")
			if b.pack("access.log-0001"); beside {
				b.copy("access.log-0002", "access.log-0002.gz", true)
			} else {
				b.pack("access.log-0002")
			}
			b.append("access.log", line(4, b.now))
			if kill {
				b.start()
			}
			b.inOrder("234")
			if beside {
				check(t, os.Remove(b.path("access.log-0002")))
			}
			b.inOrder("")
			b.stop()
		}
	}
}

// What is compressed between being seen and being opened is read before what was written later.
func TestOrderOfWhatIsCompressedWhenSeen(t *testing.T) {
	for but := range 8 {
		b := newBench(t)
		b.start()
		b.append("access.log", line(1, b.now))
		b.inOrder("1")
		b.rotateTo(2, "access.log-0001")
		b.rotateTo(3, "access.log-0002")
		b.rotateTo(4, "access.log-0003")
		b.append("access.log", line(5, b.now))
		b.whenOpened(but, func() { b.pack("access.log-0003") })
		b.inOrder("2345")
		b.inOrder("")
		b.stop()
	}
}

// The same, of files of a checkpoint.
func TestOrderOfWhatIsCompressedWhenFound(t *testing.T) {
	for but := range 12 {
		b := newBench(t)
		b.start()
		for _, name := range []string{"access.log-0001", "access.log-0002", "access.log-0003"} {
			b.append("access.log", line(1, b.now))
			b.inOrder("1")
			b.rename("access.log", name)
		}
		b.append("access.log", line(1, b.now))
		b.inOrder("1")
		b.save()
		b.kill()
		for i, name := range []string{"access.log-0001", "access.log-0002", "access.log-0003", "access.log"} {
			b.append(name, line(2+i, b.now))
			b.age(name, time.Duration(9-i)*time.Minute)
		}
		n := but
		b.change = func(o *Options) {
			o.Now = func() time.Time {
				if n--; n == -1 {
					b.pack("access.log-0002")
				}
				return b.now
			}
		}
		b.start()
		b.inOrder("2345")
		b.inOrder("")
		b.stop()
	}
}

// What came and was renamed between two looks is read though no file has the name.
func TestRotatedAndNotYetMadeAgain(t *testing.T) {
	for _, known := range []bool{false, true} { // whether it was seen before that no file has it
		b := newBench(t)
		b.start()
		b.append("access.log", line(1, b.now))
		b.inOrder("1")
		b.rotateTo(2, "access.log-0001")
		want := "23"
		if known {
			b.inOrder("2")
			want = "3"
		}
		b.rotateTo(3, "access.log-0002")
		b.inOrder(want)
		b.append("access.log", line(4, b.now))
		b.inOrder("4")
		b.stop()
	}
}

// Files that are not to be read are not read either when their disk was away for a while.
func TestOldFilesComeBack(t *testing.T) {
	b := newBench(t)
	b.append("access.log.1", line(1, b.now))
	b.append("access.log", line(2, b.now))
	b.age("access.log.1", time.Hour)
	b.start()
	b.inOrder("")
	check(t, os.Mkdir(b.path("away"), 0o755))
	for _, name := range []string{"access.log", "access.log.1"} {
		b.rename(name, "away/"+name)
	}
	b.inOrder("")
	b.inOrder("")
	b.rename("away/access.log.1", "access.log.2")
	b.rename("away/access.log", "access.log")
	b.inOrder("")
	b.rotateTo(3, "access.log.1")
	b.append("access.log", line(4, b.now))
	b.inOrder("34")
	b.stop()
}
