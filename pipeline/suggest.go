package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"shadow/policy"
	"shadow/replay"
	"shadow/report/advice"
	"shadow/servers"
	"shadow/suggest"
	"shadow/sweep"
	"shadow/traffic"
	"shadow/traffic/evidence"
	"shadow/traffic/ingest"
)

// A Suggest answers what a limit should be.
type Suggest struct {
	Logs
	Shapes
	Protect    []suggest.Goal // which clients, and which share of them
	Target     []suggest.Set  // which clients to refuse; nil: DefaultTarget, or all if all are protected
	Action     string
	EachAction bool
	Holdout    suggest.Percent // the last share of the requests; 0: none
	Scale      suggest.Scale   // the zero one is 1
	Band       bool
	Output     string
	Again      []string // the flags that say how logs are read, for commands that are proposed

	names   []string // of the logs
	advisor suggest.Advisor
	where   servers.Where   // the client and the log of the limits, without an action
	named   map[string]bool // the actions that the configuration names
}

// DefaultTarget are the clients that a limit is meant for unless somebody says otherwise.
var DefaultTarget = []suggest.Set{1 << suggest.Tools, 1 << suggest.Crawlers, 1 << suggest.Disguised}

// What is promised, and how much of a log is held out to prove it, unless somebody says otherwise.
var (
	DefaultProtect, _ = suggest.ParseGoal("browsers=99.9%")
	DefaultHoldout, _ = suggest.ParsePercent("30%")
)

// SameScale is that of clients that send as much as they did.
var SameScale, _ = suggest.ParseScale("1")

// Run verifies what is asked, reads, chooses, and reports.
func (r *Suggest) Run(ctx context.Context, logs []string) (err error) {
	if err := r.prepareSuggest(logs); err != nil {
		return err
	}
	CollectOften()
	a := &r.advisor
	a.Tables, a.Lateness, a.Rules, a.Band, a.EachAction = r.Read.Tables, r.Read.Lateness, r.Rules, r.Band, r.EachAction
	r.retain = true
	defer func() { err = cmp.Or(err, r.release()) }()
	a.Read = func(do func(*traffic.Batch) error) (ingest.Stats, error) {
		return r.read(ctx, r.Read, func(src replay.Source, _ *ingest.Reader) error { return each(ctx, src, do) })
	}
	a.Again = func(do func(*traffic.Batch) error) error { return r.again(ctx, do) }
	if err := a.Survey(); err != nil {
		return err
	}
	if a.Action, err = r.settle(&a.Found.Stats, "action", r.Action); err != nil {
		return err
	}
	found, err := a.Advise(ctx)
	if err != nil {
		return err
	}
	answers, nginxTold := make([]advice.Answer, len(found)), false
	for i, answer := range found {
		nginx, err := r.nginx(answer, nginxTold)
		if err != nil {
			return err
		}
		nginxTold = nginxTold || nginx != nil
		answers[i] = advice.Answer{Advice: answer, Nginx: nginx, Next: r.next(answer, nginx)}
	}
	o := r.reportOptions(r.warnings(found))
	o.Evidence = r.Rules
	if err := advice.New(a.Found, answers, o).Write(r.Out, r.Output); err != nil {
		return err
	}
	return r.tooManyUnreadable(&a.Found.Stats)
}

// prepareSuggest looks up everything that is named.
func (r *Suggest) prepareSuggest(logs []string) error {
	if err := r.ask(); err != nil {
		return err
	}
	r.Memory.expect(suggestClient)
	r.names, r.Cold = logs, true // neither part of the log is warmed
	if len(r.Kinds) == 0 {
		r.Kinds = []sweep.Kind{sweep.Window, sweep.Fixed, sweep.Token}
	}
	r.advisor.Shapes, r.advisor.HeldOut = r.Shapes.options(), r.Holdout
	err := r.prepare(logs, func(*policy.Config) ([]policy.Policy, error) { return nil, nil })
	if err != nil {
		return err
	}
	if r.Read.Tracer == nil { // page loads are told by traces, too
		if r.Read.Tracer, err = newTracer(evidence.TraceRules{Background: r.Config.Evidence.Background}); err != nil {
			return err
		}
	}
	v4, v6, cut := r.Read.Clients.Prefixes()
	r.where = servers.Where{
		Client: r.Client, Cut: cut, V4: v4, V6: v6,
		ClientFrom: r.ClientFrom, Trusted: r.Read.Clients.Trusted(),
		FromNginx: r.NginxConf != "", Format: r.Format,
	}
	r.named = map[string]bool{}
	for _, a := range r.Config.Actions {
		r.named[a.Name] = true
	}
	r.Read.Band = r.Band
	return nil
}

// ask makes the question. `--protect all` without --target implies `--target all`: no classification is needed.
func (r *Suggest) ask() error {
	q := &r.advisor.Question
	q.Goals, q.Scale = r.Protect, cmp.Or(r.Scale, SameScale)
	target := r.Target
	if target == nil {
		target = DefaultTarget
		if len(q.Goals) > 0 && q.Goals[0].Who == suggest.Everybody {
			target = []suggest.Set{suggest.Everybody}
		}
	}
	for _, who := range target {
		q.Target |= who
	}
	if len(q.Goals) == 0 || q.Target == 0 {
		return Usage("--protect and --target: name at least one group of clients each")
	}
	for _, p := range q.Goals {
		if both := p.Who & q.Target; both != 0 && p.Who != suggest.Everybody && q.Target != suggest.Everybody {
			return Usage("--protect and --target: %s cannot be both", both)
		}
	}
	return nil
}

// ParseHoldout reads the share of the requests on which limits are proven; 0 is none.
func ParseHoldout(text string) (suggest.Percent, error) {
	if strings.TrimSuffix(text, "%") == "0" {
		return 0, nil
	}
	share, err := suggest.ParsePercent(text)
	if err != nil || share.Float() >= 100 {
		return 0, errors.New("want a share from 0 (nothing is held out) to below 100% (something must be left to choose " +
			"limits on), such as 30%")
	}
	return share, nil
}

// warnings are those about logs, and where answers are not what one may think.
func (r *Suggest) warnings(answers []*suggest.Advice) []string {
	s := &r.advisor.Found.Stats
	texts := r.Logs.warnings(s)
	if r.advisor.HeldOut > 0 && !r.advisor.Split && s.Taken() > 0 {
		texts = append(texts, "the log is too short to hold a part of it out: nothing proves what is suggested")
	}
	texts = append(texts, r.anonymousClients()...)
	if r.Config.Exempt.Len() > 0 {
		texts = append(texts, "clients that the configuration exempts are counted like all others")
	}
	texts = append(texts, takenFor(r.Action, r.advisor.Action)...)
	if r.Action != "" && len(answers) == 1 && answers[0].First.Requests == (suggest.Groups{}) && s.Taken() > 0 {
		texts = append(texts, fmt.Sprintf("no request of the first part is of action %q", r.advisor.Action))
	}
	if n := len(r.advisor.Found.Actions); r.EachAction && n > suggest.MostActions {
		texts = append(texts, fmt.Sprintf("of %d actions, the %d with most requests are shown; --action NAME is about "+
			"any", n, suggest.MostActions))
	}
	return texts
}
