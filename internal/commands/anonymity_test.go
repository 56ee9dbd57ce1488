package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/store/duck"
	"shadow/report"
)

// people lists texts that no output may show: addresses, users, and what is in agents, paths and referers.
var people = []string{
	"203.0.113.77", "198.51.100.23", "192.0.2.141", "192.0.2.142", "2001:db8:7:1::15", "2001:db8:7:1::16", "2001:db8:9:9::", "10.11.12.13", "172.16.5.4",
	"alice", "bob.miller", "carol@example.org", "ops@example.net", "dave@example.com", "erin%40example.com", "frank@example.org",
}

// peopleLog returns a log with all of them: people, an attacker, a crawler, a monitor, a server that refuses, broken
// lines.
func peopleLog() string {
	var b strings.Builder
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	line := func(client, user, request string, status int, referer, agent string) {
		fmt.Fprintf(&b, "%s - %s [%s] \"%s HTTP/1.1\" %d 512 \"%s\" \"%s\"\n", client, user, at.Format("02/Jan/2006:15:04:05 -0700"), request, status, referer, agent)
		at = at.Add(time.Second)
	}
	const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
	for i := range 150 {
		line("203.0.113.77", "-", "POST /login", []int{401, 429}[i%5/4], "-", "python-requests/2.31 (from:10.11.12.13)")
		line("198.51.100.23", "alice", fmt.Sprint("GET /user/alice/", i%7), 200, "https://shop.example/?by=frank@example.org", firefox)
		line("2001:db8:7:1::15", "bob.miller", "GET /reset/erin%40example.com", 200, "-", "Mozilla/5.0 Chrome/120.0.0.0 Safari/537.36")
		line("2001:db8:7:1::16", "carol@example.org", "GET /style.css", 200, "https://shop.example/", firefox)
		line("192.0.2.141", "-", "GET /robots.txt", 200, "-", "ExampleBot/1.0 (+http://172.16.5.4/; ops@example.net)")
		line("192.0.2.142", "-", "GET /health", 200, "-", "Pingdom.com_bot dave@example.com")
		line(fmt.Sprintf("2001:db8:9:9::%x", 1+i%20), "-", "GET /", 200, "-", "curl/8.5.0")
		if i%30 == 0 {
			b.WriteString("198.51.100.23 alice is broken\n")
		}
	}
	return b.String()
}

// asksOfPeople are commands on that log, and how they are asked.
var asksOfPeople = []string{
	"replay log --limit 2/1m --evidence --harm-action /login --no-store --max-bad 100%",
	"report --db kept.db --compare previous",
	"report --db kept.db --run 3",
	"sweep log --no-store --max-bad 100%",
	"sweep log --no-store --evidence --config site.yaml --policy staff --max-bad 100%",
	"suggest log --max-bad 100%",
	"suggest log --details --protect all=99% --each-action --max-bad 100%",
	"keys log --max-bad 100%",
	"doctor log --max-bad 100%",
	"diff log --limit token:2/1m --limit window:4/1m --max-bad 100%",
	"explain CLIENT log --limit token:2/1m --lines --max-bad 100%",
	"calibrate log --max-bad 100%",
	"export log --limit token:10/s,burst=20 --to envoy --max-bad 100%",
	"migrate log --from nginx.conf --to envoy --max-bad 100%",
	"doctor parse log --lines 40",
	"tail - --from start --limit token:2/1m",
}

const siteOfPeople = `
tiers: {staff: {addresses: 10.0.0.0/8}}
policies: [{name: staff, limits: {limit: token:3/1m}}]
`

// With --anonymize no command prints a client under its own name, nor what names a person in another text.
func TestPeopleStayUnnamed(t *testing.T) {
	t.Parallel()
	if !duck.Built {
		t.Skip("no database in this program")
	}
	dir := t.TempDir()
	write := func(name, text string) { must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) }
	write("log", peopleLog())
	write("site.yaml", siteOfPeople)
	write("nginx.conf", "http { limit_req_zone $binary_remote_addr zone=a:10m rate=1r/s; server { location / { limit_req zone=a burst=5; } } }\n")
	for _, more := range []string{"replay log --limit 3/1m", "replay log --limit 2/1m --limit 3/1m --evidence --sweep", "sweep log"} {
		run(t, dir, strings.Fields(more+" --db kept.db --max-bad 100% --quiet")...)
	}
	asked := map[string]bool{"explore": true, "drill": true} // see TestExploreStaysUnnamed, TestDrillStaysUnnamed
	for _, ask := range asksOfPeople {
		words := strings.Fields(ask)
		asked[words[0]] = true
		outputs, ways := outputsOf(t, words), []string{"addr", "user"}
		if words[0] == "report" || words[1] == "parse" {
			ways = ways[:1]
		}
		t.Run(ask, func(t *testing.T) {
			t.Parallel()
			if named := namedBy(t, dir, words, "addr", "json", ""); named == "" {
				t.Error("it names no one without --anonymize either")
			}
			for _, by := range ways {
				for i, output := range outputs {
					how := report.Anonymizations()[i%2]
					if named := namedBy(t, dir, words, by, output, how); named != "" {
						t.Errorf("--client %s --output %s --anonymize %s: %s", by, output, how, named)
					}
				}
			}
		})
	}
	for _, cmd := range newRoot().Commands() {
		f := cmd.Flags()
		if hides := f.Lookup("anonymize"); f.Lookup("format") != nil && cmd.Name() != "config" && (hides == nil || !hides.Hidden && !asked[cmd.Name()]) {
			t.Errorf("shadow %s reads logs, and no test shows that it can hide names", cmd.Name())
		}
	}
}

// outputsOf returns the formats that a command writes.
func outputsOf(t *testing.T, words []string) []string {
	t.Helper()
	cmd, _, err := newRoot().Find(words[:2])
	must(t, err)
	_, formats, _ := strings.Cut(cmd.Flags().Lookup("output").Usage, ": ")
	all := strings.Split(formats, ", ")
	if words[0] == "tail" { // would-blocks are JSON anyway
		all = []string{"text", "json"}
	}
	if slices.Contains(words, "--each-action") || slices.Contains(words, "--policy") { // that is no page
		all = slices.DeleteFunc(all, func(output string) bool { return output == "html" })
	}
	return all
}

// namedBy returns where a command names one of them in what it prints, "" if nowhere.
func namedBy(t *testing.T, dir string, words []string, by, output, how string) string {
	t.Helper()
	words = slices.Clone(words)
	if i := slices.Index(words, "CLIENT"); i > 0 {
		words[i] = map[string]string{"addr": "198.51.100.23", "user": "alice"}[by]
	}
	if words[0] != "report" && words[1] != "parse" {
		words = append(words, "--client", by)
	}
	words = append(words, "--output", output)
	if how != "" {
		words = append(words, "--anonymize", how)
	}
	cmd := command(t, dir, words...)
	var out, said bytes.Buffer
	log, err := os.Open(filepath.Join(dir, "log"))
	must(t, err)
	defer log.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = log, &out, &said
	if err := cmd.Run(); err != nil && (cmd.ProcessState.ExitCode() != exitIncomplete && cmd.ProcessState.ExitCode() != exitHeld || out.Len() == 0) {
		t.Fatalf("%q: %v\n%s", words, err, said.Bytes())
	}
	for _, name := range people {
		if at := bytes.Index(bytes.ToLower(out.Bytes()), []byte(name)); at >= 0 {
			return fmt.Sprintf("%s is named: …%s…", name, out.Bytes()[max(0, at-100):min(out.Len(), at+60)])
		}
	}
	return ""
}

// With --anonymize neither the page nor an answer has a client under its own name, or what names a person in another text.
func TestExploreStaysUnnamed(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "log"), []byte(peopleLog()), 0o600))
	all := func(more ...string) (text string) {
		address := serve(t, dir, append([]string{"log", "--max-bad", "100%"}, more...)...)
		get, err := http.Get(address)
		must(t, err)
		page, err := io.ReadAll(get.Body)
		must(t, err)
		must(t, get.Body.Close())
		answers := []string{string(page)}
		ask := func(question string) string {
			reply, err := http.Post(address+"ask", "application/json", strings.NewReader(question))
			must(t, err)
			body, err := io.ReadAll(reply.Body)
			must(t, err)
			must(t, reply.Body.Close())
			if reply.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", question, body)
			}
			answers = append(answers, string(body))
			return string(body)
		}
		ask(`{"ask":"suggest"}`)
		var move struct{ Hit []struct{ ID int } }
		must(t, json.Unmarshal([]byte(ask(`{"ask":"move","limit":"window:1/1h","other":"window:2/1m","times":true,"rows":200}`)), &move))
		ask(`{"ask":"curve","limit":"window:1/1h"}`)
		for _, c := range move.Hit {
			ask(fmt.Sprintf(`{"ask":"client","limit":"window:1/1h","client":%d}`, c.ID))
		}
		if len(move.Hit) < 3 {
			t.Fatalf("%d clients are hit", len(move.Hit))
		}
		return strings.ToLower(strings.Join(answers, "\n"))
	}
	if open := all(); !strings.Contains(open, people[0]) {
		t.Error("it names no one without --anonymize either")
	}
	for _, how := range []string{"hash", "prefix"} {
		for _, by := range []string{"addr", "user"} {
			text := all("--anonymize", how, "--client", by)
			for _, name := range people {
				if at := strings.Index(text, name); at >= 0 {
					t.Errorf("--client %s --anonymize %s: %s is named: …%s…", by, how, name, text[max(0, at-100):at+60])
				}
			}
		}
	}
}
