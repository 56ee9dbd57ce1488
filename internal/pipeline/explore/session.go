// Package explore holds a log open, and answers one question after another about it: what any limit does, which clients
// it hits, and what became of one of them.
package explore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/advice"
)

// A Session is a log that suggest has answered about. As long as they are few enough, its requests stay in memory, sorted
// by client and by the key that was asked about last; else each question unpacks and sorts them again:
//
//	suggest ──▶ answer
//	        └─▶ batches ──▶ timelines by key ──▶ move, curve, client: a replay of what is asked
//
// Questions may be asked from several goroutines. They are answered one after the other.
type Session struct {
	Report *advice.Report // the answer of suggest

	suggest *pipeline.Suggest
	found   *replay.Result
	keys    []request.Key // by which limits may count
	version int           // among those of a Following; 0: there is none
	missing error         // an IncompleteError, or nil

	mu     sync.Mutex
	held   []*traffic.Batch                    // nil: there are too many requests
	sorted map[request.Key][]traffic.Timelines // by batch, for two keys at most
	marked string                              // the action that marks are for
	marks  [][]uint64                          // of the batches that are held, as far as they are made
	crowds map[scope]*crowd                    // of all requests, and of the last part of them
}

// mostHeld is the most requests that stay in memory: each takes about 60 bytes.
const mostHeld = 16 << 20

// A scope is the requests of an action, "" for all, that came within some time.
type scope struct {
	action       string
	since, until int64 // as in a Request
}

func (q *Request) scope() scope { return scope{q.Action, q.Since, q.Until} }

// partial reports whether it is only a part of the log.
func (c scope) partial() bool { return c.since != 0 || c.until != 0 }

// has reports whether a moment is within.
func (c scope) has(at limit.Time) bool {
	return int64(at) >= c.since && (c.until == 0 || int64(at) < c.until)
}

// A crowd is who sent the requests of a scope.
type crowd struct {
	Requests, Clients who.Groups
	sent              []int64 // by client
	when              []int64 // by stretch of the chart
}

// Open finds the answer for some logs, and keeps their requests. An IncompleteError comes with a Session.
func Open(ctx context.Context, q *pipeline.Suggest, logs []string) (*Session, error) {
	page, err := q.Hold(ctx, logs)
	if page == nil {
		return nil, errors.Join(err, q.Release())
	}
	s := &Session{
		Report: page, suggest: q, found: q.Found(), crowds: map[scope]*crowd{}, sorted: map[request.Key][]traffic.Timelines{},
		keys: q.KeysThere(), missing: err,
	}
	if s.found.Stats.Taken() <= mostHeld {
		if failed := s.hold(); failed != nil {
			return nil, errors.Join(failed, q.Release())
		}
	}
	return s, err
}

// Incomplete returns the error of what the answer leaves out of the logs, nil if that is nothing.
func (s *Session) Incomplete() error { return s.missing }

// Close frees the requests, once no question is being answered.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.suggest.Release()
}

// hold unpacks the requests.
func (s *Session) hold() error {
	return s.suggest.Unpack(func(b *traffic.Batch) error {
		s.held = append(s.held, &traffic.Batch{
			At: slices.Clone(b.At), Client: slices.Clone(b.Client), Agent: slices.Clone(b.Agent),
			Action: slices.Clone(b.Action), Status: slices.Clone(b.Status), Bytes: slices.Clone(b.Bytes),
			Seq: slices.Clone(b.Seq), Source: slices.Clone(b.Source), User: slices.Clone(b.User), Stamps: b.Stamps,
		})
		return nil
	})
}

// timelines returns those of the batches in memory by a key.
func (s *Session) timelines(by request.Key) []traffic.Timelines {
	if all := s.sorted[by]; all != nil {
		return all
	}
	for key := range s.sorted {
		if key != request.ByClient {
			delete(s.sorted, key)
		}
	}
	all, sorter := make([]traffic.Timelines, len(s.held)), traffic.Timelines{By: by}
	for i, b := range s.held {
		sorter.Take(b, s.tables())
		all[i].Column, all[i].Len = slices.Clone(sorter.Column), sorter.Len
		all[i].Group = traffic.Group{
			Keys: slices.Clone(sorter.Keys), Ends: slices.Clone(sorter.Ends),
			Rows: slices.Clone(sorter.Rows), At: slices.Clone(sorter.At),
		}
	}
	s.sorted[by] = all
	return all
}

func (s *Session) tables() *traffic.Tables { return s.suggest.Read.Tables }

// An each hands over requests, as long as an answer is wanted, with the number of a batch that is held or −1.
type each func(ctx context.Context, do func(i int, b *traffic.Batch) error) error

// each hands over all requests.
func (s *Session) each(ctx context.Context, do func(i int, b *traffic.Batch) error) error {
	if s.held == nil {
		return s.suggest.Unpack(func(b *traffic.Batch) error {
			own := *b
			return cmp.Or(ctx.Err(), do(-1, &own))
		})
	}
	for i := range s.held {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := *s.held[i] // what is done may mark the rows
		if err := do(i, &b); err != nil {
			return err
		}
	}
	return nil
}

// A Request is a question.
type Request struct {
	Ask     string `json:"ask"` // suggest, move, curve or client
	Limit   string `json:"limit"`
	Other   string `json:"other"`  // of a Move: a limit to compare with; "": none
	By      string `json:"by"`     // "" for client
	Action  string `json:"action"` // requests of this action only, by the name that is shown; "" for all
	Client  int32  `json:"client"` // by its number in a Move, whose Version goes with it
	Version int    `json:"version"`
	Times   bool   `json:"times"` // of a Move: whether it tells when the limit refuses as well
	Since   int64  `json:"since"` // of a Move: only what came from this moment on, in microseconds since 1970
	Until   int64  `json:"until"` // of a Move: and before this one; 0: to the end

	Sort    string `json:"sort"`    // of a Move: refused, requests, share, client or identity; "" for refused
	Reverse bool   `json:"reverse"` // of a Move: the other way round
	Filter  string `json:"filter"`  // of a Move: part of the name, identity or agent of a client, in any case; or its network
	From    int    `json:"from"`    // of a Move: the first row
	Rows    int    `json:"rows"`    // of a Move: at most mostRows
}

// Answer returns the JSON that answers a question.
func (s *Session) Answer(ctx context.Context, q Request) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var answer any
	var err error
	if q.Action != "" {
		if q.Action, err = s.actionNamed(q.Action); err != nil {
			return nil, err
		}
	}
	switch q.Ask {
	case "suggest":
		var b bytes.Buffer
		err = s.Report.Write(&b, "json")
		return b.Bytes(), err
	case "move":
		answer, err = s.move(ctx, &q)
	case "curve":
		answer, err = s.curve(ctx, &q)
	case "client":
		return s.client(ctx, &q)
	default:
		err = fmt.Errorf("ask %q: want suggest, move, curve or client", q.Ask)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// by returns what limits are to count by.
func (s *Session) by(q *Request) (request.Key, error) {
	key, err := request.ParseKey(cmp.Or(q.By, "client"))
	if err != nil {
		return key, err
	}
	if !slices.Contains(s.keys, key) {
		return key, fmt.Errorf("the log has nothing for the key %s; want one of %s", key, strings.Join(s.Keys(), ", "))
	}
	return key, nil
}

// Keys names what limits may count by.
func (s *Session) Keys() (names []string) {
	return mapped.Add(names, s.keys, request.Key.String)
}

// mostActions is the most actions that are named.
const mostActions = 100

// Actions returns the names that are shown of the actions with most requests.
func (s *Session) Actions() (names []string) {
	ids := mapped.Rows(s.found.Actions, func(n int64) bool { return n > 0 })
	slices.SortStableFunc(ids, func(x, y int32) int { return cmp.Compare(s.found.Actions[y], s.found.Actions[x]) })
	return mapped.Add(names, ids[:min(len(ids), mostActions)], s.tables().ShownAction)
}

// actionNamed returns the name of an action in the log, which may be shown under another.
func (s *Session) actionNamed(shown string) (name string, err error) {
	t := s.tables()
	for id := range int32(t.Actions.Len()) {
		if t.ShownAction(id) == shown {
			return t.Actions.Name(id), nil
		}
	}
	return "", fmt.Errorf("no request is of the action %q", shown)
}

// policy is the limit of a question, for the requests of its action.
func (s *Session) policy(q *Request) ([]policy.Policy, error) {
	by, err := s.by(q)
	if err != nil {
		return nil, err
	}
	policies, err := policy.ParseLimits([]string{q.Limit}, by)
	if err != nil {
		return nil, err
	}
	if len(policies) != 1 {
		return nil, fmt.Errorf("limit %q stands for %d limits; want one", q.Limit, len(policies))
	}
	if policies[0].ByTime() {
		return nil, fmt.Errorf("limit %q goes by how long requests take, which is not kept here; shadow replay judges it",
			q.Limit)
	}
	if q.Action != "" {
		for i := range policies[0].Parts {
			policies[0].Parts[i].Match, policies[0].Parts[i].Count = 1, 1
		}
	}
	return policies, nil
}

// judge replays the limit of a question.
func (s *Session) judge(ctx context.Context, q *Request, o replay.Options, each each) (*replay.Result, error) {
	var err error
	if o.Policies, err = s.policy(q); err != nil {
		return nil, err
	}
	var at int // the batch at hand
	o.Tables, o.Lateness, o.Stop = s.tables(), s.suggest.Read.StepBack(), ctx.Err
	o.Sorted = func(by request.Key) *traffic.Timelines {
		if at < 0 {
			return nil
		}
		return &s.timelines(by)[at]
	}
	engine := replay.New(o)
	if q.Action != s.marked {
		s.marked, s.marks = q.Action, make([][]uint64, len(s.held))
	}
	wanted := match.FindActions(s.tables().Actions, q.Action)
	if err := each(ctx, func(i int, b *traffic.Batch) error {
		at = i
		if q.Action != "" {
			b.Marks = s.marksOf(i, b, wanted)
		}
		return engine.Judge(b)
	}); err != nil {
		return nil, err
	}
	result := engine.Result(s.found.Stats)
	result.Who = s.found.Who
	return result, nil
}

// marksOf returns the marks of batch i: of the requests of an action.
func (s *Session) marksOf(i int, b *traffic.Batch, wanted match.ActionIDs) []uint64 {
	if i >= 0 && s.marks[i] != nil {
		return s.marks[i]
	}
	marks := make([]uint64, b.Len())
	for row, action := range b.Action {
		if wanted.Has(action) {
			marks[row] = 1
		}
	}
	if i >= 0 {
		s.marks[i] = marks
	}
	return marks
}

// crowd returns who sent the requests of a scope.
func (s *Session) crowd(ctx context.Context, of scope) (*crowd, error) {
	if c := s.crowds[of]; c != nil {
		return c, nil
	}
	maps.DeleteFunc(s.crowds, func(other scope, _ *crowd) bool { // they are large
		return other.partial() || other.action != "" && other.action != of.action
	})
	chart := s.stretches()
	c := &crowd{sent: make([]int64, s.tables().Clients.Len()), when: make([]int64, chart.n)}
	wanted := match.FindActions(s.tables().Actions, of.action)
	if err := s.each(ctx, func(_ int, b *traffic.Batch) error {
		for row, client := range b.Client {
			if (of.action == "" || wanted.Has(b.Action[row])) && of.has(b.At[row]) {
				c.sent[client]++
				c.when[chart.at(b.At[row])]++
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for client, n := range c.sent {
		if n > 0 {
			is := s.found.Who.Of(int32(client))
			c.Clients[is]++
			c.Requests[is] += n
		}
	}
	s.crowds[of] = c
	return c, nil
}
