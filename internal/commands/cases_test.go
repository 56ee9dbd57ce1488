package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// A logCase is a log with the reason why the answer about it is right. Real logs are no part of the project.
type logCase struct {
	name, what, why string
	real            bool
	files           []string // patterns; none: all that are compressed
	args            []string
}

var logCases = []logCase{
	{name: "shop-combined.log", what: "a shop, generated", why: "Two scrapers and a guesser of passwords send far faster than people, whose page loads fit."},
	{name: "nginx-timed.log", what: "the same kind with milliseconds", why: "The scrapers keep up rates that no reader has. Twenty readers in the last part show too little to be sure."},
	{name: "vhosts.log", what: "several sites", why: "One client sends page after page. Visitors are too few to be sure."},
	{name: "api.json", what: "a site behind a script", why: "One tool sends a third of all requests, many a second. Visitors are too few."},
	{name: "rotated", what: "a small site, in rotated files", why: "Two clients send page after page, without the files that readers load. Visitors are too few."},

	{name: "almhuette-2015-2016", real: true, what: "a Joomla site under login attacks", why: "14,000 addresses guess passwords, nearly all as one swarm. The few that hurry are far above visitors."},
	{name: "almhuette-2018", real: true, what: "the same site", why: "A download accelerator with 54,233 requests for one file, and guessers, are far above visitors."},
	{name: "almhuette-2019", real: true, what: "the same site, 14 hours", why: "Two addresses guess passwords, with 63 % of all requests."},
	{name: "elastic-apache", real: true, what: "a blog, with times rewritten", why: "Half of the lines go back in time, so no rate can be judged."},
	{name: "elastic-nginx", real: true, what: "a package mirror, with times rewritten", why: "Half of the lines go back in time, so no rate can be judged."},
	{name: "farmer-2024-2026", real: true, what: "the server of a farm", why: "A scanner asks for what is not there, faster than any visitor.", files: []string{"*combined*", "*vhost*", "nginx*", "*common*"}},
	{name: "hackers-basjes-2015", real: true, what: "abuse from 520 addresses", why: "None of them sends more than eleven requests a minute, so no limit per address reaches them."},
	{name: "nasa-1995-07-09", real: true, what: "a site of 1995, without agents", why: "Clients cannot be divided, and no client is far above the others."},
	{name: "netnea-2015-2016", real: true, what: "lessons, with addresses removed", why: "A quarter of the requests are many people under the address 0.0.0.0."},
	{name: "ocatak-scanners", real: true, what: "four scanners in a laboratory", why: "Four clients, and none of them a visitor.", args: []string{"--format", `"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""`}},
	{name: "roadmap-nginx-2024", real: true, what: "a site of a course, with probes", why: "Uptime probes are monitors and no target. Scanners send bursts that no visitor does."},
	{name: "sparkdeveloper-2016", real: true, what: "several blogs", why: "Crawlers and guessers are as slow as readers, so only a limit that forgets slowly would stop them."},
	{name: "sundog-2017", real: true, what: "a blog whose server calls itself", why: "Its own requests, a third, are no target, and the lines let them through. Those who try passwords come no faster than pages."},
	{name: "webbot-phase1", real: true, what: "people and bots by session", why: "The bots imitate people, and send no faster.", args: []string{"--format", `- - [$time_local] "$request" $status $body_bytes_sent "$http_referer" $session "$http_user_agent"`, "--client", "session"}},
	{name: "webbot-phase2", real: true, what: "people by session", why: "There are only people.", args: []string{"--format", `- - [$time_local] "$request" $status $body_bytes_sent "$http_referer" $session "$http_user_agent"`, "--client", "session"}},
	{name: "imooc-2016", real: true, what: "a site with a health check", why: "Health checks are half of it; other programs are no faster than people."},
	{name: "zanbil-sample-2019", real: true, what: "41 minutes of a shop", why: "Some visitors load more pictures at once than bots ask for pages."},
}

// logs returns the files of the case.
func (c *logCase) logs(t *testing.T) (files []string) {
	if !c.real {
		return []string{filepath.Join(testneeds.Root(t), "sample-logs", c.name)}
	}
	patterns := c.files
	if patterns == nil {
		patterns = []string{"*.gz"}
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(testneeds.Shared(t, filepath.Join("logs", c.name)), pattern))
		must(t, err)
		files = append(files, found...)
	}
	return files
}

// row asks about the log.
func (c *logCase) row(t *testing.T) string {
	files := c.logs(t)
	var s struct {
		Findings []struct{ Code, Severity string }
		Answer   struct {
			Verdict, Site string
			Limit         *string
			Targets       struct {
				Percent float64 `json:"refused_percent"`
			}
			Protects struct{ Clients, Hit int64 }
		}
	}
	text := run(t, ".", slices.Concat([]string{"suggest", "-o", "json", "--quiet", "--max-bad", "100%"}, files, c.args)...)
	must(t, json.Unmarshal(text, &s))
	var codes []string
	for _, f := range s.Findings {
		code := "`" + f.Code + "`"
		if f.Severity == "stop" {
			code = "**" + code + "**"
		}
		if !slices.Contains(codes, code) && f.Code != "whole_seconds" {
			codes = append(codes, code)
		}
	}
	a, answer := &s.Answer, "`"+s.Answer.Verdict+"`"
	if a.Limit != nil {
		answer += fmt.Sprintf(" `%s`: %.1f %%", *a.Limit, a.Targets.Percent)
	}
	return fmt.Sprintf("| %s: %s | %s | %s | %s |\n", c.name, c.what, strings.Join(codes, ", "), answer, c.why)
}

// TestCases holds docs/cases.md against what the program says of each log. Without the real logs their rows stay as they are.
func TestCases(t *testing.T) {
	const page = "../../docs/cases.md"
	old, err := os.ReadFile(page)
	if err != nil && !*update {
		t.Fatal(err)
	}
	_, err = os.Stat("../../../shared/logs")
	var rows bytes.Buffer
	for _, c := range logCases {
		if c.real && err != nil {
			i := bytes.Index(old, []byte("| "+c.name+":"))
			if i < 0 {
				t.Errorf("%s is not on the page", c.name)
				continue
			}
			rows.Write(old[i : i+bytes.IndexByte(old[i:], '\n')+1])
			continue
		}
		rows.WriteString(c.row(t))
	}
	want := casesHead + rows.String()
	if *update {
		must(t, os.WriteFile(page, []byte(want), 0o644)) //nolint:gosec // a page for everybody
	} else if string(old) != want {
		t.Errorf("%s should be (-update rewrites it)\n%s", page, want)
	}
}

const casesHead = `# Cases

What [shadow suggest](suggest.md) says of logs without any flag but the format, and why that is right. The first five are in
` + "`sample-logs/`" + `, the others real. The answer is the verdict, the limit and
the share of the target requests that it refuses. [Findings](findings.md) in bold forbid an answer.

| log | findings | answer | why it is right |
|---|---|---|---|
`
