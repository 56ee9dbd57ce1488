package haproxy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/servers/imports/neutral"
)

// A refusal is a rule that refuses, and one way in which it asks for a rate.
type refusal struct {
	rule haproxycfg.Rule
	at   int // which rule of the section it is
	term rateTerm
	how  string
	mark *rateTerm        // with what it marks those that it refuses; nil: it does not
	ban  *haproxycfg.Rule // which then shuts them out; nil: none does
	all  bool             // whether that asks for the address, tracked or not
}

// limit makes limits of a rule that refuses, one for each key and table that it asks for.
func (x *sectionReader) limit(p *neutral.Policy, f refusal) {
	found, before, tables := false, len(p.Limits), []string{}
	for _, number := range slices.Sorted(maps.Keys(x.counters)) {
		for _, counter := range x.counters[number] {
			if !x.asks(f.term, counter, number) || found && f.term.counter == "" {
				continue
			}
			found = true
			f := x.narrowed(f, counter, number)
			some := slices.Contains(counter.rule.Words, "if") || slices.Contains(counter.rule.Words, "unless")
			if f.term.counter != number && some {
				x.Lose(x.place(f.rule), "it refuses also what %s does not count, and only what that counts here", counter.rule.Words[1])
			}
			if f.all && some {
				x.Lose(x.place(*f.ban), "it shuts out of all requests who has a mark, and here of those that %s counts", counter.rule.Words[1])
			}
			text, moves := x.text(f, counter, number)
			for _, key := range counter.keys {
				if text != "" {
					tables = x.put(p, before, tables, f, counter, number, key, text, moves)
				}
			}
		}
	}
	if !found {
		x.Lose(x.place(f.rule), "no rule of this section counts what is asked for: it is left out")
	}
}

// narrowed returns a refusal of those requests alone for which it asks a counter.
func (x *sectionReader) narrowed(f refusal, counter tracked, number string) refusal {
	if f.term.counter != "" && f.term.counter != number { // it is looked up only where that is tracked
		f.term.set = f.term.set.And(x.taken[f.term.counter])
	}
	if counter.in != x.s {
		f.term.set = f.term.set.And(x.s.set)
	}
	return f
}

// text is the limit that a refusal asks of a counter, and which of its requests move that; "": it is told why there is none.
func (x *sectionReader) text(f refusal, counter tracked, number string) (text string, moves neutral.Set) {
	table, rate, most := counter.table, f.term.rate, f.term.most
	period, ok := x.tables[table].Rates[rate]
	if !ok {
		x.Lose(x.place(f.rule), "the table %s stores no %s", table, rate)
		return "", moves
	}
	if f.at < counter.at && f.term.counter != "" {
		x.Lose(x.place(f.rule), "it stands before %s, which tracks what it asks for: it never refuses, and is left out",
			counter.rule.Words[1])
		return "", moves
	}
	if rate == "conn_cur" {
		return x.underWay(f, counter), moves
	}
	period = haproxycfg.Period(period)
	admitted := counter.in == x.s && f.at < counter.moves // the request itself is not counted yet, and a refused one never
	switch rate {
	case "gpc0_rate":
		if moves, ok = x.counts[number]; !ok {
			x.Lose(x.place(f.rule), "no rule of this section counts gpc0 in requests")
			return "", moves
		}
		for other := range x.counts {
			if other != number && slices.ContainsFunc(x.counters[other], func(c tracked) bool {
				return c.table == table && c.by == counter.by
			}) {
				x.Lose(x.place(f.rule), "another slot than sc%s counts gpc0 of that key in the table %s, which is left out", number, table)
			}
		}
		admitted = x.behind(f, x.counted[number])
	case "http_req_rate":
		moves = counter.came
	case "http_err_rate":
		moves = neutral.Within("status", "4xx")
		x.Lose(x.place(f.rule), "what is denied counts as an error there, and here what is logged with a status of 4xx")
	case "http_fail_rate":
		moves, admitted = neutral.Within("status", "5xx").And(neutral.Within("status", "501", "505").Except()), true
	}
	if admitted || rate == "http_err_rate" {
		most++
	}
	if most < 1 {
		x.Lose(x.place(f.rule), "a rate of %d admits nothing", most)
		return "", moves
	}
	text = fmt.Sprintf("haproxy:%d/%s", most, period)
	if admitted {
		text += ",charge=admitted"
	}
	// a counter that stands behind, or that some requests alone move, is not kept by what counts here
	text += x.forgets(counter.rule, table, period, f.at > counter.at && !(admitted && rate == "http_req_rate") && moves.IsAll())
	if f.ban != nil {
		text += x.cooldown(f)
	}
	return text, moves
}

// behind reports whether gpc0 is counted behind the rule that asks for it; counted holds the first and the last rule that
// count it.
func (x *sectionReader) behind(f refusal, counted [2]int) bool {
	behind := f.at < counted[1]
	if behind && counted[0] < f.at {
		x.Lose(x.place(f.rule), "gpc0 is counted before and behind: it is taken to be counted behind")
	}
	return behind
}

// put adds a limit to a policy, or requests to one that the refusal has made in the same table since before.
func (x *sectionReader) put(p *neutral.Policy, before int, tables []string, f refusal, counter tracked, number string, key neutral.KeyCase, text string, moves neutral.Set) []string {
	told, table := fmt.Sprintf("%s %s", x.place(counter.rule), strings.Join(counter.rule.Words, " ")), tableFor(counter, key)
	if k := slices.IndexFunc(p.Limits[before:], func(l neutral.Limit) bool { return l.By == key.By }); k >= 0 && tables[k] == table {
		l := &p.Limits[before+k] // rules that count in one place
		l.Match, l.Count = neutral.Union(l.Match, key.Set.And(f.term.set)), neutral.Union(l.Count, key.Set.And(moves))
		l.Told = slices.Insert(l.Told, 1, told)
		return tables
	}
	l := neutral.Limit{
		Text: text, By: key.By, Match: key.Set.And(f.term.set), Count: key.Set.And(moves),
		Told: []string{told, fmt.Sprintf("%s %s", x.place(f.rule), f.how)},
	}
	if f.ban != nil && f.ban.Line != f.rule.Line {
		l.Told = append(l.Told, fmt.Sprintf("%s %s", x.place(*f.ban), strings.Join(f.ban.Words, " ")))
	}
	_, options, _ := strings.Cut(text, ",")
	x.asked = append(x.asked, table+" "+f.term.rate+","+options)
	place := place{x.s, counter.in, f, counter.moves, table, moves}
	if f.term.rate == "gpc0_rate" {
		place.counted = x.counted[number][0]
	}
	x.places = append(x.places, place)
	p.Limits = append(p.Limits, l)
	return append(tables, table)
}
