package policy

import (
	"net/netip"
	"strings"
)

// A list of a million addresses does not go through the YAML parser, which takes a kilobyte for each. Of a long stretch
// of lines that hold one plain address each, the first stays in the text, and stands for all of them. If they turn out
// to be something else, such as users, the text is read again as a whole.

// bulkLines is the number of lines of such a stretch.
const bulkLines = 1000

// cutBulk takes the stretches out of a text. bulk has what was taken out by the line of what stayed, counted from 1.
func cutBulk(text string) (short string, bulk map[int][]string) {
	if strings.Count(text, "\n") < bulkLines {
		return text, nil
	}
	bulk = map[int][]string{}
	var kept strings.Builder
	line := 0 // of what is kept
	for rest := text; rest != ""; {
		first, after, _ := strings.Cut(rest, "\n")
		line++
		kept.WriteString(first)
		kept.WriteByte('\n')
		rest = after
		indent, _, ok := bulkEntry(first)
		if !ok {
			continue
		}
		var run []string
		for rest != "" {
			next, after, _ := strings.Cut(rest, "\n")
			other, entry, ok := bulkEntry(next)
			if !ok || other != indent {
				break
			}
			run, rest = append(run, entry), after
		}
		if len(run)+1 >= bulkLines {
			bulk[line] = run
			continue
		}
		for _, entry := range run {
			line++
			kept.WriteString(indent + entry + "\n")
		}
	}
	return kept.String(), bulk
}

// bulkEntry is the address or prefix of a line such as "  - 192.0.2.1", and what stands before it. It must be plain in
// YAML too, where a colon at the beginning or the end means something else.
func bulkEntry(line string) (indent, entry string, ok bool) {
	at := strings.IndexFunc(line, func(r rune) bool { return r != ' ' })
	if at < 0 || !strings.HasPrefix(line[at:], "- ") {
		return "", "", false
	}
	indent, entry = line[:at+2], line[at+2:]
	if entry == "" || entry[0] == ':' || entry[len(entry)-1] == ':' {
		return "", "", false
	}
	p, ok := parseNetwork(entry)
	return indent, entry, ok && p == p.Masked()
}

// Owners have the tier of each network. Networks of IPv4 take a third of the room that others do.
type owners struct {
	tiers []string
	four  map[uint64]uint16
	other map[netip.Prefix]uint16
}

// claim gives a network to a tier, unless it has one, which is returned.
func (o *owners) claim(p netip.Prefix, tier string) (owner string, named bool) {
	if len(o.tiers) == 0 || o.tiers[len(o.tiers)-1] != tier {
		o.tiers = append(o.tiers, tier)
	}
	id := uint16(len(o.tiers) - 1)
	if !p.Addr().Is4() {
		return claim(&o.other, p, id, o.tiers)
	}
	b := p.Addr().As4()
	return claim(&o.four, uint64(b[0])<<24|uint64(b[1])<<16|uint64(b[2])<<8|uint64(b[3])|uint64(p.Bits())<<32, id, o.tiers)
}

func claim[K comparable](of *map[K]uint16, key K, id uint16, tiers []string) (owner string, named bool) {
	if owner, named := (*of)[key]; named {
		return tiers[owner], true
	}
	if *of == nil {
		*of = map[K]uint16{}
	}
	(*of)[key] = id
	return "", false
}
