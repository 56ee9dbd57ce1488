package follow

import (
	"os"
	"strings"
	"testing"
	"time"
)

// heard returns what the tail has said since the last call, with the folder left out.
func (b *bench) heard() string {
	text := strings.ReplaceAll(b.said.String(), b.folder+"/", "")
	b.said.Reset()
	return strings.ReplaceAll(text, b.folder, ".")
}

// wantSaid compares what the tail said with what it was to say.
func (b *bench) wantSaid(want string) {
	b.t.Helper()
	if got := b.heard(); got != want {
		b.t.Fatalf("the tail said\n%swant\n%s", got, want)
	}
}

// A log that is not there is told once, and when it comes.
func TestAbsentLogIsTold(t *testing.T) {
	for _, c := range []struct{ name, beside, want string }{
		{"access.log", "", "access.log: is not there yet; it is followed as soon as it is there"},
		{"acces.log", "access.log", "acces.log: is not there yet, did you mean access.log? Else it is followed as soon as it is there"},
		{"ngnix/access.log", "", "ngnix/access.log: is not there yet, nor is its directory ngnix; it is followed as soon as it is there"},
		{"**/access.log", "", "**/access.log: no log matches yet; those that come are followed; \"**\" is no more than \"*\""},
		{"*.log", "", "*.log: no log matches yet; those that come are followed"},
		{"ngnix/*.log", "", "ngnix/*.log: no log matches, as there is no directory ngnix yet; those that come are followed"},
		{"ng*/access.log", "", "ng*/access.log: no log matches yet; those that come are followed"},
		{"", "", ": no log is in this directory yet; those that come are followed"},
	} {
		b := newBench(t)
		b.names = []string{b.path(c.name)}
		if c.beside != "" {
			b.append(c.beside, line(1, b.now))
		}
		b.start()
		for range 3 {
			b.step(2 * time.Second)
		}
		name := strings.TrimPrefix(b.names[0], b.folder+"/")
		if c.name == "" {
			name, c.want = ".", "."+c.want
		}
		b.wantSaid("shadow: " + c.want + "\n")
		if n := b.set.Absent(); n != 1 {
			t.Errorf("%s: %d absent", c.name, n)
		}
		path := strings.NewReplacer("**", "nginx", "*", "inx").Replace(c.name)
		if path == "" {
			path = "access.log"
		}
		check(t, os.MkdirAll(b.path("ngnix"), 0o755))
		check(t, os.MkdirAll(b.path("nginx"), 0o755))
		b.append(path, line(1, b.now))
		b.step(2 * time.Second)
		b.wantSaid("shadow: " + name + ": is followed now\n")
		b.counted(1)
		if n := b.set.Absent(); n != 0 {
			t.Errorf("%s: %d absent", c.name, n)
		}
		b.append(path, line(1, b.now))
		b.step(2 * time.Second)
		b.wantSaid("")
		b.counted(2)
		b.stop()
	}
}

// A log between two files is not absent.
func TestRotationIsNotTold(t *testing.T) {
	b := newBench(t)
	b.append("access.log", line(1, b.now))
	b.start()
	check(t, os.Rename(b.path("access.log"), b.path("access.log.1")))
	b.step(2 * time.Minute)
	b.append("access.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(1)
	b.stop()
	b.wantSaid("")
}

// A link that leads nowhere says where.
func TestLinkThatLeadsNowhere(t *testing.T) {
	b := newBench(t)
	check(t, os.Symlink("log.20261121", b.path("access.log")))
	b.start()
	b.wantSaid("shadow: access.log: leads to log.20261121, which is not there yet; it is followed as soon as it is there\n")
	b.append("log.20261121", line(1, b.now))
	b.step(time.Second)
	b.wantSaid("shadow: access.log: is followed now\n")
	b.counted(1)
	b.stop()
}

// A log that was read to its end when the tail stopped may have got more lines before it was removed: that is told.
func TestLogGoneWhileStopped(t *testing.T) {
	b := newBench(t)
	b.append("access.log", line(1, b.now)+line(2, b.now))
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.change = nil
	b.step(time.Second)
	b.counted(2)
	b.stop()
	check(t, os.Mkdir(b.path("away"), 0o755))
	b.rename("access.log", "away/access.log")
	b.append("access.log", line(3, b.now))
	b.start()
	b.heard()
	b.step(time.Second)
	b.step(3 * time.Second)
	if said := b.heard(); !strings.Contains(said, "access.log: a file that was being read is gone") {
		t.Errorf("the tail said\n%s", said)
	}
	b.counted(3)
	b.loses = true
	b.stop()
	if b.lost != 1 {
		t.Errorf("%d files are lost", b.lost)
	}
}

// The folder of a log may go away and come back.
func TestFolderGoesAway(t *testing.T) {
	b := newBench(t)
	check(t, os.Mkdir(b.path("logs"), 0o755))
	b.names = []string{b.path("logs/access.log")}
	b.append("logs/access.log", line(1, b.now))
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.step(time.Second)
	b.counted(1)
	b.rename("logs", "elsewhere")
	b.step(time.Second)
	check(t, os.Mkdir(b.path("logs"), 0o755))
	b.append("logs/access.log", line(2, b.now))
	if !b.set.logs[0].stirred() {
		t.Error("nothing has changed")
	}
	b.step(time.Second)
	b.step(10 * time.Second)
	b.counted(2)
	b.stop()
}
