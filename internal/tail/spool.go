package tail

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"shadow/internal/policy"
	"shadow/internal/traffic/ingest"
	"shadow/replay"
)

// What was judged goes to a database by way of a folder of batches, the spool, so that each request is in it once:
//
//	judge ──▶ openBatch ──seal──▶ STATE.spool/TAIL-1, TAIL-2 … ──deliver──▶ database
//	          one batch           with a checkpoint                 oldest first
//
//   - A batch is sealed together with a checkpoint: it is what was judged between the one before and this one. Its file is
//     written before the checkpoint, which names its number, takes the place of the old one. A file with a higher number is
//     of a tail that was killed in between; it is removed, since its requests are judged again.
//   - Only what a checkpoint has named goes to the database, in the order of the numbers. The database keeps the number of
//     the last batch with what it adds, so one that is delivered twice is stored once.
//   - A file is removed when the database has it. Whatever is in the way, the batch waits. When too much waits,
//     nothing more is read.

// A Store is where batches go. It is handed batches of one tail in their order, and those again of which it is not known
// whether they have arrived; these it leaves out, and says how many they are. It has all of them, or returns an error.
type Store interface {
	Append(batches []*replay.Addition) (known int, err error)
}

// What Options are unless they say otherwise.
const (
	DefaultFlush = 10 * time.Second
	DefaultSpool = 64 << 20 // bytes
)

// defaultHold is the number of would-blocks and clients that are held in memory before a checkpoint is written ahead of
// its time.
const defaultHold = 512 << 10

// A SavedSpool is whose batches a checkpoint names, and the last of them.
type SavedSpool struct {
	Tail   string `json:"tail"`
	Sealed uint64 `json:"sealed"`
}

// A spool is the batches on their way. The tail's goroutine gathers and seals; a goroutine of the spool's delivers. What
// both use is atomic.
type spool struct {
	folder
	openBatch
	tail   string
	most   int64  // bytes
	hold   int    // see defaultHold
	next   uint64 // number of the batch that is being gathered
	before Tally  // when it began

	judgesNotHTTP bool

	store   Store
	tried   uint64        // the last number that was delivered, or may have been by an earlier process
	sealed  atomic.Uint64 // the last number that a checkpoint names
	trouble atomic.Pointer[trouble]
	told    bool // that batches wait
	stop    chan struct{}
	done    chan struct{}
}

// A trouble is what keeps batches from being stored.
type trouble struct {
	text  string
	since time.Time
}

// openSpool opens the folder, and removes what no checkpoint names. was is what the latest checkpoint says, nil if there is
// none. A tail that does not go on from it takes another name, and begins a run of its own.
func openSpool(o *Options, was *SavedSpool, goesOn bool) (*spool, error) {
	s := &spool{folder: folder{dir: o.State + ".spool", portion: atOnce}, most: o.Spool, hold: defaultHold, store: o.Store, tail: rand.Text(), next: 1}
	s.judgesNotHTTP = o.Read.NotHTTP == ingest.JudgeNotHTTP
	if was == nil {
		was = new(SavedSpool)
	} else if goesOn {
		s.tail, s.next = was.Tail, was.Sealed+1
	}
	s.tried = s.next - 1
	s.sealed.Store(s.tried)
	if err := os.MkdirAll(s.dir, 0o700); err != nil && !isFull(err) { // so that it is known at once whether there can be one
		return nil, err
	}
	if err := s.removeBehind(was); err != nil {
		return nil, err
	}
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go s.work(o.Flush)
	return s, nil
}

// start begins the first batch.
func (s *spool) start(policies []policy.Policy, tally *Tally) {
	s.texts = replay.TextsOf(policies)
	s.before = tally.copy()
	s.begin()
}

// full reports whether reading has to wait, because too much waits for the database or cannot be sealed.
func (s *spool) full() bool { return s != nil && (s.size.Load() >= s.most || s.held() >= 2*s.hold) }

// aboveThreshold reports whether a checkpoint should be written ahead of its time.
func (s *spool) aboveThreshold() bool { return s != nil && s.held() >= s.hold }

// complete completes the batch, and returns what a checkpoint is to say that goes with it.
func (s *spool) complete(now time.Time, tally *Tally) *SavedSpool {
	a := &s.to
	a.Tail, a.Number, a.Made = s.tail, s.next, now.UTC().Truncate(time.Microsecond)
	a.Counts, a.JudgesNotHTTP = tally.Since(&s.before.Counts), s.judgesNotHTTP
	a.Parsed = a.Requests + a.Excluded // what waits is of a later batch
	if !a.JudgesNotHTTP {
		a.Parsed += a.NotHTTP.Lines()
	}
	a.Lines = a.Parsed + a.Unreadable
	if a.Empty() {
		return &SavedSpool{Tail: s.tail, Sealed: s.next - 1}
	}
	return &SavedSpool{Tail: s.tail, Sealed: s.next}
}

// seal writes the batch to the folder. After an error it goes on growing.
func (s *spool) seal() error {
	if s.to.Empty() {
		return nil
	}
	return s.write(&s.to)
}

// rotate begins the next batch. named reports whether the checkpoint names the one before; else the next one will.
func (s *spool) rotate(tally *Tally, named bool) {
	if !s.to.Empty() {
		s.next++
		s.before = tally.copy()
		s.begin()
	}
	if named {
		s.sealed.Store(s.next - 1)
	}
}

// work delivers batches until close.
func (s *spool) work(every time.Duration) {
	defer close(s.done)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.flush()
		}
	}
}

// flush delivers what has been sealed, until something is in the way.
func (s *spool) flush() {
	err := s.deliver()
	if err == nil {
		s.trouble.Store(nil)
		return
	}
	since := time.Now()
	if old := s.trouble.Load(); old != nil {
		since = old.since
	}
	s.trouble.Store(&trouble{err.Error(), since})
}

var errSetBack = errors.New("the database has later batches of this tail than its checkpoint knows: the checkpoint was set back, " +
	"or is used twice; --from start and --from end begin another run")

// deliver delivers what has been sealed, a handful of batches at a time.
func (s *spool) deliver() error {
	for {
		batches, files, err := s.read(s.tail, s.sealed.Load())
		if len(batches) == 0 {
			return err
		}
		known, err := s.store.Append(batches)
		if err == nil && known > s.again(batches) {
			return errSetBack
		}
		if last := batches[len(batches)-1]; last.Tail == s.tail {
			s.tried = max(s.tried, last.Number)
		}
		if err == nil {
			err = s.remove(files)
		}
		if err != nil {
			return err
		}
	}
}

// again counts the batches that may be in the database already.
func (s *spool) again(batches []*replay.Addition) (n int) {
	for _, a := range batches {
		if a.Tail != s.tail || a.Number <= s.tried {
			n++
		}
	}
	return n
}

// close delivers what it can; the rest waits for the next tail.
func (s *spool) close() {
	s.halt()
	s.flush()
}

// halt ends the goroutine.
func (s *spool) halt() {
	close(s.stop)
	<-s.done
}

// A Backlog is what waits for the database.
type Backlog struct {
	Batches int64
	Bytes   int64
	Full    bool // so much that nothing is read

	Hindered time.Duration // for how long something has been in the way; 0: nothing is
	told     bool          // whether that was told
}

// String tells it, as in "3 batches (120 KiB) wait for the database".
func (b Backlog) String() string {
	text := fmt.Sprintf("%d batches (%d KiB) wait for the database", b.Batches, (b.Bytes+1023)>>10)
	if b.Full {
		text += ", so nothing is read"
	}
	return text
}

// backlog returns what waits.
func (s *spool) backlog() (b Backlog) {
	if s != nil {
		b = Backlog{Batches: s.count.Load(), Bytes: s.size.Load(), Full: s.full(), told: s.told}
		if now := s.trouble.Load(); now != nil {
			b.Hindered = time.Since(now.since)
		}
	}
	return b
}

// warnAfter is for how long batches may wait for the database before it is told: what is in the way may pass.
const warnAfter = 30 * time.Second

// sayStored tells when batches have begun to wait for the database, and when they no longer have to.
func (t *Tail) sayStored() {
	if t.spool == nil {
		return
	}
	switch now := t.spool.trouble.Load(); { // nil: nothing is in the way
	case now != nil && !t.spool.told && time.Since(now.since) >= warnAfter:
		t.say("%s; %s", now.text, t.spool.backlog())
		t.spool.told = true
	case now == nil && t.spool.told:
		t.say("the batches that waited are stored")
		t.spool.told = false
	}
}
