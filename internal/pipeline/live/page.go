package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/explore"
	"shadow/internal/pipeline/explore/local"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/suggest"
	"shadow/internal/tail"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// A page is that of shadow explore for the last of the logs that a tail follows. The tail keeps no requests, so they are read
// again when the page is loaded, and freed when it has not asked for a while.
type page struct {
	ctx  context.Context
	tail *Tail
	logs []string

	mu      sync.Mutex
	session *explore.Session // nil: it holds no requests
	free    *time.Timer
}

// pageHosts are listened at where the page can be reached at 127.0.0.1, which is the address that is told.
var pageHosts = []string{"", "0.0.0.0", "::", "127.0.0.1", "localhost"}

// keptFor bounds how long a page that does not ask keeps its requests.
const keptFor = 10 * time.Minute

// listen serves metrics until stop is called, and the page unless its address is not told, or a log can be read only once.
func (f *Tail) listen(ctx context.Context, m *tail.Metrics, logs []string, trips *tail.RedisMetrics) (stop func(), err error) {
	p, path, served := &page{ctx: ctx, tail: f, logs: logs}, "", http.Handler(nil)
	host, _, _ := net.SplitHostPort(f.Listen)
	if ingest.Once(logs) == "" && !f.Quiet && slices.Contains(pageHosts, host) {
		path, served = local.Handler(p)
	}
	at, end, err := m.Listen(f.Listen, f.Version, trips, path, served)
	if err != nil {
		return nil, err
	}
	if _, port, err := net.SplitHostPort(at); err == nil && served != nil {
		fmt.Fprintf(f.Err, "shadow: the last %s as a page, for this machine: http://127.0.0.1:%s%s\n", limit.FormatPeriod(f.Page), port, path)
	}
	return func() { end(); p.close() }, nil
}

// mostMemory is the most memory of this program in which a page is made: the tail goes before it.
const mostMemory = 512 << 20

// WritePage implements local.Asked. Who has left while others are served is not.
func (p *page) WritePage(asked context.Context, w io.Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := asked.Err(); err != nil {
		return err
	}
	p.release()
	q := &pipeline.Suggest{Holdout: pipeline.DefaultHoldout, Scale: pipeline.SameScale, Recover: suggest.DefaultRecover, Band: true}
	q.Caller = pipeline.Caller{Out: io.Discard, Err: io.Discard, Version: p.tail.Version, Command: p.tail.Command, Started: time.Now()}
	q.Source, q.Anonymity, q.Quiet, q.Wanted, q.MaxBad = p.tail.Source, p.tail.Anonymity, true, true, 100
	q.Since = flagvalue.Moment(limit.FormatPeriod(p.tail.Page))
	q.Memory = &pipeline.Memory{Most: mostMemory}
	err := q.Memory.Within(p.ctx, nil, func(ctx context.Context) (err error) {
		if p.session, err = explore.Open(ctx, q, p.recent()); p.session != nil {
			err = ctx.Err() // what is left out of the logs is no reason not to show the others
		}
		return err
	})
	if errors.As(err, new(*pipeline.MemoryError)) {
		err = errors.New("so many requests take too much memory beside a tail: a shorter --page has fewer")
	}
	if err == nil {
		p.free = time.AfterFunc(keptFor, p.close)
		return p.session.WritePage(asked, w)
	}
	p.release()
	return err
}

// Answer implements local.Asked.
func (p *page) Answer(ctx context.Context, q explore.Request) (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return nil, errors.New("its requests were freed: load the page again")
	}
	p.free.Reset(keptFor)
	return p.session.Answer(ctx, q)
}

// close frees the requests.
func (p *page) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release()
}

// recent returns the logs that are there, and what was rotated away from them within the time that the page shows.
func (p *page) recent() (names []string) {
	since := time.Now().Add(-time.Duration(p.tail.Page) * time.Microsecond)
	for _, log := range p.logs {
		for _, old := range logfile.SiblingsOf(log) {
			if !old.Beside && old.Info.ModTime().After(since) {
				names = append(names, old.Path)
			}
		}
		if _, err := os.Stat(log); err == nil {
			names = append(names, log)
		}
	}
	return names
}

func (p *page) release() {
	if p.session != nil {
		if p.free != nil {
			p.free.Stop()
		}
		_ = p.session.Close() // they were read: nothing is lost
		p.session = nil
	}
}
