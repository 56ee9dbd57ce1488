package request

import (
	"cmp"
	"fmt"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/mapped"
	"shadow/limit"
)

// A Key is what a limit counts by: requests that are alike in all its parts share a bucket. It is the text that --by
// takes, with the parts in the order of their kinds, so that keys can be compared. The zero Key is by client.
type Key string

// The usual keys.
const (
	ByClient            Key = ""              // each client has a bucket of its own
	ByClientAction      Key = "client+action" // each client has one per action
	ByAction            Key = "action"        // all clients share one per action
	ByHost              Key = "host"          // one per virtual host
	BySite              Key = "site"          // one for everything
	ByClientAgent       Key = "client+agent"  // each client has one per user agent
	ByClient24          Key = "client/24"     // IPv4 clients share one per /24
	ByClient64          Key = "client/64"     // IPv6 clients share one per /64
	ByUser              Key = "user"          // each user has one; a request without a user counts by its client
	ByClientAgentAction Key = "client+agent+action"
	ByClient24Action    Key = "client/24+action"
	ByClient64Action    Key = "client/64+action"
	ByUserAction        Key = "user+action"
	ByClientPath        Key = "client+path" // each client has one per path
)

// UsualKeys lists the keys above.
var UsualKeys = []Key{
	ByClient, ByClientAction, ByAction, ByHost, BySite, ByClientAgent, ByClient24, ByClient64, ByUser,
	ByClientAgentAction, ByClient24Action, ByClient64Action, ByUserAction, ByClientPath,
}

// Keys are the names of the usual keys.
func Keys() []string { return mapped.Of(UsualKeys, Key.String) }

// A PartKind is a kind of what requests can be alike in.
type PartKind uint8

// The kinds of parts, in the order in which they stand in a key.
const (
	PartClient  PartKind = iota
	PartNetwork          // of some bits of the client's address, see Bits; a client without such an address stays alone
	PartASN              // the autonomous system of that address, likewise
	PartCountry          // its country
	PartOwner            // the name of who runs its network
	PartSite             // nothing: stands alone
	PartHost
	PartUser
	PartAgent
	PartPath
	PartSegment // the Nth segment of the path
	PartField   // what the log calls Name
	PartHeader  // of the request
	PartCookie
	PartAction
)

// A Part is one thing that requests can be alike in.
type Part struct {
	Kind   PartKind
	N      int
	N6     int // of networks: the bits of IPv6 addresses, where N are those of IPv4; 0: N says whose they are
	Name   string
	Number bool // it has what requests cost: only numbers count
}

// mostSegments is the last segment of a path that can be a part.
const mostSegments = 16

// partWords are the parts without a number or name, and the beginnings of those with one.
var partWords = []string{
	PartClient: "client", PartNetwork: "client/", PartASN: "asn", PartCountry: "country", PartOwner: "network", PartSite: "site", PartHost: "host", PartUser: "user", PartAgent: "agent",
	PartPath: "path", PartSegment: "segment:", PartField: "field:", PartHeader: "header:", PartCookie: "cookie:",
	PartAction: "action",
}

// PartWords are parts that stand in no usual key alone, or their beginnings.
func PartWords() []string {
	return []string{"agent", "path", "asn", "country", "network", partWords[PartSegment], partWords[PartField], partWords[PartHeader], partWords[PartCookie]}
}

// String is the part as --by takes it.
func (p Part) String() string {
	text := partWords[p.Kind] + p.Name
	if p.N > 0 {
		text += strconv.Itoa(p.N)
	}
	if p.N6 > 0 {
		text += "/" + strconv.Itoa(p.N6)
	}
	return text
}

// v4Bits is the number of bits of an IPv4 address. A network of more bits is one of IPv6.
const v4Bits = 32

// Bits returns how many bits of addresses of IPv4, or of IPv6, make a network; 0: these stay alone.
func (p Part) Bits(four bool) int {
	switch {
	case p.N6 > 0 && !four:
		return p.N6
	case p.N6 == 0 && four != (p.N <= v4Bits):
		return 0
	}
	return p.N
}

// IsValue reports whether a part is a text of the line that not every request has. Without it, a request counts by its
// client.
func (p Part) IsValue() bool { return p.Kind >= PartSegment && p.Kind <= PartCookie }

// IsGroup reports whether a part is a group of clients, by their addresses.
func (p Part) IsGroup() bool { return p.Kind >= PartNetwork && p.Kind <= PartOwner }

// IsOwned reports whether a part is one that only a database of networks tells.
func (p Part) IsOwned() bool { return p.Kind >= PartASN && p.Kind <= PartOwner }

// ParseCost reads the name of the field that has what requests cost: NAME, header:NAME, cookie:NAME or field:NAME.
func ParseCost(text string) (Part, error) {
	p, err := ParsePart(text)
	if p.Kind < PartField || p.Kind > PartCookie {
		p, err = ParsePart(partWords[PartField] + text)
	}
	if err != nil {
		return p, fmt.Errorf("field %q: want a name without blanks, quotes, commas and +, such as bytes, tokens, usage.total_tokens "+
			"or header:X-Cost", text)
	}
	p.Number = true
	return p, nil
}

// ParsePart reads a part of a key.
func ParsePart(text string) (Part, error) {
	for kind, word := range partWords {
		p := Part{Kind: PartKind(kind)}
		rest, begins := strings.CutPrefix(text, word)
		if !begins || rest != "" && word[len(word)-1] != ':' && word[len(word)-1] != '/' {
			continue
		}
		var err error
		switch p.Kind {
		case PartNetwork:
			const want = "want a length of prefixes: 8 to 32 for IPv4, 33 to 128 for IPv6, such as client/24; or both, such as client/24/32"
			four, six, both := strings.Cut(rest, "/")
			if !both {
				p.N, err = number(rest, 8, 128, want)
			} else if p.N, err = number(four, 8, v4Bits, want); err == nil {
				p.N6, err = number(six, 8, 128, want)
			}
		case PartSegment:
			p.N, err = number(rest, 1, mostSegments, fmt.Sprintf("want which segment of the path, from 1 to %d, such as segment:2", mostSegments))
		case PartField, PartHeader, PartCookie:
			p.Name = strings.TrimPrefix(rest, "$")
			if p.Kind == PartHeader {
				p.Name = textproto.CanonicalMIMEHeaderKey(rest)
			}
			if !IsName(p.Name) {
				err = fmt.Errorf("want a name behind the colon, without blanks, quotes, commas and +, such as header:X-Api-Key or field:ja4")
			}
		}
		return p, err
	}
	return Part{}, fmt.Errorf("limits cannot count by %q", text)
}

func number(text string, least, most int, want string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%s", want)
	}
	return n, nil
}

// longestName is the most bytes that the name of a field may have.
const longestName = 200

// IsName reports whether a text can be the name of a field, header or cookie.
func IsName(s string) bool {
	return s != "" && len(s) <= longestName && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c == 0x7f || strings.ContainsRune(`"',+\`, c)
	})
}

// String is the key as --by takes it.
func (k Key) String() string { return cmp.Or(string(k), "client") }

// ParseKey reads what a limit counts by, as --by takes it.
func ParseKey(text string) (Key, error) {
	var parts []Part
	for word := range strings.SplitSeq(text, "+") {
		p, err := ParsePart(word)
		if err != nil {
			return "", fmt.Errorf("key %q: %w", text, unknownPart(text, word, err))
		}
		parts = append(parts, p)
	}
	return joinKey(text, parts)
}

// unknownPart adds to an error what can be a key.
func unknownPart(text, word string, err error) error {
	if strings.ContainsAny(word, ":/") && slices.ContainsFunc(partWords, func(begin string) bool {
		return strings.HasPrefix(word, begin) && begin[len(begin)-1] < 'a'
	}) {
		return err // it is clear what was meant
	}
	if near := otherWords[strings.ToLower(text)]; near != "" {
		return fmt.Errorf("limits cannot count by that (did you mean %q?)", near)
	}
	return fmt.Errorf("limits cannot count by that%s; want one of %s, or parts joined by +, such as client/20, path, segment:2, "+
		"field:ja4, header:X-Api-Key, cookie:session", limit.Hint(text, Keys()), strings.Join(Keys(), ", "))
}

// otherWords are names that other programs have for keys.
var otherWords = map[string]string{
	"ip": "client", "addr": "client", "address": "client", "remote_addr": "client", "user-agent": "agent",
	"useragent": "agent", "url": "path", "uri": "path", "/24": "client/24", "/64": "client/64", "all": "site", "global": "site",
}

// joinKey makes a key of parts.
func joinKey(text string, parts []Part) (Key, error) {
	slices.SortFunc(parts, comparePart)
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p.String()
		switch {
		case p.Kind == PartSite && len(parts) > 1:
			return "", fmt.Errorf("key %q: the site is all requests; leave it out", text)
		case i > 0 && p == parts[i-1]:
			return "", fmt.Errorf("key %q: %s stands in it twice", text, p)
		case i > 0 && p.IsGroup() && (p.Kind == PartNetwork || parts[i-1].Kind == PartClient):
			return "", fmt.Errorf("key %q: of %s and %s, one is a part of the other", text, parts[i-1], p)
		}
	}
	if k := Key(strings.Join(words, "+")); k != "client" {
		return k, nil
	}
	return ByClient, nil
}

func comparePart(p, q Part) int {
	return cmp.Or(cmp.Compare(p.Kind, q.Kind), cmp.Compare(p.N, q.N), cmp.Compare(p.N6, q.N6), cmp.Compare(p.Name, q.Name))
}

// Parts are the parts of the key.
func (k Key) Parts() (parts []Part) {
	for word := range strings.SplitSeq(k.String(), "+") {
		p, err := ParsePart(word)
		if err != nil {
			panic("key " + strconv.Quote(string(k)) + ": " + err.Error()) // only ParseKey makes keys
		}
		parts = append(parts, p)
	}
	return parts
}

// Has reports whether some part of the key is of a kind.
func (k Key) Has(kind PartKind) bool {
	return slices.ContainsFunc(k.Parts(), func(p Part) bool { return p.Kind == kind })
}

// Who is the key without the action that goes with it: client of client+action.
func (k Key) Who() Key {
	if who := strings.TrimSuffix(string(k), "+action"); who != "client" {
		return Key(who)
	}
	return ByClient
}

// Shared reports whether requests of several clients fall into one bucket, so that one is judged by what others do.
func (k Key) Shared() bool { return !k.Has(PartClient) }

// ByActions reports whether the key distinguishes actions.
func (k Key) ByActions() bool { return k.Has(PartAction) }

// ByOwners reports whether the key needs a database of networks.
func (k Key) ByOwners() bool { return slices.ContainsFunc(k.Parts(), Part.IsOwned) }

// ByUsers reports whether the key needs the users of requests.
func (k Key) ByUsers() bool { return k.Has(PartUser) }

// ByPaths reports whether the key needs the paths of requests as a whole.
func (k Key) ByPaths() bool { return k.Has(PartPath) }

// ByHosts reports whether the key needs the hosts of requests.
func (k Key) ByHosts() bool { return k.Has(PartHost) }
