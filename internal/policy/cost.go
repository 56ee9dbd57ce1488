package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shadow/bucket"
	"shadow/internal/request"
	"shadow/limit"
	"shadow/window"
)

// Requests of a limit may cost more than one, or nothing:
//
//	- limit: token:1000/1m
//	  cost:
//	    - {match: {action: export}, points: 20}   # the first that fits
//	    - {field: bytes, per: 1024}               # what is sent, each begun KiB for one; or a number in the line
//
// A request that none fits costs one.

// Costs say what requests cost; nil: each costs one.
type Costs []Cost

// A Cost is what the requests of a scope cost.
type Cost struct {
	Scope  Scope // of all the limit's requests
	Points int64 // of each, if Per is 0
	Per    int64 // how much of the field costs one

	Field request.Part // whose number it is; the zero Part: the bytes sent
	Taken bool         // whether it is the time that a request takes instead, in microseconds
}

// taken are the costs of a limit on requests that are under way.
var taken = Costs{{Per: 1, Taken: true}}

// For returns the index of the cost of a request with these traffic.Batch.Marks; -1: it costs one.
func (c Costs) For(marks uint64) int {
	for i := range c {
		if c[i].Scope.Holds(marks) {
			return i
		}
	}
	return -1
}

// Of returns what a request costs with so much in the field.
func (c *Cost) Of(n int64) int64 {
	switch {
	case c.Per == 0:
		return c.Points
	case n <= 0:
		return 0
	}
	return limit.CeilDiv(n, c.Per)
}

// Scoped reports whether any is of some requests only.
func (c Costs) Scoped() bool {
	return slices.ContainsFunc(c, func(cost Cost) bool { return cost.Scope > 0 })
}

// BySize reports whether requests cost by the bytes sent.
func (p Policy) BySize() bool { return slices.Contains(p.CostFields(), request.Part{}) }

// ByTime reports whether a limit counts requests that are under way, so that it matters how long they take.
func (p Policy) ByTime() bool {
	return slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Spec.UnderWay() })
}

// CostFields are the fields by which requests cost; the zero Part is the bytes sent.
func (p Policy) CostFields() (fields []request.Part) {
	for i := range p.Parts {
		for _, cost := range p.Parts[i].Costs {
			if cost.Per > 0 && !cost.Taken {
				fields = append(fields, cost.Field)
			}
		}
	}
	return fields
}

// Weighed reports whether requests of any limit may cost more than one, or count for as long as they take.
func (p Policy) Weighed() bool {
	return slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Costs != nil })
}

// atCost stands between the requests that a limit counts and what they cost.
const atCost = " at a cost of "

// weighed reports whether requests of the limit may cost more than one. Of one that was stored only the text tells.
func (p *Part) weighed() bool { return strings.Contains(p.CountText, atCost) }

// setCosts gives a limit its costs, of which there are some.
func (p *Part) setCosts(costs Costs, c *Config) error {
	if err := p.weigh(costs); err != nil {
		return err
	}
	texts := make([]string, len(costs))
	all := false
	for i, cost := range costs {
		switch {
		case cost.Per == 0:
			texts[i] = fmt.Sprint(cost.Points)
		case cost.Field.Number && cost.Per == 1:
			texts[i] = "the number in " + cost.Field.String()
		case cost.Field.Number:
			texts[i] = fmt.Sprintf("1 per %d of %s", cost.Per, cost.Field)
		case cost.Per == 1:
			texts[i] = "1 per byte"
		default:
			texts[i] = fmt.Sprintf("1 per %d bytes", cost.Per)
		}
		if text := c.scopeText(cost.Scope); text != "" {
			texts[i] += " for " + text
		}
		all = all || cost.Scope == 0
	}
	if !all {
		texts = append(texts, "else 1")
	}
	p.CountText = cmp.Or(p.CountText, "every request") + atCost + strings.Join(texts, "; ")
	return nil
}

// weigh makes the limiter one whose requests cost so much.
func (p *Part) weigh(costs Costs) error {
	if p.Costs != nil {
		return fmt.Errorf("limit %q: counts requests that are under way, each as one, so it takes no costs", p.Spec)
	}
	weigh := func(l limit.Limiter) (limit.Weigher, bool) {
		if w, ok := bucket.Weigh(l); ok {
			return w, true
		}
		return window.Weigh(l)
	}
	l, ok := weigh(p.Limiter)
	if r, is := p.Limiter.(reweighed); is {
		l, ok = r.reweighed(weigh)
	}
	if !ok {
		return fmt.Errorf("limit %q: each of its requests costs one; costs go with token, window and fixed, "+
			"without debt, refill=step, step, charge=all, cooldown, clock, drift and store", p.Spec)
	}
	p.Limiter, p.Costs = l, costs
	return nil
}

// A reweighed limit is one around another, whose requests may have costs.
type reweighed interface {
	reweighed(weigh func(limit.Limiter) (limit.Weigher, bool)) (limit.Weigher, bool)
}

// reweighed puts the replicas on what weigh makes of the limit.
func (r *replicated) reweighed(weigh func(limit.Limiter) (limit.Weigher, bool)) (limit.Weigher, bool) {
	l, ok := weigh(r.is)
	if !ok {
		return nil, false
	}
	w, ok := replicas{n: r.n, how: r.how, cell: r.cell}.around(l).(limit.Weigher)
	return w, ok
}

// costEntry is one entry of the list.
type costEntry struct {
	Match  list[conditionEntries]
	Points located[text]
	Field  text
	Per    located[text]
}

// readCosts reads what the requests of a limit cost.
func (r *configReader) readCosts(entries list[costEntry]) (costs Costs) {
	for i, e := range entries {
		cost, v := Cost{}, &e.value
		number := func(of located[text]) (n int64) {
			n, _ = strconv.ParseInt(string(of.value), 10, 64) // the schema has checked it
			return n
		}
		if len(v.Match) > 0 {
			cost.Scope = r.scope(e.at, r.groups(v.Match, request.Conditions{}))
		} else if i < len(entries)-1 {
			r.fail(e.at, "what comes behind this has no effect: it fits every request")
		}
		switch {
		case v.Field == "" && v.Per.at != nil:
			r.fail(v.Per.at, "per says how much of a field costs one; it goes with field")
		case v.Field == "":
			cost.Points = number(v.Points)
		default:
			if cost.Per = max(1, number(v.Per)); v.Field != "bytes" {
				cost.Field, _ = request.ParseCost(string(v.Field)) // likewise
			}
		}
		costs = append(costs, cost)
	}
	return costs
}
