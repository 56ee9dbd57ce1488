package advice

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"shadow/internal/findings"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/table"
)

// deployed is advice on a bucket of 600 requests a minute.
func deployed() *suggest.Advice {
	of := &suggest.Suggestion{Shape: sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: 600, Per: limit.Minute}}}
	scale, _ := suggest.ParseScale("1")
	return &suggest.Advice{
		Question: suggest.Question{Goals: suggest.GoalsOf(findings.People), Scale: scale}, Whole: &suggest.Whole{Groups: who.Groups{1e9, 1e9, 1e9}}, Answer: suggest.Answer{Of: of},
	}
}

// Whatever the log, the flags and the names in it, the answer in short has at most 25 lines of at most 100 columns. Only
// lines to paste and commands are as long as they are: half of one is of no use.
func TestBriefFits(t *testing.T) {
	random := testneeds.Rand(t, 25, 100)
	hostile := []string{
		"/login", "", "/" + strings.Repeat("a", 3000), strings.Repeat("/ä🙂\u0301\u202e", 90), "\x1b[31m\n\n\nnext  rm -rf", strings.Repeat("x y ", 40),
		"/api/" + strings.Repeat("%2e", 70) + "/end",
	}
	pick := func() string { return hostile[random.IntN(len(hostile))] }
	some := func(n int, make func(i int) string) (all []string) {
		for i := range random.IntN(n + 1) {
			all = append(all, make(i))
		}
		return all
	}
	watches := []Watch{
		{},
		{How: "nginx has no dry run"},
		{How: "count what the log says", Count: "grep -c limit_req x", Log: []string{"log_format", "access_log"}},
	}
	for round := range 3000 {
		logs := pick()
		r := &Report{Doctor: "shadow doctor " + logs, Head: report.Head{Warnings: some(9, func(i int) string { return fmt.Sprint(i, pick()) })}}
		r.Input.Requests, r.Input.Clients, r.Input.Resolution = random.Int64N(1e12), random.Int64N(1e9), "second"
		for _, f := range some(3, func(int) string { return pick() }) {
			r.Input.Formats = append(r.Input.Formats, report.Format{Format: f})
		}
		for range random.IntN(6) {
			r.Findings = append(r.Findings, findings.Finding{Evidence: pick(), Remedy: pick()})
		}
		text, best := "token:600/1m,burst=100000", "window:5/1m"
		v := &Verdict{
			Verdict: []string{"deploy", "deploy_unproven", "ceiling"}[random.IntN(3)], Reason: "the target of " + pick() + " sends faster",
			AtRisk: &AtRisk{AtOnce: random.Int64N(1e9), Clients: random.Int64N(1e9), Validated: random.Int64N(20)}, MostHit: new(float64), Site: findings.People, For: "nginx", Note: pick(), Limit: &text, Allows: &Allows{1, 2, 3},
			Next: some(4, func(int) string { return "shadow suggest " + logs + " --action " + pick() }),
		}
		if random.IntN(2) > 0 {
			v.Best = &best
		}
		if random.IntN(2) > 0 {
			v.Exempt = &Exempt{Requests: random.Int64N(1e12), Clients: random.Int64N(1e9), Pasted: random.IntN(2) > 0, Addresses: some(8, func(i int) string { return fmt.Sprint("2001:db8:1234:5678:9abc:def0:1234:", i) })}
		}
		for range random.IntN(4) {
			v.Most = append(v.Most, RefusedMost{
				Client: pick(), Identity: "disguised", Agent: pick(), Action: pick(), Requests: random.Int64N(1e12), Refused: 1 + random.Int64N(1e12),
				Reasons: some(3, func(int) string { return pick() }),
			})
		}
		if len(v.Most) > 0 && random.IntN(3) == 0 {
			v.Heavy = &Heavy{RefusedMost: v.Most[0], RefusedOfAll: 1e12}
		}
		for i := range random.IntN(5) {
			v.Search = append(v.Search, suggest.CrawlerHit{Name: pick(), Requests: int64(i), Refused: int64(i)})
		}
		for range random.IntN(3) {
			v.Paste = append(v.Paste, servers.Block{Place: "http", Lines: some(4, func(i int) string { return "limit_req zone=" + strings.Repeat("z", i*40) + ";" })})
		}
		a := &Answer{Action: pick(), Key: pick(), Server: "nginx", Watch: watches[random.IntN(3)], Verdict: v, Advice: deployed()}
		for _, markdown := range []bool{false, true} {
			w := &document.Writer{Markdown: markdown}
			r.brief(w, a)
			lines := strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
			most := briefLines
			if v.Exempt != nil && len(v.Paste) == 0 { // addresses that no lines name, for a person to act on
				most += len(v.Exempt.Addresses)
			}
			if len(lines) > most && !markdown {
				t.Errorf("round %d: %d lines:\n%s", round, len(lines), w.String())
			}
			for _, line := range lines {
				command := strings.Contains(line, "shadow suggest ") || strings.HasPrefix(line, "    ") || strings.Contains(line, "limit_req ")
				if columns := table.ColumnsOf(strings.TrimPrefix(line, "    ")); columns > briefWidth && !command {
					t.Errorf("round %d: %d columns: %s", round, columns, line)
				}
			}
			if !strings.Contains(w.String(), wordings[v.Verdict].label+" ") || !strings.Contains(w.String(), "nginx, 600 requests") || strings.ContainsAny(w.String(), "\x1b\u202e") {
				t.Errorf("round %d: no verdict with its limit, or something that a terminal acts upon:\n%q", round, w.String())
			}
			for _, b := range v.Paste {
				for _, line := range b.Lines {
					if !strings.Contains(w.String(), line) {
						t.Errorf("round %d: the line %q is not all there", round, line)
					}
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}

// A command of several lines is to a shell what it is in one.
func TestContinuedCommands(t *testing.T) {
	random := testneeds.Rand(t, 25, 101)
	words := []string{"a", "--limit nginx:1r/s,burst=4", `'x  y'`, `'--exclude=/don'\''t do/it'`, "access.log.*", "--evidence", strings.Repeat("b", 120), `'--x y'`}
	for range 50 {
		command := "printf '%s\\n'"
		for range random.IntN(12) {
			command += " " + words[random.IntN(len(words))]
		}
		lines := continued(command, 60)
		want, err := exec.Command("sh", "-c", command).Output()
		if err != nil {
			t.Fatal(err)
		}
		got, err := exec.Command("sh", "-c", strings.Join(lines, "\n")).Output()
		if err != nil || string(got) != string(want) {
			t.Errorf("%s\nis %q, in several lines %q: %v", command, want, got, err)
		}
		for _, line := range lines {
			if len(line) > 60 && len(line) < 100 {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
}

// What did not come in the last part says nothing there; what came and was not refused does.
func TestLastPartWithoutTarget(t *testing.T) {
	v := &Verdict{Targets: Affected{Requests: 100, RefusedPercent: 50}, Validated: new(Validated)}
	for requests, want := range map[int64]string{0: "none came in the last part", 9: "0.00 % in the last part, not used to choose"} {
		v.Validated.Targets.Requests = requests
		if got := v.botsText(); got != "50.00 % of 100 requests refused; "+want {
			t.Errorf("%d requests: %s", requests, got)
		}
	}
}

// A finding is whole, with the flags to add, or it is counted.
func TestFindingsAreWhole(t *testing.T) {
	f := findings.Finding{Evidence: strings.TrimSpace(strings.Repeat("word ", 40)), Remedy: "--client-from x-forwarded-for --trusted-proxy private"}
	r := &Report{Doctor: "shadow doctor x.log", Head: report.Head{Findings: []findings.Finding{f, f, f}}}
	for room, want := range map[int]string{1: "3 findings: shadow doctor x.log", 4: "2 other findings: shadow doctor x.log", 9: f.Remedy} {
		lines := r.shown(r.found(briefWidth), room)
		if text := strings.Join(lines, "\n"); len(lines) > room || strings.Contains(text, "…") || !strings.HasSuffix(text, want) ||
			room > 1 && !strings.Contains(text, f.Remedy) {
			t.Errorf("in %d lines: %q", room, lines)
		}
	}
}

// What an attack got and who the clients are comes before all that forbids no answer; for what there is no room, its kind is told.
func TestAttackersComeFirst(t *testing.T) {
	r := &Report{Doctor: "shadow doctor x.log", Head: report.Head{Findings: []findings.Finding{
		{Code: "short_log", Severity: findings.Warn, Evidence: "short"},
		{Code: "health_check", Severity: findings.Info, Share: 0.6, Evidence: "checks"},
		{Code: "own_server", Severity: findings.Info, Share: 0.05, Evidence: "cron"},
		{Code: "attacker", Severity: findings.Info, Share: 0.01, Evidence: "guesses"},
		{Code: "secrets_served", Severity: findings.Warn, Evidence: "dumps"},
		{Code: "few_clients", Severity: findings.Stop, Evidence: "few"},
	}}}
	lines := r.shown(r.found(briefWidth), 4)
	var got []string
	for _, line := range lines {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"few few", "leak dumps", "attack guesses", "3 other findings (monitors 60 %, short, own 5 %): shadow doctor x.log"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r.Findings = r.Findings[:2]
	r.Findings[0].Evidence = strings.Repeat("short ", 20)
	if lines = r.shown(r.found(briefWidth), 2); !strings.HasSuffix(lines[1], " 1 other finding (short): shadow doctor x.log") {
		t.Errorf("%q", lines)
	}
}

// Who sends most of a log is named before the attackers in it.
func TestHeavyComesFirst(t *testing.T) {
	for share, want := range map[findings.Share]string{0.6: "who", 0.4: "guesses"} {
		r := &Report{Head: report.Head{Findings: []findings.Finding{
			{Code: "heavy_client", Severity: findings.Warn, Share: share, Evidence: "who"},
			{Code: "attacker", Severity: findings.Info, Share: 0.1, Evidence: "guesses"},
		}}}
		if got := r.found(briefWidth)[0].lines[0]; !strings.HasSuffix(got, want) {
			t.Errorf("of %v: %q", share, got)
		}
	}
}

// The count to expect is that of all requests that get to the lines.
func TestCountToExpect(t *testing.T) {
	for want, w := range map[string]Watch{
		"(here 7)": {}, "(here at most 7)": {Partly: true}, "which lacks what Fastly does not pass on": {Front: "Fastly"}, "(here 7 without what --exclude leaves out)": {With: -1},
		"(here 9 with what --exclude leaves out, 7 without)": {With: 9},
	} {
		a := &Answer{Watch: w, Verdict: new(Verdict), Advice: deployed()}
		a.Watch.Count, a.Advice.Answer.Whole.Refused = "grep", who.Groups{who.Program: 7}
		if got := new(Report).watchText(a); !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The headline promises a dry run only where the server has one, and lines for it.
func TestHeadlineOfDryRun(t *testing.T) {
	paste, count := []servers.Block{{Place: "server"}}, Watch{Count: "grep"}
	for _, c := range []struct {
		server string
		paste  []servers.Block
		watch  Watch
		want   bool
	}{{"nginx", paste, count, true}, {"nginx", nil, count, false}, {"Caddy", paste, Watch{}, false}, {"", nil, Watch{}, true}} {
		limit := "x:1/1s"
		v := &Verdict{Limit: &limit, Paste: c.paste, AtRisk: new(AtRisk), Heavy: &Heavy{}}
		for _, v.Verdict = range []string{"deploy", "deploy_unproven"} {
			a := &Answer{Server: c.server, Watch: c.watch, Verdict: v, Advice: deployed()}
			text := a.Headline() + a.wording().words + a.heavyText()
			if got := strings.Contains(text, "dry run"); got != c.want {
				t.Errorf("%s: %s", c.server, text)
			}
		}
	}
}

// Of a heavy client that is an address the flag is named that leaves it out.
func TestHeavyIsLeftOut(t *testing.T) {
	for client, want := range map[string]bool{"192.0.2.1": true, "2001:db8::1": true, "client-0123456789abcdef": false} {
		a := &Answer{Advice: deployed(), Verdict: &Verdict{Heavy: &Heavy{RefusedMost: RefusedMost{Client: client, Refused: 1}, RefusedOfAll: 1}}}
		if text := a.heavyText(); strings.Contains(text, "--exclude "+client) != want {
			t.Errorf("%s: %s", client, text)
		}
	}
}

// Others that lose a tenth or more are asked for with the heaviest, and whose the other programs are; but no search engine.
func TestHeavyOnesAreAskedForTogether(t *testing.T) {
	v := &Verdict{Heavy: &Heavy{RefusedMost: RefusedMost{Client: "192.0.2.1", Refused: 51, Identity: "program"}, RefusedOfAll: 100}}
	v.Most = []RefusedMost{v.Heavy.RefusedMost, {Client: "192.0.2.2", Refused: 30, Identity: "program"}, {Client: "192.0.2.3", Refused: 9}}
	a := &Answer{Advice: deployed(), Verdict: v}
	a.Advice.Answer.Whole.Hit[who.Program] = 2
	want := "who are 192.0.2.1, 192.0.2.2? They are 81.00 % of what the limit refuses, and nothing shows an attack. " +
		"If they are yours, ask again with --exclude 192.0.2.1 --exclude 192.0.2.2"
	if got := a.heavyText(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v.Heavy.Identity, v.Most[0].Identity, a.Advice.Answer.Whole.Hit[who.Program] = "crawler", "crawler", 3
	if got := a.heavyText(); got != want+". Are the other programs (2) yours, or your customers'?" {
		t.Error(got)
	}
	if v.Heavy.Identity = "search"; a.heavyText() != "" {
		t.Error(a.heavyText())
	}
}

// Programs that are more than a quarter of what a limit refuses are asked about, also beside an attacker.
func TestProgramsBesideAttackers(t *testing.T) {
	limit := "x:1/1s"
	a := &Answer{Verdict: &Verdict{Limit: &limit}, Advice: deployed()}
	for programs, want := range map[int64]bool{25: false, 26: true} {
		a.Advice.Answer.Whole.Refused = who.Groups{who.Program: programs, who.Attacker: 100 - programs}
		if got := a.ownText(); (got != "") != want {
			t.Errorf("%d of 100 refused: %q", programs, got)
		}
	}
}

// Where protected clients come in the last part alone, it is not said that none comes.
func TestNoOneThereOnPartsThatChoose(t *testing.T) {
	a := &Answer{Verdict: &Verdict{}, Advice: deployed()}
	a.Advice.Goals = []suggest.Goal{{Who: who.Browsers}}
	a.Advice.Answer.Because, a.Advice.Answer.Of = suggest.NoOneThere, new(suggest.Suggestion)
	for n, want := range map[int64]string{0: "none of the protected browsers", 5: "only in the last part"} {
		a.Advice.Whole.Groups = who.Groups{who.Undecided: n}
		if got := a.reason(); !strings.Contains(got, want) {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// Search engines that would lose a tenth of their requests are asked about, unless they are protected.
func TestSearchEnginesLose(t *testing.T) {
	for refused, want := range map[int64]bool{9: false, 10: true} {
		a := &Answer{Verdict: &Verdict{Search: []suggest.CrawlerHit{{Name: "Googlebot", Requests: 100, Refused: refused}}}, Advice: deployed()}
		if got := a.lossText(); (got != "") != want {
			t.Errorf("%d of 100 refused: %q", refused, got)
		}
	}
}

// What too few clients show is called unsure on the screen and on the page alike.
func TestUnsure(t *testing.T) {
	a := &Answer{Verdict: &Verdict{Verdict: "ceiling"}, Advice: deployed()}
	for because, want := range map[suggest.Because][2]string{
		suggest.Overlaps: {"CEILING", "ceiling"}, suggest.FewToProtect: {"UNSURE", "unsure: too few clients to protect"},
		suggest.NearRefused: {"UNSURE", "unsure: few came near it"}, suggest.NoPeople: {"UNSURE", "unsure: few came near it"},
	} {
		a.Advice.Answer.Because = because
		if w := a.wording(); w.label != want[0] || w.words != want[1] {
			t.Errorf("%s, %s, want %q", w.label, w.words, want)
		}
	}
}

// Of attackers it is told how many are hit, of one as well.
func TestAttackersHit(t *testing.T) {
	a := &Answer{Verdict: &Verdict{Allows: &Allows{Minute: 5, Hour: 64}}, Advice: deployed()}
	for n, want := range map[int64]string{0: "still gets ", 1: "0 of 1 hit; still gets ", 2: "0 of 2 hit; each still gets "} {
		a.Advice.Whole.Groups[who.Attacker] = n
		if got := a.attackerText(); got != want+"5 requests in the first minute, 64 in an hour" {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// A client that is refused most is told by what shows who it is; how it calls itself is told where there is room.
func TestMostAreTold(t *testing.T) {
	const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
	for want, c := range map[string]RefusedMost{
		"disguised: a sign, claims Chrome 143 / Windows, /a": {
			Identity: "disguised", Agent: chrome, Action: "/a", Reasons: []string{"+ 9 of 9 steps follow", "- no files", "! a sign"},
		},
		"disguised: no files, claims Chrome 143 / Windows, /a": {Identity: "disguised", Agent: chrome, Action: "/a", Reasons: []string{"+ follows", "- no files"}},
		"attacker: 9 of 9 passwords were wrong, curl/8.5.0":    {Identity: "attacker", Agent: "curl/8.5.0", Action: "/" + strings.Repeat("a", 80), Reasons: []string{"9 of 9 passwords were wrong"}},
		"program, curl/8.5.0, /a":                              {Identity: "program", Agent: "curl/8.5.0", Action: "/a", Reasons: []string{"its agents are no browsers"}},
		"person: pages, Chrome 143 / Windows, /a":              {Identity: "person", Agent: chrome, Action: "/a", Reasons: []string{"+ pages"}},
		"attacker: wrong, no agent, /a":                        {Identity: "attacker", Agent: "-", Action: "/a", Reasons: []string{"wrong"}},
		strings.Repeat("r", 60):                                {Identity: "attacker", Agent: "-", Action: "/a", Reasons: []string{strings.Repeat("r", 60)}},
	} {
		if got := c.tells(60); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What must be known before lines are pasted is never cut.
func TestNotesAreWhole(t *testing.T) {
	text := "token:600/1m,burst=100"
	v := &Verdict{
		Verdict: "ceiling", Reason: strings.Repeat("reason ", 60), For: "nginx", Note: strings.Repeat("note ", 150), Limit: &text,
		AtRisk: &AtRisk{AtOnce: 100}, Allows: &Allows{1, 2, 3}, Paste: []servers.Block{{Place: "http", Lines: []string{"limit_req zone=a;"}}},
	}
	a := &Answer{Server: "nginx", Watch: Watch{How: strings.Repeat("watch ", 100)}, Verdict: v, Advice: deployed()}
	w := new(document.Writer)
	new(Report).brief(w, a)
	for word, want := range map[string]int{"reason": 60, "note": 150, "watch": 100} {
		if n := strings.Count(w.String(), word); n != want {
			t.Errorf("%d of %d words:\n%s", n, want, w.String())
		}
	}
}

// What is exempt under a condition is told whole, and apart from what only calls itself a monitor.
func TestExemptIsToldWhole(t *testing.T) {
	e := &Exempt{Requests: 900, Clients: 6, Through: 4, Others: 2, Claimed: 300, Pasted: true, Addresses: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"}}
	const claimed = "300 requests of 2 clients that only say that they monitor the site or work for it are refused"
	if got, want := e.text(true), "if yours, as it seems: in the lines, else 600 requests are refused: the 4 addresses in the lines; "+claimed; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := (&Exempt{Requests: 300, Clients: 2, Others: 2, Claimed: 300}).text(true); got != "none: "+claimed {
		t.Error(got)
	}
	e.Pasted, e.Others, e.Claimed = false, 0, 0
	if got, want := e.text(false), "if yours, as it seems: by hand, else 900 requests are refused: 192.0.2.1, 192.0.2.2, 192.0.2.3, 192.0.2.4"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, markdown := range []bool{false, true} {
		text := "deploy"
		a := &Answer{Key: "client", Server: "nginx", Verdict: &Verdict{Verdict: text, AtRisk: &AtRisk{}, MostHit: new(float64), Site: findings.People, Limit: &text, Allows: &Allows{1, 2, 3}, Exempt: e}, Advice: deployed()}
		w := &document.Writer{Markdown: markdown}
		(&Report{}).brief(w, a)
		if lines := w.String(); !strings.Contains(lines, "192.0.2.4") {
			t.Errorf("cut: %s", lines)
		}
	}
}

// Where nothing is known of the clients that sent most, the reason names a command that lists the largest. Of one action it
// would list others.
func TestUndecidedAreListed(t *testing.T) {
	a := deployed()
	a.Answer.Because = suggest.NoTarget
	a.Whole.Requests[who.Person], a.Whole.Requests[who.Undecided] = 91, 9
	if text := (&Answer{Advice: a}).reason(); strings.Contains(text, "nothing shows") {
		t.Error(text)
	}
	a.Whole.Requests[who.Person] = 81
	for action, listed := range map[string]bool{"": true, "/login": false} {
		s := &Answer{Advice: a, Action: action}
		text := s.reason()
		if !strings.Contains(text, "; nothing shows who sent 10.00 %") || strings.Contains(text, ": shadow replay LOG --limit window:1/1h --no-store lists the largest") != listed {
			t.Errorf("action %q: %s", action, text)
		}
	}
}

// A limit for one action that stops none in the last part says so.
func TestBetterTellsWhatIsOver(t *testing.T) {
	s := &Answer{Advice: deployed(), Verdict: &Verdict{OfAction: &OfAction{Action: "/pay", Verdict: "deploy", Limit: "window:2/1m", RefusedPercent: 45, Over: true}}}
	if got, want := s.betterText(), "for /pay alone, window:2/1m refuses 45.00 % there, none in the last part: see next"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where limits keep the promise and none is an answer, the reason is no broken promise.
func TestWhyNothingIsFit(t *testing.T) {
	for why, want := range map[suggest.Why]string{
		suggest.Broken:       "hits more clients than the promise allows",
		suggest.BelowPace:    "slower than people",
		suggest.SlowToForget: "--recover",
	} {
		a := deployed()
		a.Answer.Of, a.Answer.Because, a.Server = nil, suggest.NothingKeeps, suggest.Market{}
		a.Suggestions = []suggest.Suggestion{{Why: suggest.Broken}, {Why: why}}
		if text := (&Answer{Advice: a}).reason(); !strings.Contains(text, want) {
			t.Errorf("%d: %s", why, text)
		}
	}
}
