package commands

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// A trap is a real log that misleads. What of it must be told is told alike by every command that reads logs, and the
// flags that are proposed lead to an answer that makes sense. Sets of more than 110,000 lines are read in part: a few
// days with what is to be told.
type trap struct {
	set   string
	files []string // patterns; none: all that are compressed
	args  []string
	told  string   // "severity code: a part of the evidence", each, with ; between
	after []string // the verdicts that make sense once all remedies were followed
}

var traps = []trap{
	{set: "almhuette-2015-2016", args: []string{"--since", "2016-03-20", "--until", "2016-04-03"}, told: "info clock: from +0100 to +0200", after: []string{"deploy", "deploy_unproven", "ceiling", "no_limit_can"}},
	{set: "almhuette-2018", args: []string{"--since", "2018-10-25", "--until", "2018-11-01"}, told: "info clock: from +0200 to +0100", after: []string{"deploy", "deploy_unproven", "ceiling", "no_limit_can"}},
	{set: "almhuette-2019", told: "info attacker: 193.106.31.130", after: []string{"deploy", "deploy_unproven"}},
	{set: "elastic-apache", told: "stop clock: times and order contradict each other", after: []string{"not_judgeable"}},
	{set: "elastic-nginx", told: "stop clock: times and order contradict each other; info api_or_app: no site for people", after: []string{"not_judgeable"}},
	{set: "farmer-2024-2026", files: []string{"*combined*", "*vhost*", "nginx*", "*common*"}, told: "info attacker: 91.92.241.149; info enforced: 503", after: []string{"deploy", "deploy_unproven"}},
	{set: "hackers-basjes-2015", after: []string{"no_limit_can", "ceiling"}},
	{set: "imooc-2016", told: "info health_check: sent 4,720 (47.20 %)", after: []string{"no_limit_can"}},
	{set: "imooc-2016", args: []string{"--format", `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$host" "$http_referer" $args "$http_user_agent" "$http_x_forwarded_for" $upstream_addr $upstream_status $upstream_response_time $request_time`}, told: "info health_check: 10.100.0.1", after: []string{"no_limit_can"}},
	{set: "nasa-1995-07-09", told: "warn no_agents: not logged", after: []string{"ceiling", "no_limit_can"}},
	{set: "netnea-2015-2016", told: "stop proxy_as_client: 0.0.0.0; warn clock: 8 times the clock steps back; info clock: from +0100 to +0200; info own_server: 127.0.0.1", after: []string{"not_judgeable"}},
	{set: "ocatak-scanners", args: []string{"--format", `"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""`}, told: "stop few_clients: 3 clients; stop clock: contradict", after: []string{"not_judgeable"}},
	{set: "roadmap-nginx-2024", told: "info health_check: 138.68.248.85; info clock: 18 h 3 min; info attacker: 172.104.4.17", after: []string{"deploy", "deploy_unproven"}},
	{set: "sparkdeveloper-2016", args: []string{"--since", "2016-03-11", "--until", "2016-03-16"}, told: "info clock: changes by 1 h 0 min at 2016-03-13 07:00:25 UTC, from -0500 to -0400; info health_check: jetmon; info own_server: wp-cron.php", after: []string{"deploy", "deploy_unproven", "ceiling", "no_limit_can"}},
	{set: "sundog-2017", told: "info own_server: 54.210.20.202; info clock: by up to 16 min 17 s, and are put in order; info attacker: 1,192 addresses", after: []string{"deploy", "deploy_unproven", "ceiling"}},
	{set: "webbot-phase1", args: sessions, told: "warn client_missing: 704 of 41,184 requests have no session", after: []string{"ceiling", "no_limit_can"}},
	{set: "webbot-phase2", args: sessions, told: "warn few_clients: 88 clients", after: []string{"ceiling", "no_limit_can"}},
	{set: "zanbil-sample-2019", told: "warn short_log: 40 min", after: []string{"no_limit_can", "ceiling", "deploy"}},
}

var sessions = []string{"--format", `- - [$time_local] "$request" $status $body_bytes_sent "$http_referer" $session "$http_user_agent"`, "--client", "session"}

// A toldFinding is one as JSON has it.
type toldFinding struct {
	Code, Severity string
	Share          *float64
	Evidence       string
	Remedy         string
}

// A told holds what a command says of a log.
type told struct {
	Findings []toldFinding
	Answer   struct{ Verdict, Reason string }
}

// ask runs a command on the files of the trap. That stamps are whole seconds concerns only those commands that do not
// reckon with it.
func (c *trap) ask(t *testing.T, command ...string) (a told) {
	t.Helper()
	dir := testneeds.Shared(t, filepath.Join("logs", c.set))
	var files []string
	for _, pattern := range append(c.files, map[bool]string{true: "*.gz"}[c.files == nil]) {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		must(t, err)
		files = append(files, found...)
	}
	args := slices.Concat(command, []string{"-o", "json", "--quiet", "--max-bad", "100%"}, files, c.args)
	must(t, json.Unmarshal(run(t, dir, args...), &a))
	a.Findings = slices.DeleteFunc(a.Findings, func(f toldFinding) bool { return f.Code == "whole_seconds" })
	return a
}

func TestTraps(t *testing.T) {
	for i := range traps {
		c := &traps[i]
		t.Run(fmt.Sprint(c.set, " ", len(c.args)), func(t *testing.T) {
			first := c.ask(t, "suggest")
			c.isTold(t, first.Findings)
			for _, command := range [][]string{
				{"doctor"}, {"replay", "--no-store", "--limit", "60/1m"}, {"keys"}, {"sweep", "--no-store"},
			} {
				if got := c.ask(t, command...); fmt.Sprint(texts(got.Findings)) != fmt.Sprint(texts(first.Findings)) {
					t.Errorf("%s finds\n%s\nsuggest finds\n%s", command[0], strings.Join(texts(got.Findings), "\n"), strings.Join(texts(first.Findings), "\n"))
				}
			}
			c.follow(t, first)
		})
	}
}

// texts returns findings in full.
func texts(all []toldFinding) (lines []string) {
	for _, f := range all {
		share := "-"
		if f.Share != nil {
			share = fmt.Sprint(*f.Share)
		}
		lines = append(lines, strings.Join([]string{f.Severity, f.Code, share, f.Evidence, f.Remedy}, " | "))
	}
	return lines
}

// isTold looks for what must be told.
func (c *trap) isTold(t *testing.T, all []toldFinding) {
	for one := range strings.SplitSeq(c.told, "; ") {
		if one == "" {
			continue // of some logs nothing must be told
		}
		name, says, _ := strings.Cut(one, ": ")
		if !slices.ContainsFunc(all, func(f toldFinding) bool {
			return f.Severity+" "+f.Code == name && strings.Contains(f.Evidence, says)
		}) {
			t.Errorf("%q is not told in\n%s", one, strings.Join(texts(all), "\n"))
		}
	}
}

// follow adds the flags that are proposed, finding by finding, until none are left to add. What was proposed must help:
// the finding goes away, or says something else. The verdict in the end must make sense.
func (c *trap) follow(t *testing.T, now told) {
	added := map[string]bool{}
	for range 8 {
		i := slices.IndexFunc(now.Findings, func(f toldFinding) bool { return f.Remedy != "" && f.Code != "not_http" && !added[f.Remedy] })
		if i < 0 {
			break
		}
		f := now.Findings[i]
		added[f.Remedy] = true
		next := *c
		next.args = slices.Concat(c.args, strings.Fields(f.Remedy))
		*c = next
		if now = c.ask(t, "suggest"); slices.Contains(texts(now.Findings), texts([]toldFinding{f})[0]) {
			t.Errorf("%s does not help against: %s", f.Remedy, f.Evidence)
		}
	}
	t.Logf("%s %s, with %q", now.Answer.Verdict, now.Answer.Reason, slices.Sorted(maps.Keys(added)))
	for _, f := range now.Findings {
		if f.Severity != "info" && f.Remedy != "" {
			t.Errorf("still: %s; try %s", f.Evidence, f.Remedy)
		}
	}
	if !slices.Contains(c.after, now.Answer.Verdict) {
		t.Errorf("in the end %s: %s; want one of %q", now.Answer.Verdict, now.Answer.Reason, c.after)
	}
}

// A name in front of addresses, as vhost_combined has it, is never taken for a client.
func TestNamesOfHostsAreNoClients(t *testing.T) {
	dir := testneeds.Shared(t, "logs/farmer-2024-2026")
	files, err := filepath.Glob(filepath.Join(dir, "*vhost*"))
	must(t, err)
	var a struct {
		Input    struct{ Requests, Clients int64 }
		Policies []struct {
			Clients []struct{ Client string } `json:"top_clients"`
		}
	}
	must(t, json.Unmarshal(run(t, dir, slices.Concat([]string{"replay", "--no-store", "--limit", "window:1/1h", "-o", "json", "-q"}, files)...), &a))
	if a.Input.Clients != 5 || strings.Contains(fmt.Sprint(a.Policies), "farm") {
		t.Errorf("%+v", a)
	}
	out, err := command(t, dir, slices.Concat([]string{"doctor", "--format", "combined"}, files)...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "unreadable") {
		t.Errorf("%v: %s", err, out)
	}
}
