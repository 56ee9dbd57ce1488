package explore

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"shadow/internal/logfile/object"
	"shadow/internal/pipeline"
)

// A Following answers about logs that grow. Once they have grown, it opens all of them again, while the session that it
// has goes on answering. So each answer is that of suggest on the logs as they were at some moment:
//
//	session 1 ──▶ answers ─────────────────────▶ closed
//	              logs grow ──▶ session 2 opens ──▶ answers
type Following struct {
	question func() *pipeline.Suggest // returns one that was not asked yet; nil: the logs are not followed
	logs     []string

	mu      sync.RWMutex // read while a question is answered
	session *Session
	problem string
}

// A State tells how far the session of logs that grow has come.
type State struct {
	Version  int    `json:"version"`  // from 1: one more for each session
	Requests int64  `json:"requests"` // in it
	Last     int64  `json:"last"`     // when the last of them came, in microseconds since 1970
	Limit    string `json:"limit"`    // the answer; "": there is none
	Problem  string `json:"problem"`  // why there is no newer one; "": nothing is wrong
}

// VerifyFollowed reports what cannot be followed among the names of logs.
func VerifyFollowed(logs []string) error {
	if i := slices.IndexFunc(logs, object.IsName); i >= 0 {
		return pipeline.Usage("--follow reads files of this machine, and %s is none: copy it first", logs[i])
	}
	if once := pipeline.ReadOnce(logs); once != "" {
		return pipeline.Usage("--follow reads the log again as it grows, and %s can be read only once: name a file", once)
	}
	return nil
}

// Follow makes a Following that begins with a session, and whose next ones come of questions like that of the session;
// without any, the session stays.
func Follow(s *Session, question func() *pipeline.Suggest, logs []string) *Following {
	if question != nil {
		s.version = 1
	}
	return &Following{question: question, logs: logs, session: s}
}

// Run opens sessions until ctx ends, looking at the logs every so often. Opening takes a third of the time at most.
func (f *Following) Run(ctx context.Context, every time.Duration) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	var rest time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		grown, problem := f.look()
		begun := time.Now()
		switch {
		case !grown:
			f.say(problem)
		case begun.After(rest):
			f.renew(ctx)
			rest = time.Now().Add(2 * time.Since(begun))
		}
	}
}

// look compares the logs with what was read of them. One that is shorter was rotated: what it has now tells less.
func (f *Following) look() (grown bool, problem string) {
	for _, in := range f.session.found.Stats.Inputs {
		info, err := os.Stat(in.Name)
		if err != nil || info.Size() < in.Size {
			name := f.session.suggest.Anonymizer.File(in.Name)
			return false, name + " is gone or shorter than before: the figures stay until it is as long as before."
		}
		grown = grown || info.Size() > in.Size
	}
	return grown, ""
}

// renew opens the logs, and has the new session answer from now on.
func (f *Following) renew(ctx context.Context) {
	next, err := Open(ctx, f.question(), f.logs) // what is incomplete is told in the end
	if next == nil {
		problem := "The logs cannot be read now: the figures are older."
		if f.session.suggest.Anonymizer == nil && err != nil {
			problem += " " + err.Error()
		}
		f.say(problem)
		return
	}
	next.version = f.session.version + 1
	f.mu.Lock()
	old := f.session
	f.session, f.problem = next, ""
	f.mu.Unlock()
	_ = old.Close() // its requests were read: nothing is lost
}

func (f *Following) say(problem string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problem = problem
}

// Answer returns the JSON that answers a question, as a Session does, or the State.
func (f *Following) Answer(ctx context.Context, q Request) (json.RawMessage, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if q.Ask == "state" {
		return json.Marshal(f.state())
	}
	return f.session.Answer(ctx, q)
}

func (f *Following) state() *State {
	s := f.session
	return &State{
		Version: s.version, Requests: s.found.Stats.Taken(), Last: int64(s.found.Stats.LastAt),
		Limit: s.Report.Answers[0].Advice.Answer.Limit, Problem: f.problem,
	}
}

// WritePage writes the page of the answer as it is now.
func (f *Following) WritePage(_ context.Context, w io.Writer) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	p, err := f.session.page()
	if err != nil {
		return err
	}
	if f.question != nil {
		p.Asked.State = f.state()
	}
	return p.Write(w)
}

// Incomplete returns the error of what the last answer leaves out of the logs, nil if that is nothing.
func (f *Following) Incomplete() error { return f.session.Incomplete() }

// Close frees the requests, once Run has ended.
func (f *Following) Close() error { return f.session.Close() }
