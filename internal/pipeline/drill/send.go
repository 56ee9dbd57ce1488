package drill

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"shadow/limit"
)

// An answer holds what became of a request. Moments count from the planned one of the first request.
type answer struct {
	sent   bool
	early  limit.Time // the earliest moment at which the server may have judged it
	wrote  limit.Time // just before it was written
	done   limit.Time // when the head of the answer was there, or failed to come
	status int        // 0: none
	err    error
}

const (
	ahead     = 200 * time.Millisecond // how long before a request its connection is opened
	deadAfter = 20                     // requests in a row without an answer, after which the server is given up
	settled   = 50 * limit.Millisecond // after which a server has accepted a connection, and waits for a request
	bodyRead  = 64 << 10               // bytes of an answer that are read, so that the server can end as it would
)

// errDead ends a drill whose server has gone.
var errDead = errors.New("the server does not answer any more")

// sendAll sends each request at its moment, over a connection of its own, and waits for the answers. It ends early
// when ctx ends, or, with a reason, when the server does not answer any more.
func (s *server) sendAll(ctx context.Context, begin time.Time, p *plan) (all []answer, stopped string) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	all = make([]answer, len(p.requests))
	var waiting sync.WaitGroup
	var failed atomic.Int32
	for i := range p.requests {
		due := begin.Add(time.Duration(p.after[i]) * time.Microsecond)
		if !sleep(ctx, due.Add(-ahead)) {
			break
		}
		waiting.Go(func() {
			all[i] = s.send(ctx, &p.requests[i], begin, due)
			if all[i].err == nil {
				failed.Store(0)
			} else if failed.Add(1) == deadAfter {
				stop(errDead)
			}
		})
	}
	waiting.Wait()
	if errors.Is(context.Cause(ctx), errDead) {
		stopped = errDead.Error()
	}
	return all, stopped
}

// sleep waits until a moment, and reports whether that has come before ctx ended.
func sleep(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// send sends a request when it is due. One that ctx interrupts counts as not sent.
func (s *server) send(ctx context.Context, r *outgoing, begin, due time.Time) (a answer) {
	since := func() limit.Time { return limit.Time(time.Since(begin).Microseconds()) }
	source := ""
	if s.header == "" {
		source = from(r.number)
	}
	dialed := since()
	conn, err := s.dial(ctx, source)
	if err != nil {
		return answer{err: err, sent: ctx.Err() == nil, wrote: since(), done: since()}
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() //nolint:errcheck // its reader gets the error
	opened := since()
	if !sleep(ctx, due) {
		return answer{err: ctx.Err()}
	}
	a.wrote = since()
	a.early = a.wrote - clockStep
	if a.wrote-opened < settled { // the server may read as soon as it accepts, by the clock of before
		a.early = dialed - clockStep
	}
	a.status, a.err = exchange(conn, s.text(r), r.method, s.timeout)
	a.done = since()
	a.sent = a.err == nil || ctx.Err() == nil
	return a
}

// exchange writes a request and reads the status of the answer. A redirect is an answer like others.
func exchange(conn net.Conn, text []byte, method string, timeout time.Duration) (status int, err error) {
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return 0, err
	}
	if _, err := conn.Write(text); err != nil {
		return 0, err
	}
	for in := bufio.NewReader(conn); ; {
		got, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return 0, err
		}
		if got.StatusCode < 200 && got.StatusCode != http.StatusSwitchingProtocols {
			continue // such as 103: the answer follows
		}
		io.CopyN(io.Discard, got.Body, bodyRead) //nolint:errcheck // the status is known
		got.Body.Close()                         //nolint:errcheck // likewise
		return got.StatusCode, nil
	}
}
