package match

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"shadow/parse"
)

// A ClientRule says who a client is. The zero rule takes the address of the peer as it was logged.
//
//	addr              the address, or the host name, as logged; but ::ffff:192.0.2.7 is 192.0.2.7
//	addr/24           IPv4 addresses by /24; IPv6 stays whole
//	addr/64           IPv6 addresses by /64, as any length beyond 32; IPv4 stays whole
//	addr/24,/64       IPv4 by /24, IPv6 by /64
//	user              the authenticated user
//	header:X-Api-Key  a request header that the format logs
//	session           any other field of the line: an nginx variable, a JSON key
//
// A request without what the rule asks for counts as the client "-". If no log has it, that is an error, other than for
// the address as logged.
type ClientRule struct {
	text   string
	source clientSource
	v4, v6 int    // bits that are kept of an address, if prefix
	prefix bool   // whether addresses are cut
	extra  string // what to ask of the parser, "": nothing

	forwarded bool           // whether the address comes from a list that proxies wrote
	trusted   []netip.Prefix // whose entries in that list are believed
}

// A clientSource is the part of a record that tells the client.
type clientSource uint8

const (
	fromAddress clientSource = iota
	fromUser
	fromHost
	fromAgent
	fromReferer
	fromExtra
)

// usualFields are the names of fields that every record has.
var usualFields = map[string]clientSource{
	"user": fromUser, "remote_user": fromUser,
	"host":  fromHost,
	"agent": fromAgent, "http_user_agent": fromAgent,
	"referer": fromReferer, "http_referer": fromReferer,
}

// sourceFields holds the field that a format must have for each source.
var sourceFields = map[clientSource]parse.Field{
	fromAddress: parse.FieldClient,
	fromUser:    parse.FieldUser,
	fromHost:    parse.FieldHost,
	fromAgent:   parse.FieldAgent,
	fromReferer: parse.FieldReferer,
}

// ParseClientRule reads the flags --client, --client-from and --trusted-proxy; each may be empty.
//
// from is the header in which proxies pass the address on, such as x-forwarded-for. Of its list and the peer behind
// it, read from the right, the first address that is not in trusted is the client. trusted holds addresses, prefixes,
// or "private" for all networks that are not on the public internet.
func ParseClientRule(client, from string, trusted []string) (ClientRule, error) {
	r := ClientRule{text: client}
	var err error
	if name, _, _ := strings.Cut(client, "/"); client == "" || name == "addr" {
		err = r.parsePrefixes(strings.TrimPrefix(client, "addr"))
	} else if source, ok := usualFields[client]; ok {
		r.source = source
	} else if r.extra, ok = fieldName(client); ok {
		r.source = fromExtra
	} else {
		err = fmt.Errorf("client %q: want addr, addr/24,/64, user, header:NAME or the name of a field of the line", client)
	}
	if err == nil {
		err = r.parseFrom(from, trusted)
	}
	if err != nil {
		return ClientRule{}, err
	}
	return r, nil
}

// String returns the rule as --client takes it.
func (r ClientRule) String() string {
	if r.text == "" {
		return "addr"
	}
	return r.text
}

// Extra returns the names that must stand at the beginning of parse.Options.Extra for the rule to work.
func (r ClientRule) Extra() []string {
	if r.extra == "" {
		return nil
	}
	return []string{r.extra}
}

// plain reports whether the client is the address as logged.
func (r *ClientRule) plain() bool { return r.source == fromAddress && !r.prefix && !r.forwarded }

// IsAddress reports whether a client is an address, or a part of one, or the name of a host.
func (r *ClientRule) IsAddress() bool { return r.source == fromAddress }

// Lacks names what the rule goes by and a format does not have, or is empty.
func (r *ClientRule) Lacks(f *parse.Format) string {
	switch {
	case r.extra != "" && f.HasExtra(0):
	case r.extra != "":
		return strings.TrimPrefix(r.extra, "header:")
	case r.forwarded && (!f.Has(parse.FieldForwarded) || f.ForwardedBy() != forwardedFor):
		return forwardedFor
	case !r.plain() && !r.forwarded && !f.Has(sourceFields[r.source]):
		return r.text
	}
	return ""
}

// parsePrefixes reads what follows "addr": nothing, "/24", "/24,/64".
func (r *ClientRule) parsePrefixes(s string) error {
	if s == "" {
		return nil
	}
	v4, v6, both := strings.Cut(s, ",")
	switch length, ok := prefixLength(v4, 128); {
	case !both && ok && length > 32: // which only IPv6 has
		v4, v6 = "/32", v4
	case !both:
		v6 = "/128"
	}
	r.prefix = true
	var ok4, ok6 bool
	r.v4, ok4 = prefixLength(v4, 32)
	r.v6, ok6 = prefixLength(v6, 128)
	if !ok4 || !ok6 {
		return fmt.Errorf("client %q: want addr, addr/24, addr/64 or addr/24,/64", r.text)
	}
	return nil
}

// prefixLength reads "/24".
func prefixLength(s string, most int) (int, bool) {
	digits, ok := strings.CutPrefix(s, "/")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && n <= most && digits[0] != '+' && digits[0] != '-'
}

// fieldName returns the name in parse.Options.Extra of a field or, as header:NAME, a header; false if there can be none
// such. A field may be written as --by has it, field:NAME.
func fieldName(s string) (name string, ok bool) {
	name = strings.TrimPrefix(strings.TrimPrefix(s, "$"), "field:")
	return name, s != "header" && isFieldName(strings.TrimPrefix(name, "header:"))
}

// isFieldName reports whether a name can be that of a field: visible characters, no quotes or separators.
func isFieldName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c == 0x7f || strings.ContainsRune(`"',/\`, c)
	})
}

// forwardedFor is the header whose name most proxies keep to.
const forwardedFor = "x-forwarded-for"

// parseFrom reads --client-from and --trusted-proxy.
func (r *ClientRule) parseFrom(from string, trusted []string) error {
	switch {
	case from == "" && len(trusted) == 0:
		return nil
	case from == "":
		return fmt.Errorf("trusted-proxy goes with --client-from: which header names the client? (x-forwarded-for)")
	case r.source != fromAddress:
		return fmt.Errorf("client %q does not come from an address: leave out --client-from %s", r.text, from)
	case len(trusted) == 0:
		return fmt.Errorf("client-from %q: say with --trusted-proxy whose word counts (an address, a prefix, or private)", from)
	case !isFieldName(from):
		return fmt.Errorf("client-from %q: not the name of a header", from)
	}
	r.forwarded = true
	if !strings.EqualFold(from, forwardedFor) {
		r.extra = "header:" + from
	}
	for _, s := range trusted {
		prefixes, err := parseNetworks(s)
		if err != nil {
			return fmt.Errorf("trusted-proxy %w", err)
		}
		r.trusted = append(r.trusted, prefixes...)
	}
	return nil
}

// Prefixes returns the bits that are kept of IPv4 and IPv6 addresses; false if whole ones are, or the client is no
// address.
func (r ClientRule) Prefixes() (v4, v6 int, cut bool) { return r.v4, r.v6, r.prefix }

// Trusted returns the proxies whose word counts.
func (r ClientRule) Trusted() []netip.Prefix { return r.trusted }

// Named returns the client that a user means who writes its name so: an address stands for the prefix that --client
// makes of it, and is written as the rule writes it.
func (r ClientRule) Named(text string) string {
	if r.source != fromAddress {
		return text
	}
	return string(r.NewExtractor().Key(&parse.Record{Client: []byte(text)}))
}
