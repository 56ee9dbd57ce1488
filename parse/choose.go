package parse

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shadow/limit"
)

// A format may tell the same thing twice: $status and $upstream_status, $msec and $time_local, %h and %a. One variable
// feeds each field, the others are read over.

// choose lets one variable feed each field and turns the others into skips.
func choose(pieces []piece) error {
	chooseTexts(pieces)
	return chooseStamp(pieces)
}

// chooseTexts settles everything but the time.
func chooseTexts(pieces []piece) {
	var best [fieldCount + 1]*piece
	for i := range pieces {
		p := &pieces[i]
		if !p.variable() || p.use == useSkip || p.use.stamp() {
			continue
		}
		feeds := kinds[p.use].feeds
		if best[feeds] == nil || p.before(best[feeds]) {
			p, best[feeds] = best[feeds], p
		}
		p.drop()
	}
	if request := best[FieldMethod]; request != nil && request.use == useRequest {
		best[FieldPath].drop()
	}
}

// before reports whether p is to be preferred to another variable for the same field. A whole request line is preferred
// to a method, because it tells the path as well.
func (p *piece) before(other *piece) bool {
	if (p.use == useRequest) != (other.use == useRequest) {
		return p.use == useRequest
	}
	return p.rank < other.rank
}

// drop makes a variable one that is read over.
func (p *piece) drop() {
	if p != nil {
		p.use = useSkip
	}
}

// chooseStamp settles which stamp, or which parts of one, tell the time. The most precise one does.
func chooseStamp(pieces []piece) error {
	lacks := missingPart(pieces)
	var base, frac *piece
	for i := range pieces {
		p := &pieces[i]
		switch {
		case !p.use.stamp():
		case p.use.fractional():
			if frac == nil || p.stampRank() < frac.stampRank() {
				frac = p
			}
		case p.use == useLayout && lacks != "":
		case base == nil || p.stampRank() < base.stampRank():
			base = p
		}
	}
	if base == nil && lacks != "" && lacks != "time" {
		return fmt.Errorf("the time lacks the %s", lacks)
	}
	if base == nil {
		return errors.New("no time in it, such as $time_local or %t")
	}
	for i := range pieces {
		p := &pieces[i]
		p.idle = p.use.stamp() && !p.serves(base, frac)
	}
	return nil
}

// stampRank orders stamps by precision; the beginning of a request is preferred to its end.
func (p *piece) stampRank() int {
	if p.end {
		return p.rank + 10
	}
	return p.rank
}

// serves reports whether p is a part of the stamp that base and frac make. A stamp with a fraction of its own needs no other.
func (p *piece) serves(base, frac *piece) bool {
	if p == base {
		return true
	}
	if p.end != base.end {
		return false
	}
	if p.use.fractional() {
		return p == frac && base.use != useEpochMilli && base.use != useEpochMicro
	}
	return p.use == useLayout && base.use == useLayout
}

// missingPart names what the layouts of a format lack to tell the time, "time" when there are none.
func missingPart(pieces []piece) string {
	var layouts []layout
	for i := range pieces {
		if pieces[i].use == useLayout {
			layouts = append(layouts, pieces[i].layout)
		}
	}
	if layouts == nil {
		return "time"
	}
	return missing(layouts)
}

// nameExtras marks the variables that Wants.Extra asks for by name.
func nameExtras(pieces []piece, extra []string) error {
	if len(extra) > MaxExtra {
		return fmt.Errorf("%d further fields are wanted, at most %d can be had", len(extra), MaxExtra)
	}
	for i, name := range extra {
		for j := range pieces {
			p := &pieces[j]
			if p.variable() && p.extra < 0 && (p.key == name || p.fold && strings.EqualFold(p.key, name)) {
				p.extra = i
				break
			}
		}
	}
	return nil
}

// A variable that feeds no field is read over, so that one that is misspelt would leave its field empty without a word: of
// $remote_adr all requests would come from one client. Any name may be one that a server's configuration sets, so a name is
// taken for misspelt only when it is a letter or two off one that feeds a field which the format does not have, and nobody asks
// for it by its name.

// misspelt is the error of the first variable that is likely misspelt, nil if there is none.
func misspelt(pieces []piece, isNginx bool) error {
	if !isNginx {
		return nil // Apache's directives are single letters, of which others are errors or have a meaning
	}
	var has [fieldCount + 1]bool
	for i := range pieces {
		if p := &pieces[i]; p.variable() {
			has[kinds[p.use].feeds] = true
			has[FieldPath] = has[FieldPath] || p.use == useRequest
		}
	}
	names := slices.Sorted(maps.Keys(nginxVariables))
	for i := range pieces {
		p := &pieces[i]
		if _, known := nginxVariables[p.key]; known || p.use != useSkip || p.extra >= 0 {
			continue
		}
		near := limit.Misspelt(p.key, names)
		if near == "" || has[kinds[nginxVariables[near].use].feeds] || nginxVariables[near].use == useSkip {
			continue
		}
		return fmt.Errorf("there is no variable %s; did you mean $%s? A variable of your own may have any other name", p.name, near)
	}
	return nil
}
