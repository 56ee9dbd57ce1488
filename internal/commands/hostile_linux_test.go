package commands

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/chromedp/chromedp"

	"shadow/internal/testneeds"
	"shadow/internal/tui/tuitest"
)

// Two hundred hostile lines go through every command and every output, a real browser and a real terminal. Whatever
// strangers write stays text: no sequence that drives a terminal, no markup or script, no formula, no SQL.

func TestHostileLines(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "access.log"), testneeds.HostileLog(testneeds.Rand(t, 3, 7), 200), 0o600))
	const log, limit = "access.log", "window:1/1m"
	user := hostileUser(t, dir, log, limit)

	commands := [][]string{
		{"replay", log, "--limit", limit, "--limit", "token:1/5s", "--top", "300", "--db", "kept"},
		{"replay", log, "--limit", limit, "--by", "agent", "--no-store"},
		{"replay", log, "--limit", limit, "--by", "path", "--no-store"},
		{"replay", log, "--limit", limit, "--sweep", "--evidence", "--db", "curves"},
		{"report", "--db", "kept", "--top", "300"},
		{"report", "runs", "--db", "kept"},
		{"query", "--db", "kept", "SELECT * FROM events"},
		{"query", "--db", "kept", "SELECT * FROM latest_client_totals"},
		{"query", "--db", "kept", "SELECT * FROM agents"},
		{"sweep", log, "--evidence", "--no-store"},
		{"suggest", log},
		{"keys", log},
		{"diff", log, "--limit", limit, "--limit", "window:2/1m"},
		{"doctor", log},
		{"calibrate", log},
		{"explain", user, log, "--limit", limit},
	}
	client := []string{"--client", "user", "--format", "combined"}
	read := append(client, "--max-bad", "50%") // more or fewer lines cannot be read, as it comes
	harmlessText(t, "parse", string(run(t, dir, "doctor", "parse", log, "--lines", "200", "--format", "combined")))
	outputs, pages := 0, []string(nil)
	for i, args := range commands {
		if args[1] == log || args[2] == log {
			args = append(args, read...)
			commands[i] = args
		}
		for _, output := range []string{"table", "json", "csv", "markdown", "html"} {
			args := append(args[:len(args):len(args)], "--output", output)
			cmd := command(t, dir, args...)
			var out, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &stderr
			err := cmd.Run()
			name := strings.Join(args, " ")
			harmlessText(t, name+" (errors)", stderr.String())
			if err != nil {
				if strings.Contains(stderr.String(), "--output") {
					continue // not an output of this command
				}
				t.Errorf("%s: %v\n%s", name, err, stderr.Bytes())
				continue
			}
			outputs++
			harmlessOutput(t, name, output, out.String())
			if output == "html" {
				pages = append(pages, filepath.Join(dir, fmt.Sprintf("%d.html", len(pages))))
				must(t, os.WriteFile(pages[len(pages)-1], out.Bytes(), 0o600))
			}
		}
	}
	for _, ending := range []string{"csv", "jsonl"} {
		run(t, dir, append([]string{"replay", log, "--limit", limit, "--no-store", "--verdicts", "verdicts." + ending}, read...)...)
		text, err := os.ReadFile(filepath.Join(dir, "verdicts."+ending))
		must(t, err)
		harmlessOutput(t, "--verdicts", ending, string(text))
	}
	var counts struct {
		Input struct{ Requests int64 }
	}
	must(t, json.Unmarshal(run(t, dir, append([]string{"replay", log, "--limit", limit, "--no-store", "-o", "json"}, read...)...), &counts))
	endTail(t, dir, command(t, dir, append([]string{"tail", log, "--from", "start", "--state", "state", "--would-blocks", "told", "--limit", limit}, client...)...), counts.Input.Requests)
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	must(t, err)
	harmlessOutput(t, "tail", "jsonl", string(told))
	stored := askAll(t, dir, "kept", "SELECT (SELECT sum(count) FROM events), (SELECT sum(refused) FROM policies), (SELECT count(*) FROM duckdb_views() WHERE view_name = 'events')")
	if m := regexp.MustCompile(`^(\d+) (\d+) 1$`).FindStringSubmatch(stored); m == nil || m[1] != m[2] {
		t.Errorf("the database holds %s", stored)
	}
	hostilePages(t, pages)
	hostileTerminal(t, dir, commands)
	t.Logf("200 lines, %d outputs, %d pages in a browser, %d screens", outputs, len(pages), len(commands))
}

// hostileUser returns a client of the log who is a whole hostile text.
func hostileUser(t *testing.T, dir, log, limit string) string {
	t.Helper()
	var report struct {
		Policies []struct {
			TopClients []struct{ Client string } `json:"top_clients"`
		}
	}
	must(t, json.Unmarshal(run(t, dir, "replay", log, "--limit", limit, "--client", "user", "--format", "combined", "--max-bad", "50%", "--top", "300", "--no-store", "-o", "json"), &report))
	hostile := ""
	for _, c := range report.Policies[0].TopClients {
		// No argument can hold a zero, and JSON no byte that is no UTF-8.
		if !strings.Contains(c.Client, "\x1b") || strings.ContainsAny(c.Client, "\x00\ufffd") {
			continue
		}
		if hostile = c.Client; strings.Contains(hostile, "<script>") {
			break
		}
	}
	if hostile == "" {
		t.Fatalf("no client is hostile: %q", report.Policies[0].TopClients)
	}
	return hostile
}

// harmlessText complains about bytes that a terminal or a reader of lines would obey.
func harmlessText(t *testing.T, name, text string) {
	t.Helper()
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s: has %q in %q", name, text[i:i+n], text[max(0, i-40):min(len(text), i+40)])
			return
		}
		i += n
	}
}

// harmlessOutput holds an output against its format.
func harmlessOutput(t *testing.T, name, output, text string) {
	t.Helper()
	if len(text) < 50 {
		t.Errorf("%s says only %q", name, text)
	}
	switch output {
	case "html":
		return // a browser looks at it
	case "json":
		if !json.Valid([]byte(text)) {
			t.Errorf("%s: no JSON: %.300s", name, text)
		}
	case "jsonl":
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: no JSON: %.300s", name, line)
			}
		}
	case "csv":
		records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		number := regexp.MustCompile(`^[-+]?[0-9.]+(e[-+]?[0-9]+)?%?$`)
		for _, record := range records {
			for _, cell := range record {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !number.MatchString(cell) && cell != "-" {
					t.Errorf("%s: a spreadsheet computes %.80q", name, cell)
					return
				}
			}
		}
	case "markdown":
		if m := regexp.MustCompile(`(?i)<(script|img|svg|iframe)`).FindString(text); m != "" {
			t.Errorf("%s: markup: %s", name, m)
		}
		columns := 0 // a stranger can add none
		for line := range strings.Lines(text) {
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if strings.HasPrefix(line, "|") && columns > 0 && n != columns {
				t.Errorf("%s: %d columns instead of %d: %.200s", name, n-1, columns-1, line)
				return
			}
			columns = n
			if !strings.HasPrefix(line, "|") {
				columns = 0
			}
		}
	}
	harmlessText(t, name, text)
}

// hostilePages opens the pages in a browser, in which no stranger's script may run.
func hostilePages(t *testing.T, pages []string) {
	t.Helper()
	if len(pages) < 3 {
		t.Errorf("only %d pages", len(pages))
	}
	ctx := openBrowser(t)
	for _, page := range pages {
		must(t, chromedp.Do(ctx, chromedp.Navigate((&url.URL{Scheme: "file", Path: page}).String())))
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.querySelectorAll("button, summary, th, a").forEach((e) => e.click()), true`))
		must(t, err)
		harmlessPage(t, ctx, page)
	}
}

// hostileTerminal shows the reports and the live screen on a terminal, which must be as it was afterwards.
func hostileTerminal(t *testing.T, dir string, commands [][]string) {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	must(t, os.Symlink(program, filepath.Join(dir, "shadow")))
	term := tuitest.Open(t, 120, 40, raceExit)
	term.Type("cd " + dir + "; clear; stty -g > before")
	for i, args := range commands {
		words := ""
		for _, a := range args {
			words += " '" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		script := fmt.Sprintf("shadow-%d.sh", i) // a hostile text is no keyboard's
		must(t, os.WriteFile(filepath.Join(dir, script), []byte("./shadow"+words+"\n"), 0o600))
		term.Type(fmt.Sprintf("sh %s; stty -g | cmp - before && echo same %d", script, i))
		term.Wait(fmt.Sprintf(`(?m)^same %d$`, i))
		if state := term.State(); state != "" {
			t.Fatalf("%q leaves the terminal as %s", args, state)
		}
	}
	hostileScreen(t, term)
}

// hostileScreen goes through the live screen: lists, the pages of thirty clients, and a filter for each piece of a text.
func hostileScreen(t *testing.T, term *tuitest.Terminal) {
	t.Helper()
	bottom := func(keys string) string { return `(?m)\A(?:.*\n){39}` + keys }
	term.Type("clear; ./shadow tail access.log --from start --limit window:1/1m --client user --format combined --ui; " +
		"stty -g | cmp - before && echo same screen")
	term.Wait(`up to date, 0 waiting(.*\n)*window:1/1m: (.*\n){20}`)
	term.Wait(bottom(`q quit   `))
	term.Press("Enter")
	for n := range 30 {
		screen := term.Wait(fmt.Sprintf(`(?m)^client    .+ \(%d of \d+\)\nagent     .+\nrequests  [\d,]+, \d+ refused; of the latest`, n+1))
		if !regexp.MustCompile(bottom(`Esc back   `)).MatchString(screen) || !regexp.MustCompile(`(?m)^window:1/1m +\d+ .* window:1/1m by client$`).MatchString(screen) {
			t.Errorf("page %d is\n%s", n, screen)
		}
		term.Press("Down")
	}
	term.Press("Escape")
	term.Wait(bottom(`q quit   `)) // a terminal takes Esc and a key right behind it for Alt
	for _, text := range testneeds.HostileTexts {
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1 // a key that does something
			}
			return r
		}, strings.ToValidUTF8(text, ""))
		term.Press("/")
		term.Wait(bottom(`/_ `))
		if text = text[:min(len(text), 90)]; text != "" {
			term.Write(text)
		}
		term.Wait(bottom(`/.*_   Enter keep`))
		term.Press("Escape")
		term.Wait(bottom(`q quit   `))
	}
	term.Press("q")
	term.Wait(`(?m)^same screen$`)
	if state := term.State(); state != "" {
		t.Errorf("the live screen leaves the terminal as %s", state)
	}
}
