package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/findings"
	"shadow/internal/pipeline/heap"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/advice"
	"shadow/report/keys"
)

// A Suggest answers what a limit should be.
type Suggest struct {
	Logs
	Shapes
	Protect    []suggest.Goal // which clients, and which share of them; nil: by what the site is
	Target     []who.Set      // which clients to refuse; nil: by what the site is, or all if all are protected
	For        string         // the server whose limits are wanted; any: all limits; "": nginx, if the log looks like its own
	Action     string
	EachAction bool
	Holdout    suggest.Percent // the last share of the requests; 0: none
	Scale      suggest.Scale   // the zero one is 1
	Recover    limit.Time      // the longest time in which a limit must forget; 0: any
	Band       bool
	Output     string
	Details    bool     // whether people read all that was tried
	FailIf     []string // conditions on the answer

	Again func(command string) []string // the flags that were given and that a command takes as well; nil: none were

	names   []string // of the logs
	anyKind bool     // whether no kind was asked for: a server has its own
	byLog   bool     // whether For goes by the logs
	advisor suggest.Advisor
	where   servers.Where   // what limits are judged for, of all requests
	named   map[string]bool // the actions that the configuration names

	conditions []*report.Condition // of FailIf
}

// DefaultHoldout is the share of a log that is held out to validate the answer, where no flag says another.
var DefaultHoldout, _ = suggest.ParsePercent("30%")

// SameScale is the scale of clients that send as much as they did.
var SameScale, _ = suggest.ParseScale("1")

// Run verifies what is asked, reads, chooses, and reports.
func (r *Suggest) Run(ctx context.Context, logs []string) (err error) {
	defer func() { err = cmp.Or(err, r.Release()) }()
	page, err := r.find(ctx, logs)
	if err == nil {
		err = page.Write(r.Out, r.Output)
	}
	if err != nil {
		return err
	}
	return errors.Join(r.Incomplete(&r.advisor.Found.Stats), r.held(page.Answers))
}

// Model finds the answer and returns its report. An IncompleteError comes with a report of what was read.
func (r *Suggest) Model(ctx context.Context, logs []string) (page *advice.Report, err error) {
	defer func() { err = cmp.Or(err, r.Release()) }()
	return r.Hold(ctx, logs)
}

// Hold is Model that keeps the requests for further questions until Release.
func (r *Suggest) Hold(ctx context.Context, logs []string) (*advice.Report, error) {
	page, err := r.find(ctx, logs)
	if err != nil {
		return nil, err
	}
	return page, r.Incomplete(&r.advisor.Found.Stats)
}

// Found returns what is known of the clients and actions of the log, once there is an answer.
func (r *Suggest) Found() *replay.Result { return r.advisor.Found }

// KeysThere returns the keys that limits may count by, the client first, once there is an answer.
func (r *Suggest) KeysThere() []request.Key { return r.advisor.Keys }

// find reads and chooses.
func (r *Suggest) find(ctx context.Context, logs []string) (page *advice.Report, err error) {
	if err := r.prepareSuggest(ctx, logs); err != nil {
		return nil, err
	}
	r.severalPasses = true
	found, site, err := r.advise(ctx)
	if err != nil {
		return nil, err
	}
	o := r.reportOptions(r.warnings(found))
	o.Identities = r.Wanted
	why := r.forbids(o.Findings)
	answers, pasted := make([]advice.Answer, len(found)), false
	for i, found := range found {
		if why != "" {
			found.Forbid()
		}
		v := &advice.Verdict{Reason: why, Site: site}
		if answers[i], err = r.answer(ctx, found, v, !pasted); err != nil {
			return nil, err
		}
		pasted = pasted || len(answers[i].Verdict.Paste) > 0
	}
	page = advice.New(r.advisor.Found, answers, o)
	page.Details, page.Doctor = r.Details, r.CommandLine("doctor")
	return page, nil
}

// answer fills in what is known of an answer beside its figures. Lines that a server wants once come with the first.
func (r *Suggest) answer(
	ctx context.Context, found *suggest.Advice, v *advice.Verdict, first bool,
) (a advice.Answer, err error) {
	a, v.For = advice.Answer{Advice: found, Key: r.keyText(), Verdict: v}, cmp.Or(r.For, anyServer)
	v.Most, v.Heavy = r.refusedMost(found)
	if v.OfAction, err = r.ofAction(ctx, found); err != nil {
		return a, err
	}
	if found.Broken != nil {
		v.BrokeOn = r.client(found, *found.Broken)
	}
	if harmed := found.Whole.Harmed; harmed != nil {
		v.Harmed = r.client(found, *harmed)
	}
	err = r.paste(ctx, &a, first)
	v.Next = r.next(v, found)
	return a, err
}

// verifyConditions reads the conditions.
func (r *Suggest) verifyConditions() error {
	for _, text := range r.FailIf {
		c, err := report.ParseAnswerCondition(text)
		if err != nil {
			return Usage("--fail-if %w", err)
		}
		r.conditions = append(r.conditions, c)
	}
	return nil
}

// held returns an error that says which conditions hold of some answer, or nil.
func (r *Suggest) held(answers []advice.Answer) error {
	return held(r.conditions, func(c *report.Condition) (of []string, err error) {
		for i := range answers {
			v := answers[i].Verdict
			s := report.Suggested{Verdict: v.Verdict}
			if v.Limit != nil {
				s.Limit = *v.Limit
			}
			if holds, err := c.HoldsOf(s); err != nil {
				return nil, err
			} else if holds {
				of = append(of, fmt.Sprintf("the verdict %s", v.Verdict))
			}
		}
		return of, nil
	})
}

// advise reads the logs and chooses.
func (r *Suggest) advise(ctx context.Context) (found []*suggest.Advice, site findings.Site, err error) {
	heap.CollectOftenLater()
	a := &r.advisor
	a.Explore = r.Output == "html"
	a.Tables, a.Lateness, a.Band, a.EachAction = r.Read.Tables, r.Read.StepBack(), r.Band, r.EachAction
	a.AllKeys = r.Details
	a.Read = func(do func(*traffic.Batch) error) (ingest.Stats, error) {
		return r.read(ctx, r.Read, func(src replay.Source, _ *ingest.Reader) error { return each(ctx, src, do) })
	}
	a.Who = r.who
	a.Again = func(do func(*traffic.Batch) error) error { return r.again(ctx, do) }
	if err := a.Survey(); err != nil {
		return nil, site, err
	}
	if a.Action, err = r.settle(&a.Found.Stats, "action", r.Action); err != nil {
		return nil, site, err
	}
	if site, err = r.ask(); err != nil {
		return nil, site, err
	}
	a.Keys = r.keysThere()
	found, err = a.Advise(ctx)
	return found, site, err
}

// keysThere are the keys that the log has something for, of those that are tried.
func (r *Suggest) keysThere() []request.Key {
	found := r.advisor.Found
	s := sweep.ClientStats{Users: int64(r.Read.Tables.Users.Len())}
	if found.Stats.HasAgents {
		s.Agents = 1
	}
	addresses := r.Read.Tables.Addresses()
	for id := range int32(found.Clients.Len()) {
		switch {
		case found.Clients.At(id).Requests() == 0:
		case addresses.Is4(id):
			s.IPv4++
		case addresses.Is6(id):
			s.IPv6++
		}
	}
	return slices.DeleteFunc(slices.Clone(keysTried), func(key request.Key) bool { return keys.IsAbsent(key, &s) })
}

// forbids returns the finding that forbids an answer, "" if none does. A user who states the promise may have an answer
// on a log that is short or has few clients.
func (r *Suggest) forbids(all []findings.Finding) string {
	if s := &r.advisor.Found.Stats; s.Lines > 0 && s.Unreadable == s.Lines {
		return "no line could be read: --format says how to read them"
	}
	for i := range all {
		thin := all[i].Code == "few_clients" || all[i].Code == "short_log"
		if all[i].Severity != findings.Stop || r.Protect != nil && thin {
			continue
		}
		found := all[i]
		if r.Anonymizer != nil {
			found = found.Anonymized(r.Anonymizer.Text)
		}
		return found.String()
	}
	return ""
}

// prepareSuggest looks up everything that is named.
func (r *Suggest) prepareSuggest(ctx context.Context, logs []string) error {
	if err := cmp.Or(r.checkGroups(), r.verifyConditions()); err != nil {
		return err
	}
	if r.EachAction && r.Output == "html" {
		return Usage("--output html: a page has one answer; state --action NAME instead of --each-action")
	}
	switch underWay := slices.Contains(r.Kinds, sweep.UnderWay); {
	case underWay && len(r.Kinds) > 1:
		return Usage("--kind conn: ask for it alone: other kinds allow for stamps in whole seconds, and it cannot")
	case underWay && r.Output == "html":
		return Usage("--output html: the page moves limits that have a period; leave out --kind conn, or take another output")
	}
	r.anyKind = len(r.Kinds) == 0
	switch m, err := r.market(); {
	case err != nil:
		return err
	case m.Server != nil && len(m.Shapes()) == 0:
		return Usage("--for %s: it has no limits of such a --kind, --per or --rate; leave them out, or take --for any", r.For)
	}
	if r.anyKind {
		r.Kinds = []sweep.Kind{sweep.Window, sweep.Fixed, sweep.Token}
	}
	r.Memory.expect(suggestClient)
	r.names, r.Asked, r.Cold = logs, r.Action, true // no part of the log is warmed
	r.advisor.HeldOut = r.Holdout
	err := r.Prepare(ctx, logs, func(*policy.Config) ([]policy.Policy, error) { return r.underWay(r.Band) })
	if err != nil {
		return err
	}
	v4, v6, cut := r.Read.Clients.Prefixes()
	r.where = servers.Where{
		Client: r.Client, Cut: cut, V4: v4, V6: v6,
		ClientFrom: r.ClientFrom, Trusted: r.Read.Clients.Trusted(),
		FromNginx: r.NginxConf != "", Format: r.Format,
	}
	if r.where.Within, err = servers.ReadWithin("nginx", r.NginxConf); err != nil {
		return Usage("--nginx-conf: %w", err)
	}
	r.named = map[string]bool{}
	for _, a := range r.Config.Actions {
		r.named[a.Name] = true
	}
	r.Read.Band = r.Band
	r.Read.Users, r.Read.NoUsers = true, true // limits by user may reach what others do not
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

// warnings returns the warnings about logs, and says where answers are not what one may think.
func (r *Suggest) warnings(answers []*suggest.Advice) []string {
	s := &r.advisor.Found.Stats
	texts := append(r.Logs.warnings(s), r.countsRequests()...)
	if r.advisor.HeldOut > 0 && !r.advisor.Split && s.Taken() > 0 {
		texts = append(texts, "the log is too short to hold a part of it out: nothing proves what is suggested")
	}
	texts = append(texts, r.anonymousClients()...)
	if r.exemptsVisitors() {
		texts = append(texts, "clients that the configuration exempts are counted like all others")
	}
	texts = append(texts, r.takenFor("action", r.Action, r.advisor.Action)...)
	if r.Action != "" && len(answers) == 1 && answers[0].Parts[suggest.First].Requests == (who.Groups{}) && s.Taken() > 0 {
		texts = append(texts, fmt.Sprintf("no request of the first part is of action %q", r.advisor.Action))
	}
	if n := len(r.advisor.Found.Actions); r.EachAction && n > suggest.MostActions {
		texts = append(texts, fmt.Sprintf("of %d actions, the %d with most requests are shown; --action NAME is about "+
			"any", n, suggest.MostActions))
	}
	return texts
}

// exemptsVisitors reports whether the configuration exempts clients that answers do not leave out anyway.
func (r *Suggest) exemptsVisitors() bool {
	exempt := &r.Config.Exempt
	if r.who() == nil || len(exempt.Networks) < exempt.Len() { // by their users or fields
		return exempt.Len() > 0
	}
	return slices.ContainsFunc(exempt.Networks, func(name string) bool {
		id, known := r.Read.Tables.Clients.Find([]byte(name))
		return !known || !who.Bystander.Has(r.who().Of(id))
	})
}
