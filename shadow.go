// Package shadow judges the requests of access logs by rate limits: logs and limits come in; who would be refused, and what
// the limit should be, goes out. It blocks no client and stores nothing. Figures are those of the commands replay, suggest
// and sweep, which docs/report.md defines.
//
//	r, err := shadow.Replay(ctx, shadow.Files("access.log"), shadow.Limit("token:6/30s,burst=10"))
package shadow

import (
	"context"
	"io"
	"time"

	"shadow/internal/pipeline"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// An IncompleteError reports that a part of the logs could not be read. The report of the rest comes with it.
type IncompleteError = pipeline.IncompleteError

// Logs say where requests come from: Files or Reader.
type Logs struct {
	names []string
	in    io.Reader
}

// Files names logs: files, folders, patterns such as access.log.*, plain or compressed. They are merged by time.
func Files(names ...string) Logs { return Logs{names: names} }

// Reader reads one log, plain or compressed, to its end. It is read once, whatever is asked.
func Reader(in io.Reader) Logs { return Logs{[]string{"-"}, in} }

// An Option says what to judge by, or how to read: Limit, Policies, or Options.
type Option interface{ apply(*question) }

// question gathers what options say.
type question struct {
	Options
	limits []string
	config string
}

// Limit is a limit to judge by, as --limit takes it: token:6/30s,burst=10. Without an algorithm (6/30s) it is a token
// bucket, a leaky bucket and a rolling window side by side. Several may be given.
func Limit(texts ...string) Option { return limits(texts) }

type limits []string

func (l limits) apply(q *question) { q.limits = append(q.limits, l...) }

// Policies judges by the policies of a configuration in YAML (docs/policies.md), and reads its actions and exemptions.
func Policies(file string) Option { return config(file) }

type config string

func (c config) apply(q *question) { q.config = string(c) }

// Options say how to read and what to ask. The zero value reads a log in any known format, counts by the client's address,
// and protects and targets the clients that the kind of site suggests.
type Options struct {
	Format     string         // a name, a log_format of nginx or a LogFormat of Apache; "": found by trying
	Timezone   *time.Location // of timestamps that name none; nil: UTC
	Client     string         // what a client is: addr/24, user, header:X-Api-Key …; "": the address
	ClientFrom string         // a header that proxies write, such as x-forwarded-for; "": the peer
	Trusted    []string       // proxies that are believed in it: CIDR, or private
	Exclude    []string       // requests to leave out: 10.0.0.0/8, /health, agent:kube-probe, status:404
	Since      time.Time      // requests from this moment on count; zero: all
	Until      time.Time      // requests before this moment count; zero: all
	By         string         // what limits count by: client+action, user, site …; "": client
	Top        int            // clients in each list; 0: ten

	// Of Suggest alone.
	Protect []string // who must not be hit, and how many of them: browsers=99.9%
	Target  []string // who is to be refused: attackers, programs …
	For     string   // the server whose limit is wanted: nginx, haproxy …; "": the one that writes such a log
	Action  string   // a limit for the requests of this action; "": for all
}

func (o Options) apply(q *question) { q.Options = o }

// ask gathers options, and what all commands have in common.
func ask(from Logs, options []Option) (q *question, logs pipeline.Logs, by request.Key, err error) {
	q = new(question)
	for _, o := range options {
		if o != nil {
			o.apply(q)
		}
	}
	if len(from.names) == 0 || from.in == nil && from.names[0] == "-" {
		return nil, logs, by, pipeline.Usage("which logs? Name Files, or give a Reader")
	}
	if q.By == "" {
		by = request.ByClient
	} else if by, err = request.ParseKey(q.By); err != nil {
		return nil, logs, by, err
	}
	if q.Timezone == nil {
		q.Timezone = time.UTC
	}
	if q.Top == 0 {
		q.Top = 10
	}
	logs.Caller = pipeline.Caller{In: from.in, Out: io.Discard, Err: io.Discard, Started: time.Now()}
	logs.ConfigFile, logs.NoConfig, logs.Quiet, logs.MaxBad, logs.Wanted = q.config, true, true, mostBad, true
	logs.Reading = pipeline.Reading{
		LineFormat: pipeline.LineFormat{Format: q.Format, Timezone: q.Timezone},
		Client:     q.Client, ClientFrom: q.ClientFrom, Trusted: q.Trusted, Exclude: q.Exclude,
		Lateness: ingest.DefaultLateness, Since: moment(q.Since), Until: moment(q.Until),
	}
	return q, logs, by, nil
}

// mostBad is the share of unreadable lines, in percent, above which a log is an error, as of the commands.
const mostBad = 5

func moment(at time.Time) flagvalue.Moment {
	if at.IsZero() {
		return ""
	}
	return flagvalue.Moment(at.Format(time.RFC3339Nano))
}

// Replay judges logs by limits. It returns an error if there is no limit, or if nothing can be read; where a part cannot be
// read, it returns a report of the rest with an IncompleteError.
func Replay(ctx context.Context, from Logs, options ...Option) (*Report, error) {
	q, logs, by, err := ask(from, options)
	if err != nil {
		return nil, err
	}
	r := &pipeline.Replay{Logs: logs}
	r.Limits, r.By, r.Top, r.NoStore = q.limits, by, q.Top, true
	model, err := r.Model(ctx, from.names)
	return reportOf(model), err
}

// Suggest finds the limit that the site should have. It returns an answer with an error where a part cannot be read.
func Suggest(ctx context.Context, from Logs, options ...Option) (*Answer, error) {
	q, logs, _, err := ask(from, options)
	if err != nil {
		return nil, err
	}
	r := &pipeline.Suggest{
		Logs: logs, For: q.For, Action: q.Action, Band: true,
		Holdout: pipeline.DefaultHoldout, Scale: pipeline.SameScale, Recover: suggest.DefaultRecover,
	}
	for _, text := range q.Protect {
		goal, err := suggest.ParseGoal(text)
		if err != nil {
			return nil, err
		}
		r.Protect = append(r.Protect, goal)
	}
	for _, text := range q.Target {
		some, err := who.ParseSet(text)
		if err != nil {
			return nil, err
		}
		r.Target = append(r.Target, some)
	}
	page, err := r.Model(ctx, from.names)
	return answerOf(page), err
}

// Sweep draws what every limit would refuse, and how many clients it would hit. It returns curves with an error where a part
// cannot be read.
func Sweep(ctx context.Context, from Logs, options ...Option) (*Curves, error) {
	q, logs, by, err := ask(from, options)
	if err != nil {
		return nil, err
	}
	r := &pipeline.Sweep{Logs: logs, Shapes: pipeline.Shapes{By: by}, Action: q.Action, Bursts: sweep.DefaultBursts()}
	result, report, err := r.Model(ctx, from.names)
	return curvesOf(result, report), err
}

// NewLimiter returns a limiter alone, as --limit names it: token:6/30s. A limit.State, zero at first, is what it remembers
// of one key:
//
//	var state limit.State
//	refused := limiter.Refuse(nil, &state, times) // indices of the requests that are refused
func NewLimiter(text string) (limit.Limiter, error) {
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		return nil, err
	}
	if len(policies) != 1 || len(policies[0].Parts) != 1 {
		return nil, pipeline.Usage("%q is more than one limit", text)
	}
	if policies[0].ByTime() {
		return nil, pipeline.Usage("%q goes by how long requests take: Replay judges it, with a log that tells", text)
	}
	return policies[0].Parts[0].Limiter, nil
}
