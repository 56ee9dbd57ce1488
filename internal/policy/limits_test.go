package policy

import (
	"os"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/limit"
	"shadow/limit/limittest"
)

// The texts of reports, in a file that -update rewrites: limits at the margin, what was made of them indented.
func TestLimits(t *testing.T) {
	const file = "testdata/limits.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, " "):
			continue
		case strings.HasPrefix(line, "#") || line == "\n":
			b.WriteString(line)
			continue
		}
		b.WriteString(line)
		policies, err := ParseLimits([]string{line}, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range policies {
			b.WriteString("    " + p.Name + "\n        means  " + p.Parts[0].Semantics() + "\n        nginx  " + p.Parts[0].Nearest() + "\n")
		}
	}
	limittest.Golden(t, file, b.String())
}

func TestParseLimits(t *testing.T) {
	for texts, want := range map[string]string{
		"6/30s":                                 "token:6/30s leaky:6/30s window:6/30s",
		"6/30s,burst=9":                         "token:6/30s,burst=9",
		"6,7/30s":                               "token:6/30s leaky:6/30s window:6/30s token:7/30s leaky:7/30s window:7/30s",
		"token:6..8/m":                          "token:6/1m token:7/1m token:8/1m",
		"window:6/30s 6/30s token:6/30000ms":    "window:6/30s token:6/30s leaky:6/30s",
		"leaky:5..7:2,6/60s,drip=1s leaky:5/m":  "leaky:5/1m,drip=1s leaky:7/1m,drip=1s leaky:6/1m,drip=1s leaky:5/1m",
		"10/s+window:1000/h":                    "token:10/1s+window:1000/1h",
		"6/30s+token:5/m token:6/30000ms+5/60s": "token:6/30s+token:5/1m",
		"each:10/s+window:1000/h":               "each:token:10/1s+window:1000/1h",
		"in-turn:6,7/s+token:5/m":               "in-turn:token:6/1s+token:5/1m in-turn:token:7/1s+token:5/1m",
		"each:5/s+6/m 5/s+6/m together:5/s+6/m": "each:token:5/1s+token:6/1m token:5/1s+token:6/1m",
		"envoy:5/s+envoy:60/m":                  "envoy:5/1s+envoy:60/1m",
		"each:envoy:5/s+envoy:60/m":             "envoy:5/1s+envoy:60/1m",
		"together:envoy:5/s+envoy:60/m":         "together:envoy:5/1s+envoy:60/1m",
		"caddy:5/s+caddy:60/m":                  "caddy:5/1s+caddy:60/1m",
		"each:caddy:5/s+caddy:60/m":             "each:caddy:5/1s+caddy:60/1m",
		"envoy:5/s+token:60/m":                  "envoy:5/1s+token:60/1m",
		"1,2/s+leaky:3,4/m,drip=1s": "token:1/1s+leaky:3/1m,drip=1s token:1/1s+leaky:4/1m,drip=1s " +
			"token:2/1s+leaky:3/1m,drip=1s token:2/1s+leaky:4/1m,drip=1s",
		"token:6/30s,initial=1,burst=7 6/30s,burst=7,initial=1": "token:6/30s,burst=7,initial=1",
	} {
		policies, err := ParseLimits(strings.Fields(texts), request.ByHost)
		if err != nil {
			t.Errorf("%s: %v", texts, err)
			continue
		}
		var names []string
		for _, p := range policies {
			names = append(names, p.Name)
			if part := p.Parts[0]; part.By != request.ByHost || part.Limiter == nil || p.Text() != p.Name || p.By() != "host" {
				t.Errorf("%s: %+v", texts, p)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s is %s, want %s", texts, got, want)
		}
	}
	own := []string{" nginx:burst=20  rate=10r/s nodelay + token:1/s", "nginx:rate=30r/m"}
	policies, err := ParseLimits(own, request.ByClient)
	if err != nil || policies[0].Name != "nginx:10r/s,burst=20,nodelay+token:1/1s" || policies[1].Name != "nginx:30r/m" {
		t.Errorf("nginx's own words are %v, %v", policies, err)
	}
	if policies, err := ParseLimits(nil, request.ByClient); err != nil || len(policies) != 0 {
		t.Errorf("no limits are %v, %v", policies, err)
	}
}

func TestParseLimitsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"ngimx:10r/s,burst=20":                `unknown algorithm "ngimx" (did you mean "nginx"?); there are token, leaky, window`,
		"6/30s+":                              "lacks a limit beside a '+'",
		"each:6/30s":                          "joins several limits with '+'; there is one, which stands alone: 6/30s",
		"each:":                               "joins several limits",
		"each:5/s+":                           "lacks a limit beside a '+'",
		"5/s+each:6/m":                        `unknown algorithm "each"`,
		"eech:5/s+6/m":                        `unknown algorithm "eech"`,
		"6/30s+60":                            `"60": has no period`,
		"6/30s+tokn:6/m":                      `"tokn:6/m": unknown algorithm`,
		"6/30s+6/m,drip=3s":                   "unknown option",
		"1..200/s+1..200/m":                   "stands for more than 10000 policies",
		"tokn:6/30s":                          `unknown algorithm "tokn" (did you mean "token"?); there are token, leaky, window`,
		"6":                                   "has no period",
		"token:6/30s,drip=3s":                 "unknown option \"drip\" (did you mean \"drift\"?); token takes burst=N, initial=N",
		"window:6/30s,step=7s":                "cannot be cut into steps of 7s",
		"token:6/s,cooldwn=30s":               `unknown option "cooldwn" (did you mean "cooldown"?); token takes burst=N`,
		"cloudflare~:6/m,b=1":                 `unknown option "b"; cloudflare~ takes no options but cooldown=PERIOD[/extend]`,
		"nginx:rate=10r/s burst 5":            `limit "nginx:rate=10r/s burst 5": "5" is no option`,
		"nginx:rate=10 burst=5":               `limit "nginx:rate=10 burst=5": has no period`,
		"nginx:rate=1r/s burst=x nodelay":     `the option burst wants a whole number`,
		"token:rate=10r/s burst=5":            "has a blank inside",
		"token:6/30s,burst=0":                 "burst=0 would admit nothing",
		"token":                               "has no period",
		"aws~:10/m+aws~:20/m+cloudflare~:5/m": "a policy may have at most two approximations (~), this one has 3",
	} {
		_, err := ParseLimits([]string{"6/30s", text}, request.ByClient)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "limit ") {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
}

// The text of a policy is the policy again, with the way in which its limits combine.
func TestCombineRoundTrip(t *testing.T) {
	for _, limits := range []string{"token:5/s+window:60/m", "envoy:5/s+envoy:60/m", "caddy:5/s+caddy:60/m", "caddy:5/s+envoy:60/m", "envoy:5/s"} {
		for how := range Combine(len(combines)) {
			for _, prefix := range []string{"", how.String() + ":"} {
				policies, err := ParseLimits([]string{prefix + limits}, request.ByClient)
				if err != nil {
					if prefix == "" || strings.Contains(limits, "+") {
						t.Error(err)
					}
					continue
				}
				p := policies[0]
				again, err := ParseLimits([]string{p.Name}, request.ByClient)
				if err != nil || again[0].Name != p.Name || again[0].Combine != p.Combine || prefix != "" && p.Combine != how {
					t.Errorf("%s%s is %s, which combines %s; again %+v, %v", prefix, limits, p.Name, p.Combine, again, err)
				}
			}
		}
	}
	if _, err := ParseCombine("eech"); err == nil || err.Error() != `unknown way to combine "eech" (did you mean "each"?); there are together, each, in-turn` {
		t.Error(err)
	}
}

func TestNew(t *testing.T) {
	p, err := New(limit.Spec{Count: 6, Period: 30 * limit.Second}, request.BySite)
	if err != nil || p.Name != "token:6/30s" || p.Parts[0].Spec.Algorithm != "token" || p.Parts[0].By != request.BySite {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := New(limit.Spec{Algorithm: "tokens", Count: 6, Period: 30}, request.BySite); err == nil {
		t.Error("tokens is there")
	}
}

// The table says the same as the constructors: each option in it is taken, and no other.
func TestAlgorithms(t *testing.T) {
	for _, a := range Algorithms {
		spec := limit.Spec{Algorithm: a.Name, Count: 60, Period: limit.Minute, Options: "nosuchthing"}
		if a.Name == "conn" {
			spec.Period = 0
		}
		_, err := a.New(spec)
		want := a.Name + " takes no options but " + limit.Common
		if a.Options != "" {
			want = a.Name + " takes " + a.Options + ", and " + limit.Common
		}
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want it to end in %q", err, want)
		}
		spec.Options = ""
		limiter, err := a.New(spec)
		if _, ok := limiter.(limit.Explainer); !ok || err != nil || a.Summary == "" {
			t.Errorf("%s does not describe itself (%v)", a.Name, err)
		}
	}
}

func TestParseKey(t *testing.T) {
	for _, k := range request.UsualKeys {
		if got, err := request.ParseKey(k.String()); err != nil || got != k {
			t.Errorf("%s is %v, %v", k, got, err)
		}
	}
	_, err := request.ParseKey("clients")
	want := `key "clients": limits cannot count by that (did you mean "client"?); want one of client, client+action, action, host, site, ` +
		`client+agent, client/24, client/64, user, client+agent+action, client/24+action, client/64+action, user+action, client+path, ` +
		`or parts joined by +, such as client/20, path, segment:2, field:ja4, header:X-Api-Key, cookie:session`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A rate that nginx keeps exactly has no deviation; 10r/m is 166 thousandths, 1r/m is 16.
func TestNearestRate(t *testing.T) {
	for _, test := range []struct {
		count     int64
		period    limit.Time
		want      nginxRate
		kept      int64 // thousandths
		deviation float64
	}{
		{6, 30 * limit.Second, nginxRate{12, 60}, 200, 0},
		{10, limit.Minute, nginxRate{10, 60}, 166, -0.004},
		{1, limit.Minute, nginxRate{1, 60}, 16, -0.04},
		{10, limit.Second, nginxRate{10, 1}, 10000, 0},
		{600, limit.Minute, nginxRate{10, 1}, 10000, 0},
		{3, 2 * limit.Second, nginxRate{90, 60}, 1500, 0},
	} {
		r := nearestRate(test.count, test.period)
		off := r.deviation(test.count, test.period) - test.deviation
		if r != test.want || r.thousandths() != test.kept || off > 1e-9 || off < -1e-9 {
			t.Errorf("%d per %v: %v, %d thousandths, off by %v", test.count, test.period, r, r.thousandths(), off)
		}
	}
}
