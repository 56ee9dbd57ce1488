package limit

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"6/30s":                                "6/30s",
		"token:6/30s":                          "token:6/30s",
		" token:6/30s\n":                       "token:6/30s",
		"10/s":                                 "10/1s",
		"10/m":                                 "10/1m",
		"10/h":                                 "10/1h",
		"10/d":                                 "10/24h",
		"10/w":                                 "10/168h",
		"10/2d":                                "10/48h",
		"10/60s":                               "10/1m",
		"10/90s":                               "10/90s",
		"10/1m30s":                             "10/90s",
		"10/3600s":                             "10/1h",
		"10/ms":                                "10/1ms",
		"10/us":                                "10/1us",
		"10/1.5ms":                             "10/1500us",
		"10/1000ns":                            "10/1us",
		"007/30s":                              "7/30s",
		"token:6/30s,initial=3,burst=010":      "token:6/30s,burst=10,initial=3",
		"leaky:6/30s,drip=60s":                 "leaky:6/30s,drip=1m",
		"token:6/30s,debt":                     "token:6/30s,debt",
		"token:6/30s,cooldown=60s/extend":      "token:6/30s,cooldown=1m/extend",
		"nginx:10r/s,delay=8,burst=20":         "nginx:10r/s,burst=20,delay=8",
		"fixed:60/m,align=first":               "fixed:60/1m,align=first",
		"window:9/24h,cooldown=30s/extend":     "window:9/24h,cooldown=30s/extend",
		"envoy-local:1/s":                      "envoy-local:1/1s",
		"aws~:9223372036854775807/1us,x=1,a=2": "aws~:9223372036854775807/1us,a=2,x=1",
	} {
		spec, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := spec.String(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if again, err := Parse(want); err != nil || again != spec {
			t.Errorf("%q read again: %+v, %v; want %+v", want, again, err, spec)
		}
	}
}

func TestParseFields(t *testing.T) {
	got, err := Parse("token:6/30s,initial=1,burst=10")
	want := Spec{Algorithm: "token", Count: 6, Period: 30 * Second, Options: "burst=10,initial=1"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// What is wrong with a text is said, and what would be right.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "is empty",
		"6":                        "has no period; want COUNT/PERIOD, such as 6/30s",
		"token:6":                  "has no period",
		"token":                    "has no period",
		"6/":                       "want a length of time",
		"6/30x":                    `period "30x": want a length of time, such as 30s`,
		"6/-30s":                   "want a length of time",
		"6/+30s":                   "'+' joins",
		"6/0s":                     "longer than nothing",
		"6/0d":                     "longer than nothing",
		"6/1.5d":                   "want a length of time",
		"6/500ns":                  "whole number of microseconds",
		"6/99999999999d":           "want a length of time",
		"6/300000000w":             "too long",
		"6/9999999h":               "want a length of time",
		"/30s":                     `"" is no count`,
		"x/30s":                    `"x" is no count`,
		"-6/30s":                   `"-6" is no count`,
		"6.5/30s":                  `"6.5" is no count`,
		"0/30s":                    "at least 1",
		"9223372036854775808/1s":   "too large",
		"6 / 30 x":                 "a blank inside",
		"6/30s\tburst=":            "a blank inside",
		"6/min":                    "did you mean 6/1m?",
		"5/15min":                  "did you mean 5/15m?",
		"6/30sec":                  "did you mean 6/30s?",
		"6/30":                     "did you mean 6/30s?",
		"100rpm":                   "did you mean 100/1m?",
		"6/1Hour":                  "did you mean 6/1h?",
		"6 / 30s":                  "did you mean 6/30s?",
		"token:6/30s burst=3":      "did you mean token:6/30s,burst=3?",
		"6/30secs, burst=3":        "did you mean 6/30s,burst=3?",
		"10 requests per minute":   "did you mean 10/1m?",
		"5,10 req per 2 days":      "did you mean 5,10/2d?",
		"6/month":                  "want a length of time",
		"6/30s+60/1m":              "'+' joins",
		"Token:6/30s":              `"Token" is no name`,
		":6/30s":                   `"" is no name`,
		"6/30s,":                   "ends with a comma",
		"6/30s,,debt":              `"" is no option`,
		"6/30s,10/60s":             "several limits go into several texts",
		"6/30s,burst=":             "lacks its value",
		"6/30s,burst=1,burst=2":    "stands there twice",
		"6/30s,debt,debt=3":        "stands there twice",
		"6,10/30s":                 "stands for 2 limits",
		"50..5/30s":                "ends before it begins",
		"5..50:0/30s":              "the step of a range: the count must be at least 1",
		"5../30s":                  `"" is no count`,
		"1..10001/30s":             "more than 10000 limits",
		"1..9223372036854775807/s": "more than 10000 limits",
	} {
		spec, err := Parse(text)
		if err == nil {
			t.Errorf("%q is taken as %v", text, spec)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `limit "`) {
			t.Errorf("%q: %q, want it to say %q", text, err, want)
		}
	}
}

func TestParseAll(t *testing.T) {
	for text, want := range map[string]string{
		"6/30s":                  "6/30s",
		"6,10,20/30s":            "6/30s 10/30s 20/30s",
		"5..8/30s":               "5/30s 6/30s 7/30s 8/30s",
		"5..20:5/30s":            "5/30s 10/30s 15/30s 20/30s",
		"5..19:5/30s":            "5/30s 10/30s 15/30s",
		"5..5/30s":               "5/30s",
		"3,5..10:5,20/30s":       "3/30s 5/30s 10/30s 20/30s",
		"20,6/30s":               "20/30s 6/30s",
		"token:6,10/30s,burst=9": "token:6/30s,burst=9 token:10/30s,burst=9",
		"token:5..9:4/m,debt":    "token:5/1m,debt token:9/1m,debt",
		"9223372036854775807..9223372036854775807/1s": "9223372036854775807/1s",
	} {
		specs, err := ParseAll(text)
		var texts []string
		for _, s := range specs {
			texts = append(texts, s.String())
		}
		if got := strings.Join(texts, " "); err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	if specs, err := ParseAll("1..10000/30s"); err != nil || len(specs) != 10_000 {
		t.Errorf("1..10000: %d limits, %v", len(specs), err)
	}
	if specs, err := ParseAll("1..9999,5,6/30s"); err == nil {
		t.Errorf("1..9999,5,6 is taken as %d limits", len(specs))
	}
}

func TestFlag(t *testing.T) {
	var one Spec
	if err := one.Set("6/s"); err != nil || one.String() != "6/1s" || one.Type() != "limit" {
		t.Errorf("Spec flag is %v of type %s (%v)", one, one.Type(), err)
	}
	if err := one.Set("6,7/s"); err == nil || one.Count != 6 {
		t.Errorf("a list for one limit leaves %v (%v)", one, err)
	}
}

func TestArgs(t *testing.T) {
	spec, err := Parse("token:6/30s,burst=10,drip=30s,debt")
	if err != nil {
		t.Fatal(err)
	}
	args := spec.Args()
	if n := args.Int("burst", 3); n != 10 {
		t.Errorf("burst = %d", n)
	}
	if n := args.Int("initial", 3); n != 3 {
		t.Errorf("initial = %d", n)
	}
	if p := args.Duration("drip", 0); p != 30*Second {
		t.Errorf("drip = %d", p)
	}
	if p := args.Duration("cooldown", Second); p != Second {
		t.Errorf("cooldown = %d", p)
	}
	if !args.Flag("debt") || args.Flag("extend") {
		t.Error("debt is not there or extend is")
	}
	if err := args.Err(); err != nil {
		t.Error(err)
	}
}

func TestArgsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"token:6/30s,bursty=4":                  `limit "token:6/30s,bursty=4": unknown option "bursty" (did you mean "burst"?); token takes burst=N, drip=PERIOD, debt`,
		"token:6/30s,zzz":                       `limit "token:6/30s,zzz": unknown option "zzz"; token takes burst=N, drip=PERIOD, debt`,
		"token:6/30s,burst=-4":                  "wants a whole number, such as burst=10",
		"token:6/30s,burst=4s":                  "wants a whole number",
		"token:6/30s,burst":                     `not ""`,
		"token:6/30s,burst=9223372036854775808": "wants a whole number",
		"token:6/30s,drip=5":                    "wants a length of time, such as drip=30s",
		"token:6/30s,drip=m":                    "wants a length of time",
		"token:6/30s,debt=3":                    "takes no value",
		"token:6/30s,burst=x,zzz":               "wants a whole number",
	} {
		spec, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		args := spec.Args()
		args.Int("burst", 0)
		args.Duration("drip", 0)
		args.Flag("debt")
		if err := args.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want it to say %s", text, err, want)
		}
	}
	if err := (Spec{Algorithm: "window", Count: 1, Period: 1, Options: "x"}).Args().Err(); err == nil ||
		!strings.HasSuffix(err.Error(), "window takes no options but "+Common) {
		t.Error(err)
	}
}

func TestArgsFlagOrInt(t *testing.T) {
	for options, want := range map[string]struct {
		n     int64
		given bool
		err   string
	}{
		"":        {0, false, ""},
		"debt":    {7, true, ""},
		"debt=3":  {3, true, ""},
		"debt=0":  {0, true, ""},
		"debt=3s": {7, true, `the option debt stands alone or wants a whole number, such as debt=10, not "3s"`},
		"debts":   {7, false, `did you mean "debt"?); token takes debt[=N]`},
	} {
		args := Spec{Algorithm: "token", Count: 6, Period: Second, Options: options}.Args()
		n, given := args.FlagOrInt("debt", 7)
		err := args.Err()
		if given != want.given || given && n != want.n || (err == nil) != (want.err == "") {
			t.Errorf("%q: %d, %v, %v", options, n, given, err)
		}
		if err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("%q: %v, want it to say %s", options, err, want.err)
		}
	}
}

func TestNearest(t *testing.T) {
	choices := []string{"token", "leaky", "window"}
	for word, want := range map[string]string{
		"tokn": "token", "tokens": "token", "leeky": "leaky", "windwos": "window", "token": "token",
		"": "", "nginx": "", "bucket": "", "toooken": "token", "tooooken": "",
	} {
		if got := Nearest(word, choices); got != want {
			t.Errorf("%q is near to %q, want %q", word, got, want)
		}
	}
	for pair, want := range map[[2]string]int{{"", ""}: 0, {"", "abc"}: 3, {"kitten", "sitting"}: 3, {"flaw", "lawn"}: 2} {
		if got := editDistance(pair[0], pair[1]); got != want {
			t.Errorf("%q: distance %d, want %d", pair, got, want)
		}
	}
}

// Whatever is read can be written and read again, and the fields are as constructors expect them.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"6/30s", "token:10/s,burst=20,initial=0", "5..50:5,60/1m30s", "leaky:3/1.5ms,drip=60s", "x~:1/w,a=0001,b=s/extend", "1/110000d", "6,7/30s,", ":/", "1..2..3/s",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		specs, err := ParseAll(text)
		if err != nil {
			if specs != nil {
				t.Errorf("%q: specs and an error", text)
			}
			return
		}
		if len(specs) == 0 || len(specs) > maxSpecs {
			t.Fatalf("%q: %d specs", text, len(specs))
		}
		for _, s := range []Spec{specs[0], specs[len(specs)-1]} {
			again, err := Parse(s.String())
			if err != nil || again != s || s.Count < 1 || s.Period < 1 {
				t.Fatalf("%q: %+v is written %q and read as %+v (%v)", text, s, s, again, err)
			}
			options := strings.Split(s.Options, ",")
			if !slices.IsSortedFunc(options, func(a, b string) int { return strings.Compare(optionName(a), optionName(b)) }) {
				t.Errorf("%q: options %q", text, s.Options)
			}
		}
	})
}
