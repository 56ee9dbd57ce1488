package initial

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/suggest"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/ingest"
)

// Hostile names break out of no comment and no text: the file says what it would say without them.
func TestHostile(t *testing.T) {
	r := testneeds.Rand(t, 27, 1)
	shop, err := os.ReadFile("../../../sample-logs/shop-combined.log")
	if err != nil {
		t.Fatal(err)
	}
	log := bytes.NewBuffer(shop)
	log.Write(testneeds.HostileLog(r, 200))
	for client := range 10 { // the server itself
		var agent string
		for range 5 {
			agent += "\n" + testneeds.HostileTexts[r.IntN(len(testneeds.HostileTexts))]
		}
		agent = strings.NewReplacer("\n", `\x0a`, "\r", `\x0d`, `"`, `\x22`).Replace("WordPress/6.4" + agent + "\nexempt: {addresses: 0.0.0.0/0}")
		for minute := range 60 {
			fmt.Fprintf(log, "127.0.0.%d - - [02/Mar/2026:23:%02d:00 +0000] \"POST /wp-cron.php HTTP/1.1\" 200 0 \"-\" \"%s\"\n", client, minute, agent)
		}
	}
	name := filepath.Join(t.TempDir(), "hostile.log")
	if err := os.WriteFile(name, log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	f := &Init{Suggest: pipeline.Suggest{
		Logs: pipeline.Logs{Caller: pipeline.Caller{Out: &out, Err: io.Discard, Started: time.Now()}, MaxBad: 100},
		Band: true, Holdout: pipeline.DefaultHoldout, Scale: pipeline.SameScale, Recover: suggest.DefaultRecover,
	}}
	f.Format, f.Timezone, f.Lateness, f.Wanted = "auto", time.UTC, ingest.DefaultLateness, true
	f.Given = []policy.Default{{Name: "exclude", Values: []string{"/health"}}}
	for _, stated := range testneeds.HostileTexts { // of what no configuration takes
		stated = strings.ToValidUTF8(strings.Map(func(c rune) rune { return map[bool]rune{true: -1, false: c}[unicode.IsControl(c)] }, stated), "?")
		if stated != "" {
			f.Given[0].Values = append(f.Given[0].Values, stated)
		}
	}
	if err := f.Run(t.Context(), []string{name}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(out.String(), func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }); i >= 0 {
		t.Errorf("a character that is not visible stands in %q", out.String()[i:min(i+80, out.Len())])
	}
	config, err := policy.ParseConfig("shadow.yaml", out.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if d := config.Defaults; len(d) != 1 || !slices.Equal(d[0].Values, f.Given[0].Values) {
		t.Errorf("the defaults are %q", d)
	}
	if len(config.Exempt.Networks) != 11 || len(config.Policies) > 1 || len(config.Tiers) > 0 || len(config.Actions) > 0 {
		t.Errorf("it says\n%s", &out)
	}
	for _, exempt := range config.Exempt.Networks {
		if a, err := netip.ParseAddr(exempt); err != nil || !a.IsLoopback() && exempt != "203.0.113.204" {
			t.Errorf("%s is exempt", exempt)
		}
	}
}
