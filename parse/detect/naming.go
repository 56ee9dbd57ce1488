package detect

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"shadow/parse"
)

// Names do not say all. Several may name the client, and one of them a proxy. A request_time is in seconds with nginx, in
// milliseconds with some CDNs. The values show it, or leave it open. What was chosen is said.

// A compiler makes a format of a mapping.
type compiler func(parse.FieldMapping, parse.Options) (*parse.Format, error)

// settle returns a mapping whose keys occur in lines, with what the values show, and what to say of that. Names that are
// stated go first when it is compiled.
func (d *Detector) settle(found parse.FieldMapping, lines [][]byte, compile compiler) (settled parse.FieldMapping, said []string) {
	found = maps.Clone(found)
	if text := d.settleClient(found, lines, compile); text != "" {
		said = append(said, text)
	}
	if keys := found["status"]; len(keys) > 1 { // MinIO has a status "OK" beside statusCode
		delete(found, "status")
		found["status"] = slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
			values := d.values(found, "user", key, lines, compile)
			return len(values) > 0 && !slices.ContainsFunc(values, isDigits)
		})
	}
	if slices.Contains(found["method"], requestType) && !slices.Contains(d.choice.Options.Fields["method"], requestType) &&
		!slices.ContainsFunc(d.values(found, "user", requestType, lines, compile), isMethod) {
		found["method"] = slices.DeleteFunc(slices.Clone(found["method"]), func(key string) bool { return key == requestType })
	}
	if keys := found["request_time"]; len(keys) > 0 && len(d.choice.Options.Fields["request_time"]) == 0 {
		delete(found, "request_time")
		switch took := d.values(found, "user", keys[0], lines, compile); {
		case len(took) < readGuess || slices.ContainsFunc(took, isFraction) || zero(took):
			found["request_time"] = keys
		case len(found["time"])+len(found["start"]) == 0 && len(took[0]) >= epochDigits: // Huawei's is that of the request
			found["time"] = keys
		default:
			said = append(said, fmt.Sprintf("%s holds whole numbers, which may be of seconds or of milliseconds, and is not read: "+
				"state --field request_time_ms=%[1]s or request_time=%[1]s", keys[0]))
		}
	}
	return found, said
}

// withoutUpstream is a detection of JSON that does not claim the time of upstreams where no line has its key: what a server
// may write stands in the mapping of its format, and what it does write its configuration says.
func (d *Detector) withoutUpstream(found Detection, lines [][]byte) Detection {
	m, err := parse.ParseFieldMapping(found.Format.Text)
	if err != nil || !found.Format.Has(parse.FieldUpstreamTime) || !parse.Mostly(lines, jsonLike) {
		return found
	}
	names := parse.NamesIn(lines) // also of values that are empty
	for field, keys := range m {
		if strings.HasPrefix(field, "upstream_time") && (len(m.Found(lines)[field]) > 0 ||
			slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(names, key) })) {
			return found
		}
	}
	format := found.Format
	found.Format, _ = d.once("without upstream\n"+format.Name+"\n"+format.Text, func() (*parse.Format, error) {
		return format.Without(parse.FieldUpstreamTime), nil
	})
	return found
}

// requestType is a method with WordPress VIP, and other things elsewhere: ajax, page.
const requestType = "request_type"

func isMethod(value string) bool {
	return meanings[meaningOf("request_method")].looks().MatchString(strings.ToUpper(value))
}

// settleClient lets another name be that of the client where the first is always one address of the own network, which
// is left to the header of a proxy if there is one; or the host where no name is, as Tomcat's JSON has it, and hosts are
// many addresses: those of nodes are few, or of the own network.
func (d *Detector) settleClient(found parse.FieldMapping, lines [][]byte, compile compiler) string {
	keys := found["client"]
	if hosts := found["host"]; len(keys) == 0 && len(hosts) > 0 {
		values := d.values(found, "client", hosts[0], lines, compile)
		if !variedAddresses(values) || !slices.ContainsFunc(values, isPublic) || !many(values) {
			return ""
		}
		found["client"], found["host"] = hosts[:1], hosts[1:]
		return fmt.Sprintf("%s holds addresses and counts as the client, since no other name is one of clients", hosts[0])
	}
	if len(keys) < 2 || len(found["forwarded"]) > 0 {
		return ""
	}
	first := d.values(found, "client", keys[0], lines, compile)
	if len(first) == 0 || !constant(first) || isPublic(first[0]) {
		return ""
	}
	for i, key := range keys[1:] {
		if variedAddresses(d.values(found, "client", key, lines, compile)) {
			found["client"] = slices.Concat([]string{key}, keys[:i+1], keys[i+2:])
			return fmt.Sprintf("the client is %s, not %s, which is always %s; state another choice with --field client=%[2]s", key, keys[0], first[0])
		}
	}
	return ""
}

// values returns what a key holds in lines, read as a field of a mapping that has others: as client or user.
func (d *Detector) values(found parse.FieldMapping, field, key string, lines [][]byte, compile compiler) (values []string) {
	m, o := maps.Clone(found), d.choice.Options
	m[field], o.Timeless = []string{key}, true
	delete(m, "request_time")
	format, err := compile(m, o)
	if err != nil {
		return nil
	}
	p, r := format.NewParser(), new(parse.Record)
	for _, line := range lines {
		if p.Parse(slices.Clone(line), r).OK() {
			if v := map[string][]byte{"client": r.Client, "user": r.User}[field]; v != nil {
				values = append(values, string(v))
			}
		}
	}
	return values
}

// epochDigits is the fewest digits of a time in seconds since 1970.
const epochDigits = 10

func isFraction(text string) bool { return !isDigits(text) }

func zero(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return strings.Trim(v, "0") != "" })
}

func variedAddresses(values []string) bool {
	return len(values) > 0 && !constant(values) && !slices.ContainsFunc(values, func(v string) bool { return !parsesAsAddress(v) })
}

// many reports whether there are at least ten different values, or a fifth of few.
func many(values []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(values)))) >= min(10, len(values)/5)
}

func isPublic(client string) bool {
	addr, err := netip.ParseAddr(client)
	return err == nil && !addr.Unmap().IsPrivate() && !addr.Unmap().IsLoopback() && !addr.IsLinkLocalUnicast()
}
