package ingest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shadow/internal/logfile"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/useragent"
	"shadow/limit/limittest"
	"shadow/parse"
)

// What the requests of these tests are made of, and what their scopes ask for. "-" is what nginx writes for nothing.
var (
	someAddresses = []string{"192.0.2.1", "192.0.2.77", "192.0.3.1", "198.51.100.9", "10.0.0.1", "2001:db8::1", "2001:db8:1::5", "host.example"}
	someUsers     = []string{"-", "-", "alice", "bob", "carol"}
	someMethods   = []string{"GET", "POST", "HEAD", "get", ""}
	somePaths     = []string{"/", "/login", "/login?x=/search", "/login/now", "/de/search", "/shop/17", "/shop/17/", "/a.css", "/S", "http://x/login"}
	someHosts     = []string{"shop.example", "SHOP.example", "www.shop.example", "other.test", "-"}
	someAgents    = []string{"-", "curl/8.5.0", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0"}
	somePorts     = []string{"80", "443", "8443", "-"}
	someStatuses  = []string{"200", "204", "401", "403", "404", "499", "500"}
	someKeys      = []string{"-", "k1", "k2", "k3"}
)

const scopeFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent ` +
	`"$http_user_agent" "$host" "$http_x_api_key" "$http_x_forwarded_for" $server_port`

// A sent is a request as it was sent, before any of it was written to a log.
type sent struct {
	peer, forwarded, user, method, path, host, agent, status, key, port string
}

func anyOf[T any](rng *rand.Rand, values []T) T { return values[rng.IntN(len(values))] }

func randomSent(rng *rand.Rand) sent {
	return sent{
		peer: anyOf(rng, someAddresses), forwarded: anyOf(rng, append(someAddresses[:4:4], "-")), user: anyOf(rng, someUsers),
		method: anyOf(rng, someMethods), path: anyOf(rng, somePaths), host: anyOf(rng, someHosts),
		agent: anyOf(rng, someAgents), status: anyOf(rng, someStatuses), key: anyOf(rng, someKeys), port: anyOf(rng, somePorts),
	}
}

// line returns the line that is logged of the request. Without a method it is what scanners send.
func (s *sent) line() string {
	request := s.method + " " + s.path + " HTTP/1.1"
	if s.method == "" {
		request = `\x16\x03\x01`
	}
	return fmt.Sprintf("%s - %s [01/Jan/2026:12:00:00 +0000] \"%s\" %s 5 \"%s\" \"%s\" \"%s\" \"%s\" %s\n",
		s.peer, s.user, request, s.status, s.agent, s.host, s.key, s.forwarded, s.port)
}

// some returns a few of the values, none of them in every other case.
func some(rng *rand.Rand, values ...string) (picked []string) {
	for range rng.IntN(3) * rng.IntN(2) {
		picked = append(picked, anyOf(rng, values))
	}
	return picked
}

// randomScopes returns as many as there may be, with those that stand in others.
func randomScopes(rng *rand.Rand) (scopes []request.Conditions) {
	most := 1 + rng.IntN(request.MaxScopes)
	for {
		c := randomScope(rng)
		for depth := rng.IntN(3); depth > 0; depth-- {
			outer := randomScope(rng)
			outer.Any, outer.Not = []request.Conditions{c}, nil
			if inner := randomScope(rng); rng.IntN(2) == 0 {
				outer.Any, outer.Not = outer.Not, append(outer.Any, inner)
			} else {
				outer.Any = append(outer.Any, inner)
			}
			c = outer
		}
		if flat, _ := request.Flatten(append(slices.Clip(scopes), c)); len(flat) > most && len(scopes) > 0 {
			return scopes
		}
		scopes = append(scopes, c)
	}
}

func randomScope(rng *rand.Rand) request.Conditions {
	return request.Conditions{
		Actions:  some(rng, "login", "static", "/shop/…", "(not http)", "/de/…", "/nowhere"),
		Methods:  some(rng, "GET", "POST", "HEAD", "PUT"),
		Paths:    some(rng, "/login", "/**/search", "/shop/*", "/?", "**", "/login/**"),
		Prefixes: some(rng, "/", "/login", "/shop/1", "/zzz"),
		Regexps:  some(rng, "^/shop/[0-9]+$", "o", "^/$"),
		Hosts:    some(rng, "shop.example", "*.example", "Other.*", "Shop.Example", "nowhere", "??????????"),
		Ports:    some(rng, "80", "443", "8080", request.NoPort),
		Agents:   some(rng, "(?i)BOT", "^curl/", "^$", "."),
		Classes:  some(rng, "browser", "crawler", "tool", "monitor", "unknown"),
		Statuses: some(rng, "200", "4xx", "401", "5XX", "403"),
		Tiers:    some(rng, "one", "two", "three", request.DefaultTier),
		Networks: some(rng, "192.0.2.1", "192.0.2.0/24", "2001:db8::/32", "10.0.0.0/8", "private", "::/0"),
		With:     some(rng, "header:X-Api-Key=k1", "header:X-Api-Key=K2", "field:http_x_api_key~^k[23]", "header:X-Api-Key~.", "header:X-Api-Key~^$"),
		Without:  some(rng, "user", "header:X-Api-Key", "field:http_x_api_key"),
	}
}

func randomTiers(rng *rand.Rand) []request.Tier {
	var tiers []request.Tier
	for _, name := range []string{"exempt", "one", "two", "three"} {
		t := request.Tier{
			Name:     name,
			Networks: some(rng, "192.0.2.1", "192.0.2.0/24", "192.0.0.0/16", "2001:db8::/32", "2001:db8:1::5", "10.0.0.0/8", "private", "0.0.0.0/0"),
			Users:    some(rng, "alice", "bob"), Exempt: name == "exempt" && rng.IntN(2) == 0,
		}
		if rng.IntN(2) == 0 {
			t.Field, t.Values = anyOf(rng, []string{"http_x_api_key", "header:X-Api-Key"}), some(rng, "k1", "k2", "k4")
		}
		tiers = append(tiers, t)
	}
	return tiers
}

// The slow evaluation: every scope asks every condition of every request, by what was sent.

func holds(c *request.Conditions, s *sent, tiers []request.Tier, client match.ClientRule) bool {
	tier, exempt := tierOf(s, tiers, client)
	path, isPath := s.path, s.method != ""
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "http://x"), "?")
	status := func(want string) bool {
		return want == s.status || strings.ToLower(want) == s.status[:1]+"xx"
	}
	each := func(c request.Conditions) bool { return holds(&c, s, tiers, client) }
	return !exempt &&
		(len(c.Any) == 0 || slices.ContainsFunc(c.Any, each)) && !slices.ContainsFunc(c.Not, each) &&
		fitsOne(c.Agents, func(want string) bool { return regexp.MustCompile(want).MatchString(s.agent) }) &&
		fitsOne(c.Actions, func(want string) bool { return want == actionOf(s.method, path) }) &&
		fitsOne(c.Methods, func(want string) bool { return want == s.method }) &&
		fitsOne(c.Paths, func(want string) bool { return isPath && asRegexp(want).MatchString(path) }) &&
		fitsOne(c.Prefixes, func(want string) bool { return isPath && strings.HasPrefix(path, want) }) &&
		fitsOne(c.Regexps, func(want string) bool { return isPath && regexp.MustCompile(want).MatchString(path) }) &&
		fitsOne(c.Hosts, func(want string) bool { return hostRegexp(want).MatchString(s.host) }) &&
		fitsOne(c.Ports, func(want string) bool { return want == strings.Replace(s.port, "-", request.NoPort, 1) }) &&
		fitsOne(c.Classes, func(want string) bool { return want == useragent.Classify([]byte(s.agent)).String() }) &&
		fitsOne(c.Statuses, status) &&
		fitsOne(c.Networks, func(want string) bool { return sentFrom(s, want, client) }) &&
		fitsOne(c.With, func(want string) bool {
			at := strings.IndexAny(want, "=~")
			same := want[at] == '=' && want[at+1:] == s.key
			return s.key != "-" && (same || want[at] == '~' && regexp.MustCompile(want[at+1:]).MatchString(s.key))
		}) &&
		!slices.ContainsFunc(c.Without, func(what string) bool { return what == "user" && s.user != "-" || what != "user" && s.key != "-" }) &&
		fitsOne(c.Tiers, func(want string) bool { return want == tier })
}

// fitsOne reports whether one of the values of a condition fits, or there are none.
func fitsOne(values []string, fits func(string) bool) bool {
	return len(values) == 0 || slices.ContainsFunc(values, fits)
}

// actionOf returns the action of the paths in these tests, under the rule that all below /login is called login.
func actionOf(method, path string) string {
	switch {
	case method == "":
		return "(not http)"
	case strings.HasPrefix(path, "/login"):
		return "login"
	case strings.HasSuffix(path, ".css"):
		return "static"
	}
	if first, rest, _ := strings.Cut(path[1:], "/"); rest != "" {
		return "/" + first + "/…"
	}
	return path
}

func asRegexp(glob string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.NewReplacer("/**/", "/(.*/)?", "**", ".*", "*", "[^/]*", "?", "[^/]").Replace(glob) + "$")
}

func hostRegexp(glob string) *regexp.Regexp {
	return regexp.MustCompile("(?i)^" + strings.NewReplacer(".", `\.`, "*", ".*", "?", ".").Replace(glob) + "$")
}

// tierOf returns the first tier that an entry of puts the request into.
func tierOf(s *sent, tiers []request.Tier, client match.ClientRule) (name string, exempt bool) {
	for _, t := range tiers {
		if slices.ContainsFunc(t.Networks, func(n string) bool { return sentFrom(s, n, client) }) ||
			slices.Contains(t.Users, s.user) || t.Field != "" && slices.Contains(t.Values, s.key) {
			return t.Name, t.Exempt
		}
	}
	return request.DefaultTier, false
}

// sentFrom reports whether the client's address lies in a network. With --client-from, that is the forwarded one where
// 10.0.0.0/8 forwards it.
func sentFrom(s *sent, network string, client match.ClientRule) bool {
	addr, err := netip.ParseAddr(s.peer)
	if err != nil {
		return false
	}
	if len(client.Trusted()) > 0 && strings.HasPrefix(s.peer, "10.") && s.forwarded != "-" {
		addr = netip.MustParseAddr(s.forwarded)
	}
	if network == "private" {
		return addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast()
	}
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		return addr == netip.MustParseAddr(network)
	}
	return prefix.Contains(addr)
}

// TestScopesAgree holds marks against the slow evaluation, for random scopes, tiers, clients and requests.
func TestScopesAgree(t *testing.T) {
	for seed := range uint64(60) {
		rng := testneeds.Rand(t, seed, 7)
		o, tiers := scopedOptions(t, rng)
		requests := make([]sent, 300)
		var log strings.Builder
		for i := range requests {
			requests[i] = randomSent(rng)
			log.WriteString(requests[i].line())
		}
		scopes := randomScopes(rng)
		marks := marksOf(t, o, scopes, tiers, log.String())
		for i, s := range requests {
			for j := range scopes {
				got, want := marks[i]>>j&1 == 1, holds(&scopes[j], &s, tiers, o.Clients)
				if got != want {
					t.Fatalf("seed %d: %+v in %+v of %+v: %t, want %t", seed, s, scopes[j], tiers, got, want)
				}
			}
			if len(scopes) < request.MaxScopes && marks[i]>>len(scopes) != 0 {
				t.Fatalf("seed %d: marks %b for %d scopes", seed, marks[i], len(scopes))
			}
		}
	}
}

// scopedOptions returns the options of a run with a random way to identify clients, and random tiers.
func scopedOptions(t testing.TB, rng *rand.Rand) (Options, []request.Tier) {
	t.Helper()
	o := readingOptions(t)
	o.NotHTTP = JudgeNotHTTP
	var err error
	client := anyOf(rng, []string{"addr", "addr", "addr/16", "user", "http_x_api_key"})
	from, trusted := "", []string(nil)
	if client == "addr" && rng.IntN(2) == 0 {
		from, trusted = "x-forwarded-for", []string{"10.0.0.0/8"}
	}
	o.Clients, err = match.ParseClientRule(client, from, trusted)
	check(t, err)
	o.Actions, err = match.NewActions([]request.Rule{{Name: "login", Prefix: "/login"}}, o.Tables.Actions)
	check(t, err)
	return o, randomTiers(rng)
}

// marksOf reads a log and returns the marks of its lines.
func marksOf(t testing.TB, o Options, scopes []request.Conditions, tiers []request.Tier, log string) []uint64 {
	t.Helper()
	in, format := scopedIntake(t, &o, scopes, tiers)
	r := rows{Batch: *traffic.NewBatch(0, in.columns)}
	in.fill(&r, &logfile.Block{Data: []byte(log)}, format)
	if r.counts.Unreadable > 0 {
		t.Fatalf("%d lines are unreadable: %+v", r.counts.Unreadable, r.faults)
	}
	return r.Marks
}

// scopedIntake returns an intake for scopeFormat.
func scopedIntake(t testing.TB, o *Options, scopes []request.Conditions, tiers []request.Tier) (*intake, *parse.Format) {
	t.Helper()
	compiled, err := match.NewTiers(tiers, o.Clients.Extra())
	check(t, err)
	o.Scopes, err = match.NewScopes(scopes, compiled, compiled.Extra(), nil)
	check(t, err)
	format, err := parse.Compile(scopeFormat, parse.Options{Extra: o.Scopes.Extra()})
	check(t, err)
	r := Reader{options: *o}
	return newIntake(o, o.span(), r.columns()), format
}

// Marks cost no allocation once clients, actions and hosts are known.
func TestMarksAllocateNothing(t *testing.T) {
	rng := testneeds.Rand(t, 1, 1)
	o, tiers := scopedOptions(t, rng)
	var log strings.Builder
	for range 3_000 {
		s := randomSent(rng)
		log.WriteString(s.line())
	}
	scopes := make([]request.Conditions, 20)
	for i := range scopes {
		scopes[i] = randomScope(rng)
	}
	in, format := scopedIntake(t, &o, scopes, tiers)
	r, block := rows{Batch: *traffic.NewBatch(0, in.columns)}, logfile.Block{}
	fill := func() {
		block.Data = append(block.Data[:0], log.String()...)
		in.fill(&r, &block, format)
	}
	if n := allocations(fill); n > 0 && !limittest.RaceEnabled || len(r.Marks) != 3_000 { // regexps have pools
		t.Errorf("%v allocations for %d marks", n, len(r.Marks))
	}
}

// Marks stay with their rows, from the log through what waits into the batches.
func TestMarksStayWithTheirRows(t *testing.T) {
	o := readingOptions(t)
	o.Batch, o.Waiting, o.Lateness = 500, 3_000, 5_000_000
	var err error
	o.Scopes, err = match.NewScopes([]request.Conditions{{Actions: []string{"/a/…"}}, {}, {Paths: []string{"/**/*7"}}}, nil, nil, nil)
	check(t, err)
	lines := busy(testneeds.Rand(t, 3, 3), 5_000, 20)
	name := write(t, t.TempDir(), "access.log", strings.Join(lines, ""))
	r, err := NewReader(t.Context(), []string{name}, nil, o)
	check(t, err)
	defer r.Close()
	rows := 0
	for b, err := r.Next(); err == nil; b, err = r.Next() {
		rows += b.Len()
		for i, mark := range b.Marks {
			want := uint64(2)
			if o.Tables.Actions.Name(int32(b.Action[i])) == "/a/…" {
				want |= 1
			}
			if mark&^4 != want {
				t.Fatalf("%s has marks %b", o.Tables.Actions.Name(int32(b.Action[i])), mark)
			}
		}
		if len(b.Marks) != b.Len() {
			t.Fatalf("%d marks in a batch of %d rows", len(b.Marks), b.Len())
		}
	}
	if rows != len(lines) {
		t.Errorf("%d rows of %d lines", rows, len(lines))
	}
}

func BenchmarkMarks(b *testing.B) {
	rng := testneeds.Rand(b, 1, 1)
	for name, scopes := range map[string][]request.Conditions{
		"actions and statuses": {{Actions: []string{"login"}}, {Actions: []string{"login"}, Statuses: []string{"401"}}},
		"tiers":                {{Tiers: []string{"one"}}, {Tiers: []string{"two"}}},
		"paths and methods":    {{Paths: []string{"/**/search"}, Methods: []string{"POST"}}},
		"hosts and classes":    {{Hosts: []string{"*.example"}, Classes: []string{"tool"}}},
	} {
		b.Run(name, func(b *testing.B) {
			o := readingOptions(b)
			in, _ := scopedIntake(b, &o, scopes, []request.Tier{{Name: "one", Networks: []string{"192.0.2.0/24"}, Users: []string{"bob"}}, {Name: "two", Networks: []string{"10.0.0.0/8"}}})
			requests := make([]parse.Record, tile)
			r := rows{Batch: *traffic.NewBatch(tile, in.columns)}
			for i := range requests {
				s := randomSent(rng)
				requests[i] = parse.Record{
					Client: []byte(s.peer), User: []byte(s.user), Method: []byte(s.method), Path: []byte(s.path),
					Host: []byte(s.host), Agent: []byte(s.agent), Status: 401,
				}
			}
			in.look(&r, requests)
			marks := make([]uint64, tile)
			for b.Loop() {
				in.marker.Mark(marks, &r.Batch, requests)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tile), "ns/request")
		})
	}
}
