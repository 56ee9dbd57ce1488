package report

import (
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/report/table"
)

// Each figure is declared once, here. The declarations make the head and the cells of CSV, what conditions may name,
// shadow help fail-if, and the list in docs/nightly.md.

// A Figure is one figure, or several that are alike.
type Figure struct {
	Names []string
	Unit  Unit
	Help  string
	Scope Scope

	rows rows // of CSV in which it stands; 0: none
	asks bool // whether conditions may name it
	who  bool // whether it is known only where it is known who the clients are
	// of name i: an int64, a float64, a string, a bool or a moment; nil: not known, or none
	of func(t *source, i int) any
}

// A Unit is what a figure counts in.
type Unit string

// The units.
const (
	Requests Unit = "requests"
	Clients  Unit = "clients"
	Lines    Unit = "lines"
	Bytes    Unit = "bytes"
	Seconds  Unit = "seconds"
	Share    Unit = "share" // from 0 to 1
	Number   Unit = "number"
	Word     Unit = "text"
	Flag     Unit = "true or false"
)

// A Scope says where figures are known.
type Scope uint8

// The scopes.
const (
	Always         Scope = iota
	WithIdentities       // where it is known who the clients are
	WithHistory          // where runs or policies are compared
	WithRuns             // where runs are compared
	WithVerdict          // where a limit is suggested
	scopeCount
)

// rows is a set of kinds of rows of CSV.
type rows uint8

const (
	ofInput  rows = 1 << iota // the row of the input
	ofPolicy                  // rows of policies
	ofGroup                   // rows of some clients of a policy, such as a class
	byHand                    // rows of clients, actions and so on, which set their cells themselves
)

// source holds what the figures of a row are taken from.
type source struct {
	model   *Model
	policy  *Policy
	history *history.Policy // nil: none
	group   *group          // the clients that the row is about
	answer  Suggested       // the zero one: none
}

// Suggested holds what a condition on a suggestion may ask.
type Suggested struct {
	Verdict string // deploy, deploy_unproven, ceiling, no_limit_can or not_judgeable
	Limit   string // "": none
}

// A group is some clients, with what a policy does to them.
type group struct {
	ClassFigures
	Band  *BandFigures // nil: none
	Pages *Pages       // nil: not counted
}

// columns are the figures that CSV has, in its order. Rows of clients, actions and so on set their cells by hand.
func columns() []Figure {
	const all = ofInput | ofPolicy | ofGroup
	return []Figure{
		figure("policy", Word, "name of the policy, as in the report",
			func(t *source) any { return t.policy.Policy }).in(byHand).asked(),
		figure("by", Word, "what it counts by", func(t *source) any { return t.policy.By }).in(byHand).asked(),
		label("level"), label("name"), label("class"),
		part("requests", Requests, "requests judged", all, func(g *group) any { return g.Requests }).asked(),
		part("refused", Requests, "requests refused", ofPolicy|ofGroup, func(g *group) any { return g.Refused }).asked(),
		figure("refused_share", Share, "of the requests",
			func(t *source) any { return t.policy.RefusedPercent / 100 }).asked(),
		part("clients", Clients, "clients with a request", all, func(g *group) any { return g.Clients }).asked(),
		part("clients_hit", Clients, "clients with a refused request", ofPolicy|ofGroup,
			func(g *group) any { return g.ClientsHit }).asked(),
		figure("clients_hit_share", Share, "of the clients",
			func(t *source) any { return t.policy.ClientsHitPercent / 100 }).asked(),
		label("first_refused"), label("last_refused"),
		maybe("worst_minute", Word, "start of the minute with most refusals", worstMinute, func(m *Minute) any { return m.Start }),
		maybe("worst_minute_refused", Requests, "refused in the minute with most refusals", worstMinute,
			func(m *Minute) any { return m.Refused }).asked(),
		whole("bytes_saved", Bytes, "bytes that the refused requests were answered with",
			func(p *Policy) any { return p.BytesSaved }).asked(),
		maybe("upstream_seconds_saved", Seconds, "time that upstreams spent on the refused requests",
			func(p *Policy) *float64 { return p.UpstreamSecondsSaved }, func(s *float64) any { return *s }),
		label("agent"),
		input("lines", Lines, "lines read", func(in *Input) int64 { return in.Lines }).asked(),
		input("parsed", Lines, "lines that could be read", func(in *Input) int64 { return in.Parsed }),
		input("unreadable", Lines, "lines that could not be read", func(in *Input) int64 { return in.Unreadable }).asked(),
		figure("unreadable_share", Share, "of the lines",
			func(t *source) any { return t.model.Input.UnreadablePercent / 100 }).asked(),
		input("excluded", Requests, "requests that --exclude leaves out", func(in *Input) int64 { return in.Excluded }),
		input("warm", Requests, "requests before --since", func(in *Input) int64 { return in.Warm }),
		input("late", Requests, "requests that came later than --lateness allows",
			func(in *Input) int64 { return in.Late }).asked(),
		input("already_refused", Requests, "requests that the server itself answered with 429 or 503",
			func(in *Input) int64 { return in.AlreadyRefused }).in(0).asked(),
		whole("delayed", Requests, "requests that had to wait", func(p *Policy) any {
			return known(p.Delay, func(*Delay) any { return p.Delayed })
		}).asked(),
		maybe("delay_total_seconds", Seconds, "how long they waited", delay, func(d *Delay) any { return d.Total }),
		maybe("delay_p50_seconds", Seconds, "half of them at most", delay, func(d *Delay) any { return d.P50 }),
		maybe("delay_p99_seconds", Seconds, "99 % of them at most", delay, func(d *Delay) any { return d.P99 }),
		ends("refused", Requests, "of an approximation", ofPolicy, func(t *source) *[2]int64 {
			return field(t.policy.Range, func(r *Range) *[2]int64 { return &r.Refused })
		}),
		ends("clients_hit", Clients, "of an approximation", ofPolicy, func(t *source) *[2]int64 {
			return field(t.policy.Range, func(r *Range) *[2]int64 { return &r.ClientsHit })
		}),
		ends("band_refused", Requests, "with --band", ofPolicy|ofGroup, func(t *source) *[2]int64 {
			return field(t.group.Band, func(b *BandFigures) *[2]int64 { return &b.Refused })
		}),
		ends("band_clients_hit", Clients, "with --band", ofPolicy|ofGroup, func(t *source) *[2]int64 {
			return field(t.group.Band, func(b *BandFigures) *[2]int64 { return &b.ClientsHit })
		}),
		part("page_views", Requests, "page views", ofPolicy|ofGroup, func(g *group) any {
			return known(g.Pages, func(p *Pages) any { return p.PageViews })
		}),
		part("page_views_broken", Requests, "of these, broken", ofPolicy|ofGroup, func(g *group) any {
			return known(g.Pages, func(p *Pages) any { return p.Broken })
		}),
		maybe("longest_lockout_seconds", Seconds, "the longest time in which all of a client's requests were refused",
			func(p *Policy) *Streak { return field(p.Harm, func(h *Harm) *Streak { return h.Lockout }) },
			func(s *Streak) any { return s.Seconds }),
		maybe("most_admitted_in_an_hour", Requests, "the most that one client is admitted in an hour",
			func(p *Policy) *Streak { return field(p.Harm, func(h *Harm) *Streak { return h.Busiest }) },
			func(s *Streak) any { return s.Requests }),
		label("identity"),
		whole("degraded", Requests, "requests judged while Redis was away, or slower than the log grew",
			func(p *Policy) any { return p.Degraded }).asked(),
		whole("degraded_refused", Requests, "refused ones of these", func(p *Policy) any { return p.DegradedRefused }),
		input("not_http", Lines, "lines whose request is not HTTP", func(in *Input) int64 { return in.NotHTTP.Lines }),
		input("moved", Requests, "requests judged when they began", func(in *Input) int64 { return in.Moved }),
		maybe("requests_refused_share_of_worst_client", Share, "of the refused requests: those of the client with most",
			func(p *Policy) *float64 { return p.WorstClientShare }, func(s *float64) any { return *s }).asked(),
	}
}

// Figures are all that conditions may name, in the order in which they are listed.
func Figures() []Figure {
	of := slices.DeleteFunc(columns(), func(f Figure) bool { return !f.asks })
	classes := clientFigures(Always, classNames(""), "clients of the class that most of their requests claim",
		func(t *source, class int) ClassFigures { return t.policy.ByClass[class] })
	return slices.Concat(of, classes, identityFigures(), historyFigures(), answerFigures())
}

// figure is a figure of its own.
func figure(name string, unit Unit, help string, of func(t *source) any) Figure {
	return Figure{Names: []string{name}, Unit: unit, Help: help, of: func(t *source, _ int) any { return of(t) }}
}

// input is a figure of what was read.
func input(name string, unit Unit, help string, of func(*Input) int64) Figure {
	return figure(name, unit, help, func(t *source) any { return of(&t.model.Input) }).in(ofInput)
}

// whole is a figure of a policy as a whole.
func whole(name string, unit Unit, help string, of func(*Policy) any) Figure {
	return figure(name, unit, help, func(t *source) any { return of(t.policy) }).in(ofPolicy)
}

// part is a figure of all clients, or some.
func part(name string, unit Unit, help string, in rows, of func(*group) any) Figure {
	return figure(name, unit, help, func(t *source) any { return of(t.group) }).in(in)
}

// in returns the figure as a column of CSV that has cells in some rows.
func (f Figure) in(r rows) Figure {
	f.rows = r
	return f
}

// asked returns the figure as one that conditions may name.
func (f Figure) asked() Figure {
	f.asks = true
	return f
}

// label is a column that tells what a row is about.
func label(name string) Figure { return Figure{Names: []string{name}, Unit: Word, rows: byHand} }

// ends are the least and the most that a figure may be.
func ends(name string, unit Unit, help string, in rows, of func(t *source) *[2]int64) Figure {
	return Figure{
		Names: []string{name + "_low", name + "_high"}, Unit: unit, Help: help, rows: in,
		of: func(t *source, i int) any { return known(of(t), func(r *[2]int64) any { return r[i] }) },
	}
}

// maybe is a figure of what there may be of a policy.
func maybe[T any](name string, unit Unit, help string, what func(*Policy) *T, of func(*T) any) Figure {
	return whole(name, unit, help, func(p *Policy) any { return known(what(p), of) })
}

func worstMinute(p *Policy) *Minute { return p.WorstMinute }

func delay(p *Policy) *Delay { return p.Delay }

// known returns a figure of what there may be, nil without it.
func known[T any](p *T, of func(*T) any) any {
	if p == nil {
		return nil
	}
	return of(p)
}

// field returns a part of what there may be.
func field[T, U any](p *T, of func(*T) *U) *U {
	if p == nil {
		return nil
	}
	return of(p)
}

// identityFigures returns the figures by who the clients are.
func identityFigures() []Figure {
	all := namedIdentities()
	figures := clientFigures(WithIdentities, identityNames(""), "clients of the identity",
		func(t *source, i int) ClassFigures {
			if t.policy.ByIdentity == nil {
				return ClassFigures{}
			}
			return t.policy.ByIdentity[all[i]]
		})
	for i := range figures {
		figures[i].who = true
	}
	return figures
}

// namedIdentities returns those that conditions may name. Where a class has the same word, crawlers say, it means the
// class: conditions that were written before go on to ask the same, and are known of tails as well.
func namedIdentities() (all []who.Identity) {
	classes := classNames("")
	for is := range who.Count {
		if !slices.Contains(classes, is.String()) {
			all = append(all, is)
		}
	}
	return all
}

// identityNames returns what conditions call the clients of each identity that they may name.
func identityNames(prefix string) (names []string) {
	return mapped.Add(names, namedIdentities(), func(is who.Identity) string { return prefix + is.String() })
}

// clientFigures are the same figures of some groups of clients.
func clientFigures(scope Scope, names []string, who string, of func(t *source, group int) ClassFigures) []Figure {
	figure := func(suffix string, unit Unit, help string, value func(ClassFigures) any) Figure {
		all := mapped.Of(names, func(name string) string { return name + suffix })
		return Figure{
			Scope: scope, Names: all, Unit: unit, Help: help, asks: true,
			of: func(t *source, i int) any { return value(of(t, i)) },
		}
	}
	return []Figure{
		figure("", Clients, who, func(f ClassFigures) any { return f.Clients }),
		figure("_hit", Clients, "of these, hit", func(f ClassFigures) any { return f.ClientsHit }),
		figure("_hit_share", Share, "of these clients",
			func(f ClassFigures) any { return format.ShareOf(f.ClientsHit, f.Clients) }),
		figure("_refused", Requests, "requests refused to them", func(f ClassFigures) any { return f.Refused }),
		figure("_refused_share", Share, "of their requests",
			func(f ClassFigures) any { return format.ShareOf(f.Refused, f.Requests) }),
	}
}

// answerFigures returns the figures of an answer.
func answerFigures() []Figure {
	verdict := figure("verdict", Word, "deploy, deploy_unproven, ceiling, no_limit_can or not_judgeable",
		func(t *source) any { return t.answer.Verdict }).asked()
	limit := figure("limit", Word, "the limit as --limit takes it; empty: none", func(t *source) any { return t.answer.Limit }).asked()
	verdict.Scope, limit.Scope = WithVerdict, WithVerdict
	return []Figure{verdict, limit}
}

// classNames returns what conditions call the clients of each class.
func classNames(prefix string) (names []string) {
	for class := range request.ClassCount {
		names = append(names, prefix+ClassTitle(class))
	}
	return names
}

// cell is a figure in CSV.
func cell(figure any) table.Cell {
	switch v := figure.(type) {
	case int64:
		return table.Count(v)
	case float64:
		return table.Shown("", format.PlainSeconds(v))
	case string:
		return table.Text(v)
	case format.Moment:
		return table.Text(v.String())
	}
	return table.Cell{}
}

// value is the figure in a condition, in which what is not known counts as nothing.
func (f *Figure) value(t *source, i int) any {
	if v := f.of(t, i); v != nil {
		return v
	}
	switch f.Unit {
	case Share, Seconds:
		return 0.0
	case Word:
		return ""
	}
	return int64(0)
}
