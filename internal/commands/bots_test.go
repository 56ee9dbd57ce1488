package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A network whose addresses send five requests each is told by every command, and all of them mean the same bots.
func TestOneBotNetwork(t *testing.T) {
	const web = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
	type line struct {
		at   int
		text string
	}
	var lines []line
	hit := func(at int, client, path, referer string) {
		stamp := time.Unix(1772438400+int64(at), 0).UTC().Format("02/Jan/2006:15:04:05 -0700")
		lines = append(lines, line{at, fmt.Sprintf(`%s - - [%s] "GET %s HTTP/1.1" 200 512 "%s" "%s"`, client, stamp, path, referer, web)})
	}
	const people, bots = 150, 100
	for i := range people {
		at, from := 180*i, "https://www.example.org/"
		for page := range 2 + i%5 {
			path := fmt.Sprintf("/shop/%d", 7*i%50+page)
			hit(at, fmt.Sprintf("203.0.113.%d", i), path, from)
			from = "https://shop.example" + path
			hit(at+1, fmt.Sprintf("203.0.113.%d", i), "/style.css", from)
			at += 5 + 37*((i+3*page)%7)
		}
	}
	for i := range bots {
		for j := range 5 {
			hit(5000*j+47*i, fmt.Sprintf("198.51.100.%d", i), fmt.Sprintf("/shop/%d", 31*i%50+j), "-")
		}
	}
	slices.SortStableFunc(lines, func(x, y line) int { return x.at - y.at })
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.text + "\n")
	}
	log := filepath.Join(t.TempDir(), "access.log")
	must(t, os.WriteFile(log, []byte(text.String()), 0o600))
	for _, c := range []struct {
		args   []string
		remedy string
	}{
		{[]string{"doctor", log}, "shadow replay --by client/24"},
		{[]string{"suggest", log}, "shadow replay --by client/24"},
		{[]string{"keys", log}, ""}, // it counts by network
		{[]string{"sweep", log, "--no-store", "--evidence"}, "--by client/24"},
		{[]string{"replay", log, "--no-store", "--evidence", "--limit", "6/30s"}, "--by client/24"},
		{[]string{"replay", log, "--no-store", "--evidence", "--limit", "6/30s", "--by", "client/24"}, ""},
		{[]string{"diff", log, "--evidence", "--limit", "token:6/30s", "--limit", "token:9/30s"}, "--by client/24"},
		{[]string{"explain", "198.51.100.7", log, "--limit", "6/30s"}, "--by client/24"},
	} {
		t.Run(strings.ReplaceAll(strings.Join(c.args, " "), log, "LOG"), func(t *testing.T) {
			report := readJSON[struct {
				Input struct {
					Identities map[string]struct{ Clients int }
				}
				Identity struct {
					Identity string
					Reasons  []string
				}
				Findings []struct{ Code, Evidence, Remedy string }
			}](t, c.args...)
			found := false
			for _, f := range report.Findings {
				if f.Code == "bot_network" {
					found = strings.HasPrefix(f.Evidence, "198.51.100.0/24 is one bot: 500 (")
					if f.Remedy != c.remedy {
						t.Errorf("remedy %q, want %q", f.Remedy, c.remedy)
					}
				}
			}
			if !found {
				t.Errorf("it is not told: %v", report.Findings)
			}
			if n := report.Input.Identities["disguised"].Clients; n != bots {
				t.Errorf("%d clients are disguised, want %d: %v", n, bots, report.Input.Identities)
			}
			if is := report.Identity; c.args[0] == "explain" && (is.Identity != "disguised" || len(is.Reasons) == 0) {
				t.Errorf("it is %+v", is)
			}
		})
	}
}
