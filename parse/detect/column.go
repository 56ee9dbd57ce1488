package detect

import (
	"slices"
	"strings"

	"shadow/limit"
	"shadow/parse"
)

// What a column behind the agent is, shows in all its values together:
//
//	"-"  "192.0.2.7, 10.0.0.1"    in quotes, nearly all lists of addresses: $http_x_forwarded_for
//	1767225610.250                within seconds of the stamp:              $msec
//	0.004                         three decimals as nginx writes them:      $request_time
//	0.003  -  "0.001, 0.002"      the same, but it may be missing:          $upstream_response_time

// A column is one field behind the last, over all lines.
type column struct {
	place  int    // from 1
	shape  string // how it is written: `"%s"`, `[%s]` or `%s`
	list   bool   // whether a value went on behind a comma
	values []string
	stamps []limit.Time // of the lines
}

// variables says what each column is, "" where there is doubt.
func (t tail) variables() []string {
	names := make([]string, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		switch {
		case c.forwarded() && !slices.Contains(names, "$http_x_forwarded_for"):
			names[i] = "$http_x_forwarded_for"
		case c.all(c.isMsec) && !slices.Contains(names, "$msec"):
			names[i] = "$msec"
		}
	}
	took, upstream := t.durations()
	if took != nil {
		names[took.place-1] = "$request_time"
	}
	if upstream != nil {
		names[upstream.place-1] = "$upstream_response_time"
	}
	return names
}

// durations finds the column of $request_time, which is never "-" and never less than the upstreams' time, and that
// of $upstream_response_time. With more columns like them, which one is the upstreams' time is unknown.
func (t tail) durations() (took, upstream *column) {
	var all []*column
	for i := range t.columns {
		inMillis := i+1 < len(t.columns) && t.columns[i+1].values[0] == millis
		if c := &t.columns[i]; !inMillis && c.all(c.isDurations) && slices.ContainsFunc(c.values, isLogged) {
			all = append(all, c)
		}
	}
	for _, c := range all {
		if c.all(func(i int) bool { return isMillis(c.values[i]) }) && c.longest(all) {
			took = c
			break
		}
	}
	if took == nil && len(all) != 1 {
		return nil, nil
	}
	rest := slices.DeleteFunc(all, func(c *column) bool { return c == took })
	if len(rest) == 1 {
		upstream = rest[0]
	}
	return took, upstream
}

// longest reports whether a column's durations are nowhere less than another's, but for the rounding of both.
func (c *column) longest(all []*column) bool {
	for _, other := range all {
		for i := range c.values {
			sum, ok := parse.Durations([]byte(other.values[i]), parse.UnitSeconds)
			own, _ := parse.Duration([]byte(c.values[i]), parse.UnitSeconds)
			if !ok || sum > own+2*limit.Millisecond {
				return false
			}
		}
	}
	return true
}

// all reports whether something holds for each value.
func (c *column) all(holds func(i int) bool) bool {
	for i := range c.values {
		if !holds(i) {
			return false
		}
	}
	return len(c.values) > 0
}

// forwarded reports whether a column is X-Forwarded-For. With nothing but "-" in it, it must be the first one, where
// nginx's "main" has it. Clients can write what they like into the header: for each other value there must be
// listsPerOther lists of addresses.
func (c *column) forwarded() bool {
	if c.shape != `"%s"` {
		return false
	}
	lists, others := 0, 0
	for _, value := range c.values {
		switch {
		case isAddressList(value):
			lists++
		case value != "-":
			others++
		}
	}
	if lists == 0 {
		return c.place == 1 && others == 0
	}
	return others*listsPerOther <= lists
}

// listsPerOther is the number of lists of addresses that outweigh a value that is none.
const listsPerOther = 9

// isMsec reports whether a value is the stamp of its line again, to the millisecond.
func (c *column) isMsec(i int) bool {
	if !isMillis(c.values[i]) || len(c.values[i]) < 14 {
		return false
	}
	t, ok := parse.Epoch([]byte(c.values[i]))
	return ok && t-c.stamps[i] < 2*limit.Second && c.stamps[i]-t < 2*limit.Second
}

// isLogged reports whether there is more to a value than "-".
func isLogged(value string) bool { return strings.Trim(value, "-,: ") != "" }

// isDurations reports whether a value is "-" or a list of nginx's durations.
func (c *column) isDurations(i int) bool {
	parts := strings.FieldsFunc(c.values[i], func(r rune) bool { return strings.ContainsRune(",: ", r) })
	return c.values[i] != "" && !slices.ContainsFunc(parts, func(part string) bool {
		return part != "-" && (!isMillis(part) || len(part) > 9)
	})
}
