package parse

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shadow/limit"
)

// A format may hold the same thing twice: $status and $upstream_status, $msec and $time_local, %h and %a. One variable
// feeds each field, the others are read over.

// chooseTexts lets one variable feed each field and turns the others into skips, but for the time.
func chooseTexts(tokens []token) {
	var best [fieldCount + 1]*token
	for i := range tokens {
		p := &tokens[i]
		if !p.variable() || p.kind == kindSkip || p.kind == kindQuery || p.kind.stamp() {
			continue
		}
		best[kindInfos[p.kind].feeds] = better(best[kindInfos[p.kind].feeds], p)
	}
	for i := range tokens { // what a proxy says of the client beside the address is what it has forwarded
		if p := &tokens[i]; p.kind == kindSkip && p.header != "" {
			p.kind = kindForwarded
			best[FieldForwarded] = better(best[FieldForwarded], p)
		}
	}
	if request := best[FieldMethod]; request != nil && request.kind == kindRequest {
		best[FieldPath].drop()
	}
	chooseQuery(tokens, best[FieldPath])
}

// chooseQuery lets one variable feed the query of a path that lacks it. A whole target has its own; what $args holds
// beside one may have been rewritten since.
func chooseQuery(tokens []token, path *token) {
	lacks := path != nil && path.kind == kindPath && path.key != wholeTarget
	for i := range tokens {
		if p := &tokens[i]; p.kind == kindQuery && lacks {
			lacks = false
		} else if p.kind == kindQuery {
			p.drop()
		}
	}
}

// wholeTarget is the name of a path that has its query.
const wholeTarget = "request_uri"

// fieldKinds are the kinds of variables that Options.Fields can give to others. Times say themselves what they are.
var fieldKinds = map[string]fieldKind{
	"client": kindClient, "user": kindUser, "request": kindRequest, "method": kindMethod, "path": kindPath, "query": kindQuery, "host": kindHost,
	"referer": kindReferer, "agent": kindAgent, "forwarded": kindForwarded, "status": kindStatus, "bytes": kindBytes,
	"request_time": kindSeconds, "request_time_ms": kindMillis, "request_time_us": kindMicros, "upstream_time": kindUpstream,
}

// assign gives the variables that a mapping names the fields that it says, before any other. It passes over names that the
// format does not have: see Format.Unnamed.
func (m FieldMapping) assign(tokens []token) {
	for field, keys := range m {
		kind := fieldKinds[field]
		for rank, key := range keys {
			for i := range tokens {
				p := &tokens[i]
				if kind == kindText || !p.variable() || p.kind.stamp() || p.key != key && !(p.fold && strings.EqualFold(p.key, key)) {
					continue
				}
				if p.kind, p.rank = kind, rank-len(keys); kind != kindForwarded {
					p.header = ""
				}
			}
		}
	}
}

// kindOf is the kind that a mapping gives to a name, or otherwise, unless it gives that to another one.
func (m FieldMapping) kindOf(name string, otherwise fieldKind) fieldKind {
	for field, keys := range m {
		if kind := fieldKinds[field]; slices.Contains(keys, name) {
			return kind
		} else if kind == otherwise {
			otherwise = kindText
		}
	}
	return otherwise
}

// better returns the variable of two that feeds a field, and drops the other one. The first may be nil.
func better(best, p *token) *token {
	if best == nil || p.before(best) {
		p, best = best, p
	}
	p.drop()
	return best
}

// before reports whether p is to be preferred to another variable for the same field. A whole request line is preferred
// to a method, because it holds the path as well.
func (p *token) before(other *token) bool {
	if (p.kind == kindRequest) != (other.kind == kindRequest) {
		return p.kind == kindRequest
	}
	return p.rank < other.rank
}

// drop makes a variable one that is read over.
func (p *token) drop() {
	if p != nil {
		p.kind = kindSkip
	}
}

// chooseStamp settles which stamp, or which parts of one, make the time. The most precise one does.
func chooseStamp(tokens []token) error {
	lacks := missingPart(tokens)
	var base, frac *token
	for i := range tokens {
		p := &tokens[i]
		switch {
		case !p.kind.stamp():
		case p.kind.fractional():
			if frac == nil || p.stampRank() < frac.stampRank() {
				frac = p
			}
		case p.kind == kindStrptime && lacks != "":
		case base == nil || p.stampRank() < base.stampRank():
			base = p
		}
	}
	if base == nil && lacks != "" && lacks != "time" {
		return fmt.Errorf("the time lacks the %s", lacks)
	}
	if base == nil {
		return errNoTime
	}
	for i := range tokens {
		p := &tokens[i]
		p.idle = p.kind.stamp() && !p.serves(base, frac)
	}
	return nil
}

// errNoTime says that a format has no time. Then that of a Wrapping may do.
var errNoTime = errors.New("no time in it, such as $time_local or %t")

// stampRank orders stamps by precision; the beginning of a request is preferred to its end.
func (p *token) stampRank() int {
	if p.end {
		return p.rank + 10
	}
	return p.rank
}

// serves reports whether p is a part of the stamp that base and frac make. A stamp with a fraction of its own needs no
// other.
func (p *token) serves(base, frac *token) bool {
	if p == base {
		return true
	}
	if p.end != base.end {
		return false
	}
	if p.kind.fractional() {
		return p == frac && base.kind != kindEpochMilli && base.kind != kindEpochMicro
	}
	return p.kind == kindStrptime && base.kind == kindStrptime
}

// A twin is a place in Record.Extra that holds the same as another one: a variable may be asked for by several names.
type twin struct{ to, from int }

// nameExtras marks the variables that Options.Extra asks for by name.
func nameExtras(tokens []token, extra []string) (twins []twin, err error) {
	if len(extra) > MaxExtra {
		return nil, fmt.Errorf("%d further fields are wanted, at most %d can be had", len(extra), MaxExtra)
	}
	for i, name := range extra {
		from := -1
		for j := range tokens {
			p := &tokens[j]
			if !p.variable() || !p.answers(name) {
				continue
			}
			if p.extra < 0 {
				p.extra, from = i, -1
				break
			}
			from = p.extra
		}
		if from >= 0 {
			twins = append(twins, twin{i, from})
		}
	}
	return twins, nil
}

// A variable that feeds no field is read over, so that one that is misspelt would leave its field empty without a word:
// of $remote_adr all requests would come from one client. Any name may be one that a server's configuration sets, so a
// name is taken for misspelt only when it is a letter or two off one that feeds a field which the format does not have,
// and no flag asks for it by its name.

// misspelt is the error of the first variable that is likely misspelt, nil if there is none.
func misspelt(tokens []token, isNginx bool) error {
	if !isNginx {
		return nil // Apache's directives are single letters, of which others are errors or have a meaning
	}
	var has [fieldCount + 1]bool
	for i := range tokens {
		if p := &tokens[i]; p.variable() {
			has[kindInfos[p.kind].feeds] = true
			has[FieldPath] = has[FieldPath] || p.kind == kindRequest
		}
	}
	names := slices.Sorted(maps.Keys(nginxVariables))
	for i := range tokens {
		p := &tokens[i]
		if _, known := nginxVariables[p.key]; known || p.kind != kindSkip || p.extra >= 0 {
			continue
		}
		near := limit.Misspelt(p.key, names)
		if near == "" || has[kindInfos[nginxVariables[near].kind].feeds] || nginxVariables[near].kind == kindSkip {
			continue
		}
		return fmt.Errorf("there is no variable %s; did you mean $%s? A variable of your own may have any other name", p.name, near)
	}
	return nil
}
