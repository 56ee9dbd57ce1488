package match

import (
	"strings"
	"testing"

	"shadow/parse"
	"shadow/parse/detect"
)

// clientOf returns the client of a record under a rule.
func clientOf(t *testing.T, client, from string, trusted []string, r *parse.Record) string {
	t.Helper()
	rule, err := ParseClientRule(client, from, trusted)
	if err != nil {
		t.Fatal(err)
	}
	return string(rule.NewExtractor().Key(r))
}

func TestClientRules(t *testing.T) {
	for _, c := range []struct{ rule, client, want string }{
		{"", "203.0.113.7", "203.0.113.7"},
		{"addr", "203.0.113.7", "203.0.113.7"},
		{"addr", "2001:DB8::1", "2001:DB8::1"}, // as logged
		{"addr", "::ffff:203.0.113.7", "203.0.113.7"},
		{"addr", "::FFFF:cb00:7107", "203.0.113.7"},
		{"addr", "::ffff:203.0.113.007", "::ffff:203.0.113.007"},
		{"addr", "::ffff:203.0.113.7:80", "::ffff:203.0.113.7:80"},
		{"addr", "::203.0.113.7", "::203.0.113.7"}, // another thing: deprecated, and not written by servers
		{"addr", "::1", "::1"},
		{"addr", ":", ":"},
		{"addr", "dialup-7.example.net", "dialup-7.example.net"},
		{"addr", "", "-"},
		{"addr/24", "203.0.113.7", "203.0.113.0/24"},
		{"addr/24", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"},
		{"addr/24,/64", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"addr/24,/64", "::ffff:203.0.113.7", "203.0.113.0/24"},
		{"addr/24,/64", "203.0.113.300", "203.0.113.300"},
		{"addr/24,/64", "dialup-7.example.net", "dialup-7.example.net"},
		{"addr/24,/64", "unix:", "unix:"},
		{"addr/24,/64", "", "-"},
		{"addr/64", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"addr/64", "203.0.113.7", "203.0.113.7"},
		{"addr/33", "2001:db8:1:2:3:4:5:6", "2001:db8::/33"},
		{"addr/0,/0", "203.0.113.7", "0.0.0.0/0"},
		{"addr/32,/128", "203.0.113.7", "203.0.113.7"},
		{"addr/12,/48", "198.51.100.7", "198.48.0.0/12"},
	} {
		if got := clientOf(t, c.rule, "", nil, &parse.Record{Client: []byte(c.client)}); got != c.want {
			t.Errorf("%s of %q is %q, want %q", c.rule, c.client, got, c.want)
		}
	}
}

func TestClientRulesByField(t *testing.T) {
	r := &parse.Record{
		Client: []byte("192.0.2.1"), User: []byte("ann"), Host: []byte("example.org"), Agent: []byte("curl/8"),
		Extra: [parse.MaxExtra][]byte{[]byte("key-1")},
	}
	for rule, want := range map[string]string{
		"user": "ann", "remote_user": "ann", "host": "example.org", "agent": "curl/8", "referer": "-",
		"session": "key-1",
	} {
		if got := clientOf(t, rule, "", nil, r); got != want {
			t.Errorf("%s is %q, want %q", rule, got, want)
		}
	}
	for rule, want := range map[string]string{
		"addr": "", "user": "", "session": "session", "$cookie_sid": "cookie_sid", "field:x_key": "x_key",
		"header:X-Api-Key": "header:X-Api-Key",
	} {
		parsed, err := ParseClientRule(rule, "", nil)
		if got := strings.Join(parsed.Extra(), " "); err != nil || got != want {
			t.Errorf("%s asks for %q, %v; want %q", rule, got, err, want)
		}
	}
}

// What a format does not tell cannot tell clients apart.
func TestClientRulesThatALogCannotFollow(t *testing.T) {
	for _, c := range []struct{ format, client, from, lacks string }{
		{"combined", "", "", ""},
		{"combined", "addr", "", ""},
		{"[$time_local] $status", "addr", "", ""}, // one client, as it says
		{"[$time_local] $status", "addr/24", "", "addr/24"},
		{"combined", "user", "", ""},
		{"combined", "agent", "", ""},
		{"common", "agent", "", "agent"},
		{"combined", "host", "", "host"},
		{"vhost-combined", "host", "", ""},
		{"combined", "session", "", "session"},
		{"combined", "header:X-Api-Key", "", "X-Api-Key"},
		{"combined", "header:Referer", "", ""},
		{"combined", "", "x-forwarded-for", "x-forwarded-for"},
		{"main", "", "x-forwarded-for", ""},
		{"main", "", "x-real-ip", "x-real-ip"},
		{`$remote_addr [$time_local] "$http_x_real_ip"`, "addr/24", "x-real-ip", ""},
	} {
		var trusted []string
		if c.from != "" {
			trusted = []string{"private"}
		}
		rule, err := ParseClientRule(c.client, c.from, trusted)
		if err != nil {
			t.Fatal(err)
		}
		choice := detect.Choice{Format: c.format, Options: parse.Options{Extra: rule.Extra()}}
		found, err := choice.For(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := rule.Lacks(found.Format); got != c.lacks {
			t.Errorf("%s: client %q from %q lacks %q, want %q", c.format, c.client, c.from, got, c.lacks)
		}
	}
}

func TestClientFromProxies(t *testing.T) {
	trusted := []string{"10.0.0.0/8", "2001:db8:ffff::/48"}
	for _, c := range []struct{ peer, list, want string }{
		{"10.0.0.1", "203.0.113.7", "203.0.113.7"},
		{"10.0.0.1", "1.1.1.1, 203.0.113.7", "203.0.113.7"},  // any client can claim the left one
		{"10.0.0.1", "203.0.113.7, 10.0.0.2", "203.0.113.7"}, // two proxies
		{"203.0.113.9", "203.0.113.7", "203.0.113.9"},        // the peer is none that we trust
		{"10.0.0.1", "", "10.0.0.1"},                         // the proxy itself
		{"10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},       // all of them ours
		{"10.0.0.1", "203.0.113.7, unknown", "10.0.0.1"},     // what cannot be read ends the walk
		{"10.0.0.1", "203.0.113.7, rubbish, 10.0.0.2", "10.0.0.2"},
		{"10.0.0.1", "203.0.113.7,", "10.0.0.1"},
		{"10.0.0.1", "203.0.113.7:52011", "203.0.113.7"}, // ports and brackets
		{"10.0.0.1", `"[2001:DB8::7]:52011"`, "2001:db8::7"},
		{"10.0.0.1", "[2001:db8::7]", "2001:db8::7"},
		{"10.0.0.1", "\t2001:db8::7 ,2001:db8:ffff::1 ", "2001:db8::7"},
		{"::ffff:10.0.0.1", "::ffff:203.0.113.7", "203.0.113.7"},  // IPv4 within IPv6
		{"proxy.example.org", "203.0.113.7", "proxy.example.org"}, // a name is not in any network
		{"10.0.0.1", strings.Repeat("9", 5000) + ",10.0.0.2", "10.0.0.2"},
		{"10.0.0.1", "fe80::1%eth0", "10.0.0.1"},
		{"", "203.0.113.7, 10.0.0.2", "203.0.113.7"}, // the peer is not logged: it is the server's own proxy
		{"", "1.1.1.1, 203.0.113.7", "203.0.113.7"},
		{"", "10.0.0.2", "10.0.0.2"},
		{"", "", "-"},
		{"", "unknown", "-"},
	} {
		r := &parse.Record{Client: []byte(c.peer), Forwarded: []byte(c.list)}
		if got := clientOf(t, "addr", "X-Forwarded-For", trusted, r); got != c.want {
			t.Errorf("%s behind %.40q is %s, want %s", c.peer, c.list, got, c.want)
		}
	}
	r := &parse.Record{Client: []byte("10.0.0.1"), Forwarded: []byte("203.0.113.7")}
	if got := clientOf(t, "addr/24", "x-forwarded-for", []string{"private"}, r); got != "203.0.113.0/24" {
		t.Errorf("prefix of a forwarded address is %s", got)
	}
	r.Extra[0] = []byte("198.51.100.1")
	if got := clientOf(t, "", "cf-connecting-ip", []string{"10.0.0.1"}, r); got != "198.51.100.1" {
		t.Errorf("client from another header is %s", got)
	}
}

func TestClientRulesThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		client, from string
		trusted      []string
		want         string
	}{
		{"addr/129", "", nil, "want addr"},
		{"addr/24,64", "", nil, "want addr"},
		{"addr/24,/129", "", nil, "want addr"},
		{"addr/-1", "", nil, "want addr"},
		{"addr/+8", "", nil, "want addr"},
		{"addr/", "", nil, "want addr"},
		{"header", "", nil, "header:NAME"},
		{"header:", "", nil, "header:NAME"},
		{"two words", "", nil, "field of the line"},
		{"/24", "", nil, "field of the line"},
		{"user", "x-forwarded-for", []string{"10.0.0.1"}, "leave out"},
		{"addr", "x-forwarded-for", nil, "say with --trusted-proxy"},
		{"addr", "", []string{"10.0.0.1"}, "which header"},
		{"addr", "x-forwarded-for", []string{"10.0.0.1/8"}, "10.0.0.0/8 is meant"},
		{"addr", "x-forwarded-for", []string{"10.0.0"}, "neither an address nor a prefix"},
		{"addr", "x-forwarded-for", []string{"::ffff:0:0/90"}, "beyond"},
		{"addr", "x forwarded for", []string{"10.0.0.1"}, "not the name of a header"},
	} {
		_, err := ParseClientRule(c.client, c.from, c.trusted)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q from %q trusting %v: error %v, want one with %q", c.client, c.from, c.trusted, err, c.want)
		}
	}
}

func TestClientKeysDoNotAllocate(t *testing.T) {
	rule, err := ParseClientRule("addr", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	e, mapped := rule.NewExtractor(), &parse.Record{Client: []byte("::ffff:203.0.113.7")}
	if n := testing.AllocsPerRun(100, func() { e.Key(mapped) }); n != 0 {
		t.Errorf("IPv4 in its IPv6 form: %v allocations", n)
	}
	r := &parse.Record{Client: []byte("2001:db8:ffff::1"), Forwarded: []byte("2001:db8:1:2:3:4:5:6, 10.0.0.1, [2001:db8:ffff::1]:80")}
	for _, c := range []struct {
		client, from string
		trusted      []string
	}{{"addr", "", nil}, {"addr/24,/64", "", nil}, {"user", "", nil}, {"addr/24,/48", "x-forwarded-for", []string{"private", "2001:db8:ffff::/48"}}} {
		rule, err := ParseClientRule(c.client, c.from, c.trusted)
		if err != nil {
			t.Fatal(err)
		}
		e := rule.NewExtractor()
		if n := testing.AllocsPerRun(100, func() { e.Key(r) }); n != 0 {
			t.Errorf("%s from %q: %v allocations", c.client, c.from, n)
		}
	}
}
