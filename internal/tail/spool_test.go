//go:build !nostore

package tail

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/traffic/ingest"
	"shadow/replay"

	"shadow/internal/logfile/follow"
)

// A shelf is a Store in memory, as exact as a database: it takes batches whole, in their order, and each once.
type shelf struct {
	last    map[string]uint64 // number of the last batch, by tail
	busy    bool              // takes nothing
	unsure  bool              // takes everything, and says that it failed
	lines   int64
	bytes   int64
	clients map[string]int64 // requests
	events  []string
	refused map[string]int64 // by policy
	saved   int64
	marked  int64 // events that are degraded

	degraded map[string]replay.Degraded  // by policy
	inputs   map[string]replay.InputPart // by name
	faults   int
}

var errBusy = errors.New("somebody holds it open")

func newShelf() *shelf {
	return &shelf{last: map[string]uint64{}, clients: map[string]int64{}, refused: map[string]int64{}, degraded: map[string]replay.Degraded{}, inputs: map[string]replay.InputPart{}}
}

func (s *shelf) Append(batches []*replay.Addition) (known int, err error) {
	if s.busy {
		return 0, errBusy
	}
	for _, a := range batches {
		if a.Number <= s.last[a.Tail] {
			known++
			continue
		}
		s.last[a.Tail] = a.Number
		s.add(a)
	}
	if s.unsure {
		return 0, errors.New("the disk went away")
	}
	return known, nil
}

func (s *shelf) add(a *replay.Addition) {
	s.lines, s.bytes = s.lines+a.Lines, s.bytes+a.Bytes
	for _, in := range a.Inputs {
		sum := s.inputs[in.Name]
		sum.Lines, sum.Parsed, sum.Unreadable = sum.Lines+in.Lines, sum.Parsed+in.Parsed, sum.Unreadable+in.Unreadable
		s.inputs[in.Name] = sum
	}
	s.faults += len(a.Faults)
	for _, c := range a.Clients {
		for _, n := range c.ByClass {
			s.clients[c.Name] += n
		}
	}
	for i, did := range a.Did {
		s.refused[a.Policies[i].Name] += did.Refused
		s.saved += did.BytesSaved
		sum := s.degraded[a.Policies[i].Name]
		s.degraded[a.Policies[i].Name] = replay.Degraded{Requests: sum.Requests + did.Degraded.Requests, Refused: sum.Refused + did.Degraded.Refused}
	}
	for _, e := range a.Events {
		for _, r := range a.Sets[e.Set] {
			if r.Degraded {
				s.marked++
			}
			s.events = append(s.events, fmt.Sprintf("%s %s %s %d", a.Policies[r.Policy].Name, a.Clients[e.Client].Name, a.Actions[e.Action].Name, e.At))
		}
	}
}

// A stored is a bench with a database.
type stored struct {
	*bench
	shelf *shelf
	most  int64
}

func newStored(t *testing.T, limits ...string) *stored {
	s := &stored{bench: newBench(t, limits...), shelf: newShelf(), most: DefaultSpool}
	s.change = func(o *Options) { o.Store, o.Flush, o.Spool = s.shelf, time.Hour, s.most }
	return s
}

// flush hands over what there is.
func (s *stored) flush() { s.tail.spool.flush() }

// files are the batches that wait.
func (s *stored) files() []string {
	files, err := filepath.Glob(s.path("state.spool/*"))
	check(s.t, err)
	return files
}

// check holds what is on the shelf against a replay of all that was written.
func (s *stored) check() {
	s.t.Helper()
	told, tally := s.replayed(s.whole.Bytes())
	want := newShelf()
	want.lines, want.bytes = tally.Lines, int64(s.whole.Len())
	for _, line := range strings.Split(strings.TrimSpace(s.whole.String()), "\n") {
		if client, _, ok := strings.Cut(line, " "); ok {
			want.clients[client]++
		}
	}
	for _, p := range tally.Policies {
		want.refused[p.Name] = p.Refused
	}
	if got := s.shelf; got.lines != want.lines || got.bytes != want.bytes || !reflect.DeepEqual(got.clients, want.clients) || !reflect.DeepEqual(got.refused, want.refused) {
		s.t.Errorf("%d lines, %d bytes, refused %v, clients %v; want %d, %d, %v, %v",
			got.lines, got.bytes, got.refused, got.clients, want.lines, want.bytes, want.refused, want.clients)
	}
	in := replay.InputPart{Lines: tally.Lines, Parsed: tally.Lines - tally.Unreadable, Unreadable: tally.Unreadable}
	if got := s.shelf.inputs[s.names[0]]; len(s.shelf.inputs) != 1 || got != in || tally.Unreadable > 0 && s.shelf.faults == 0 {
		s.t.Errorf("inputs are %+v with %d faults, want %+v", s.shelf.inputs, s.shelf.faults, in)
	}
	if n := strings.Count(told, "\n"); len(s.shelf.events) != n || n == 0 {
		s.t.Errorf("%d events, want %d", len(s.shelf.events), n)
	}
	slices.SortFunc(s.shelf.events, cmp.Compare[string])
	if tell := s.told(); tell != told {
		s.t.Error("the file of would-blocks differs from the replay")
	}
}

// settle lets everything be judged and stored.
func (s *stored) settle() {
	s.t.Helper()
	s.shelf.busy, s.shelf.unsure = false, false
	for range 5 {
		s.step(5 * time.Second)
		check(s.t, s.tail.save())
		s.flush()
	}
	s.stop()
	if files := s.files(); len(files) > 0 {
		s.t.Errorf("left in the spool: %v", files)
	}
}

// killBeforeCheckpoint kills the tail when it has written a batch, and not yet the checkpoint.
func (s *stored) killBeforeCheckpoint() {
	s.t.Helper()
	old, err := os.ReadFile(s.path("state"))
	check(s.t, err)
	check(s.t, s.tail.save())
	s.kill()
	check(s.t, os.WriteFile(s.path("state"), old, 0o600))
}

// Whatever happens when, each request is stored once.
func TestSpoolStoresEachRequestOnce(t *testing.T) {
	for seed := range uint64(12) {
		rng := seeded(t, seed)
		s := newStored(t, "token:3/10s", "window:3/10s")
		s.start()
		for range 150 {
			switch rng.IntN(12) {
			case 0:
				s.shelf.busy = !s.shelf.busy
			case 1:
				s.shelf.unsure = !s.shelf.unsure
			case 2, 3:
				check(t, s.tail.save())
			case 4, 5:
				s.flush()
			case 6:
				switch rng.IntN(4) {
				case 0:
					s.stop()
				case 1:
					s.killBeforeCheckpoint()
				default:
					s.kill()
				}
				s.start()
			case 7:
				check(t, s.tail.compact())
			case 8:
				s.append("access.log", "rubbish\n")
			default:
				for range rng.IntN(20) {
					s.append("access.log", line(1+rng.IntN(6), s.now))
				}
				s.step(time.Duration(rng.IntN(3000)) * time.Millisecond)
			}
		}
		s.settle()
		if s.check(); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// While the spool is full nothing is read, the lag grows and is told; when there is room again nothing is missing.
func TestFullSpoolPausesReading(t *testing.T) {
	s := newStored(t, "token:1/10s")
	var metrics Metrics
	with := s.change
	s.change = func(o *Options) { with(o); o.Metrics, o.Every = &metrics, time.Minute }
	s.most, s.shelf.busy = 2000, true
	s.start()
	for range 60 {
		for client := range 5 {
			s.append("access.log", line(client+1, s.now))
		}
		s.step(2 * time.Second)
		check(t, s.tail.save())
		s.flush()
	}
	paused := s.tail.Tally().Lines
	bytes, behind := s.tail.Lag(s.now)
	if n := s.tail.spool.backlog(); !n.Full || n.Bytes < s.most || n.Bytes > 2*s.most || int(n.Batches) != len(s.files()) {
		t.Errorf("%+v, %d files", n, len(s.files()))
	}
	if paused > 200 || bytes < 1000 || behind < time.Minute {
		t.Errorf("%d lines of 300 were read, the lag is %d bytes and %v", paused, bytes, behind)
	}
	if !strings.Contains(s.said.String(), "wait for the database, so nothing is read") {
		t.Errorf("told: %s", s.said.String())
	}
	if got := metrics.latest.Load().backlog; !got.Full || got.Hindered <= 0 {
		t.Errorf("metrics show %+v", got)
	}
	s.kill() // and who comes next pauses as well
	s.start()
	s.step(2 * time.Second)
	if got := s.tail.Tally().Lines; got > paused {
		t.Errorf("%d lines were read, %d before", got, paused)
	}
	s.settle()
	s.check()
}

// When no checkpoint can be written, as on a full disk, memory stays bounded.
func TestSpoolThatCannotBeWritten(t *testing.T) {
	s := newStored(t, "token:1/10s")
	s.start()
	s.tail.spool.hold = 20
	check(t, os.Rename(s.path("state.spool"), s.path("away")))
	check(t, os.WriteFile(s.path("state.spool"), nil, 0o600))
	for range 40 {
		for client := range 5 {
			s.append("access.log", line(client+1, s.now))
		}
		s.step(2 * time.Second)
	}
	if held := s.tail.spool.held(); held < 40 || held > 60 || s.tail.Tally().Lines > 100 {
		t.Errorf("%d are held, %d lines were read", held, s.tail.Tally().Lines)
	}
	if !strings.Contains(s.said.String(), "the checkpoint cannot be written") {
		t.Errorf("told: %s", s.said.String())
	}
	if files := s.files(); len(files) != 0 {
		t.Error(files)
	}
	check(t, os.Remove(s.path("state.spool")))
	check(t, os.Rename(s.path("away"), s.path("state.spool")))
	s.settle()
	s.check()
}

// Who removes the folder takes batches away, and nothing else: neither does the tail wait for them, nor is it unable to go on.
func TestSpoolFolderIsRemoved(t *testing.T) {
	s := newStored(t, "token:1/10s")
	s.most, s.shelf.busy = 2000, true
	s.start()
	more := func() {
		for client := range 20 {
			s.append("access.log", line(client+1, s.now))
		}
		s.step(10 * time.Second)
		check(t, s.tail.save())
		s.flush()
	}
	for !s.tail.spool.full() {
		more()
	}
	check(t, os.RemoveAll(s.path("state.spool")))
	s.flush()
	if b := s.tail.spool.backlog(); b.Full || b.Batches != 0 || b.Bytes != 0 {
		t.Errorf("nothing is there, and %+v waits", b)
	}
	s.shelf.busy = false
	lines := s.tail.Tally().Requests
	for range 3 {
		more()
	}
	if got := s.tail.Tally().Requests; s.shelf.lines == 0 || s.shelf.lines != got-lines || len(s.files()) != 0 || s.tail.spool.trouble.Load() != nil {
		t.Errorf("%d lines are stored of %d since; %v, %+v", s.shelf.lines, got-lines, s.files(), s.tail.spool.trouble.Load())
	}
	s.stop()
}

// A checkpoint that is older than what the database has would lose requests, or store them twice: neither is done silently.
func TestCheckpointThatWasSetBack(t *testing.T) {
	s := newStored(t, "token:1/10s")
	s.start()
	some := func() {
		for range 5 {
			s.append("access.log", line(1, s.now))
			s.step(5 * time.Second)
		}
		check(t, s.tail.save())
		s.flush()
	}
	some()
	old, err := os.ReadFile(s.path("state"))
	check(t, err)
	some()
	s.kill()
	check(t, os.WriteFile(s.path("state"), old, 0o600))
	s.start()
	some()
	if trouble := s.tail.spool.trouble.Load(); trouble == nil || trouble.text != errSetBack.Error() || len(s.files()) == 0 {
		t.Errorf("%+v, %v", trouble, s.files())
	}
	lines := s.shelf.lines
	s.stop()
	if !strings.Contains(s.said.String(), "was set back") || s.shelf.lines != lines {
		t.Errorf("told: %s; %d lines, then %d", s.said.String(), lines, s.shelf.lines)
	}
}

// A tail that is told where to begin begins again, and stores what an earlier one has judged and left.
func TestSpoolOfAnEarlierTail(t *testing.T) {
	s := newStored(t, "token:1/10s")
	with := s.change
	s.change = func(o *Options) { with(o); o.Save = time.Hour }
	s.start()
	s.shelf.busy = true
	for range 5 {
		s.append("access.log", line(1, s.now))
		s.step(3 * time.Second)
		check(t, s.tail.save())
	}
	judged, named := s.tail.Tally().Requests, len(s.files())
	s.append("access.log", line(1, s.now))
	s.step(6 * time.Second)
	s.killBeforeCheckpoint()
	s.shelf.busy = false
	s.change = func(o *Options) { with(o); o.From = follow.FromStart }
	if files := s.files(); len(files) != named+1 || named < 2 {
		t.Errorf("%d batches in the spool, want %d that were named and one that was not", len(files), named)
	}
	s.start()
	s.flush()
	if s.shelf.lines != judged || len(s.shelf.last) != 1 {
		t.Errorf("%d lines of the earlier tail are stored, want %d", s.shelf.lines, judged)
	}
	s.step(0)
	s.step(10 * time.Second)
	s.stop()
	if s.shelf.lines != judged+6 || len(s.shelf.last) != 2 {
		t.Errorf("%d lines are stored of %d tails", s.shelf.lines, len(s.shelf.last))
	}
}

// A batch that was being written when the tail was killed does not count, also when it is not known any more whose it
// was.
func TestBegunBatch(t *testing.T) {
	s := newStored(t, "token:1/10s")
	s.start()
	s.append("access.log", line(1, s.now))
	s.step(10 * time.Second)
	s.kill()
	check(t, os.Remove(s.path("state")))
	check(t, os.WriteFile(s.path("state.spool/"+begunName), []byte("half a b"), 0o600))
	s.start()
	for range 3 {
		s.append("access.log", line(1, s.now))
		s.step(10 * time.Second)
		check(t, s.tail.save())
	}
	if s.flush(); s.tail.spool.trouble.Load() != nil || s.shelf.lines != 2 {
		t.Errorf("%+v; %d lines are stored", s.tail.spool.trouble.Load(), s.shelf.lines)
	}
	s.stop()
	if files := s.files(); len(files) != 0 {
		t.Errorf("left in the spool: %v", files)
	}
}

// A batch that is damaged is named, and keeps its place until the user looks.
func TestDamagedBatch(t *testing.T) {
	s := newStored(t, "token:1/10s")
	s.start()
	for range 5 {
		s.append("access.log", line(1, s.now))
		s.step(3 * time.Second)
		check(t, s.tail.save())
	}
	files := s.files()
	text, err := os.ReadFile(files[1])
	check(t, err)
	text[len(text)/2] ^= 1
	check(t, os.WriteFile(files[1], text, 0o600))
	s.flush()
	left := s.files()
	if trouble := s.tail.spool.trouble.Load(); trouble == nil || !strings.Contains(trouble.text, files[1]+" is damaged") || !slices.Equal(left, files[1:]) {
		t.Errorf("%+v, %v", trouble, left)
	}
	check(t, os.Remove(files[1]))
	s.flush()
	if trouble := s.tail.spool.trouble.Load(); trouble != nil || len(s.files()) != 0 {
		t.Errorf("%+v, %v", trouble, s.files())
	}
	s.stop()
}

// What keeps batches waiting is told when it has lasted, and that it is over.
func TestWaitingIsTold(t *testing.T) {
	s := newStored(t, "token:1/10s")
	s.append("access.log", "")
	s.start()
	s.shelf.busy = true
	for range 3 {
		s.append("access.log", line(1, s.now))
		s.step(5 * time.Second)
	}
	check(t, s.tail.save())
	s.flush()
	s.step(time.Second)
	if s.said.Len() > 0 {
		t.Errorf("told at once: %s", s.said.String())
	}
	s.tail.spool.trouble.Load().since = time.Now().Add(-warnAfter)
	s.flush()
	s.step(time.Second)
	s.step(time.Second)
	s.shelf.busy = false
	s.flush()
	s.step(time.Second)
	want := regexp.MustCompile(`^shadow: somebody holds it open; \d+ batches \(\d+ KiB\) wait for the database\nshadow: the batches that waited are stored\n$`)
	if !want.MatchString(s.said.String()) {
		t.Errorf("told: %s", s.said.String())
	}
	s.shelf.busy = true
	s.append("access.log", line(1, s.now))
	s.step(10 * time.Second)
	s.stop()
	if !strings.HasSuffix(s.said.String(), "wait for the database in "+s.path("state.spool")+"\n") {
		t.Errorf("told: %s", s.said.String())
	}
}

// When much is refused, a checkpoint is written ahead of its time, so that memory stays bounded.
func TestBusyLogIsSealedEarly(t *testing.T) {
	s := newStored(t, "token:1/1h")
	with := s.change
	s.change = func(o *Options) { with(o); o.Save = time.Hour }
	s.start()
	s.tail.spool.hold = 50
	for range 30 {
		s.append("access.log", strings.Repeat(line(1, s.now), 10))
		s.step(time.Second)
	}
	if files, held := len(s.files()), s.tail.spool.held(); files < 3 || held > 70 {
		t.Errorf("%d batches were sealed, %d are held", files, held)
	}
	s.settle()
	s.check()
}

// Lines that are not HTTP are lines of a batch, whether they are judged or not.
func TestNotHTTPIsStored(t *testing.T) {
	for _, judged := range []bool{false, true} {
		s := newStored(t, "token:1/24h")
		with := s.change
		s.change = func(o *Options) {
			with(o)
			if judged {
				o.Read.NotHTTP = ingest.JudgeNotHTTP
			}
		}
		s.start()
		s.append("access.log", line(1, s.now)+strings.Replace(line(3, s.now), "GET /page0 HTTP/1.1", "-", 1))
		s.step(time.Second)
		s.step(10 * time.Second)
		s.settle()
		if s.shelf.lines != 2 {
			t.Errorf("judged %v: %d lines are stored", judged, s.shelf.lines)
		}
	}
}
