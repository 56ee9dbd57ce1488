//go:build unix

package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"shadow/internal/redis/redistest"
	"shadow/internal/tail"
	"shadow/internal/tui/tuitest"
	"shadow/report/table"
)

// The live screen is tested as it is used: in a terminal, of a log that grows.

// A watched log grows while the program shows it.
type watchedLog struct {
	t    *testing.T
	term *tuitest.Terminal
	dir  string
}

// watch shows a log, and writes its first lines.
func watch(t *testing.T, width, height int, env []string, args string) *watchedLog {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	w := &watchedLog{t: t, dir: t.TempDir()}
	must(t, os.Symlink(program, filepath.Join(w.dir, "shadow"))) // what testscript.Main knows it by
	must(t, os.WriteFile(filepath.Join(w.dir, "access.log"), nil, 0o644))
	w.term = tuitest.Open(t, width, height, append([]string{raceExit}, env...)...)
	w.term.Type("cd " + w.dir + "; clear; stty -g > before; echo first words")
	w.term.Wait(`(?m)^first words`)
	w.term.Type("./shadow tail access.log --lateness 200ms --ui " + args + "; echo code $?; stty -g | cmp - before && echo same")
	w.term.Wait("q quit|nothing has been read yet")
	w.grow()
	return w
}

// grow appends lines: 9 requests of one client, 8 of another, one of a third, by turns.
func (w *watchedLog) grow() {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, "access.log"), os.O_APPEND|os.O_WRONLY, 0)
	must(w.t, err)
	defer f.Close()
	stamp := time.Now().UTC().Format("02/Jan/2006:15:04:05 -0700")
	for i := range 18 {
		client, action := 1+i%2, "/login"
		if i == 17 {
			client, action = 3, "/logout"
		}
		_, err := fmt.Fprintf(f, "192.0.2.%d - - [%s] \"GET %s HTTP/1.1\" 200 12 \"-\" \"curl/8.0\"\n", client, stamp, action)
		must(w.t, err)
	}
}

// quit presses a key to leave, and wants everything to be as it was.
func (w *watchedLog) quit(key string) {
	w.t.Helper()
	w.term.Press(key)
	screen := w.term.Wait(`(?m)^same$`)
	if !regexp.MustCompile(`(?m)^code 0$`).MatchString(screen) || !strings.Contains(screen, "first words") || strings.Contains(screen, "q quit") {
		w.t.Errorf("after %s the screen is\n%s", key, screen)
	}
	if state := w.term.State(); state != "" {
		w.t.Errorf("the terminal is left as %s", state)
	}
}

func TestLiveScreen(t *testing.T) {
	w := watch(t, 100, 24, nil, "--limit 6/30s --would-blocks would-blocks")
	w.term.Wait(`192\.0\.2\.2 +2 +40\.00 %`)
	screen := w.term.Wait(`token:6/30s .*█`) // the first column is over
	for _, want := range []string{
		`shadow tail access\.log +running for \d+ s`, `requests +[\d.]+/s +.*peak [\d.]+/s, 18 judged`, `1 log +up to date, 0 waiting, 0 late, 0 unreadable`,
		`▸ token:6/30s +27\.78 % +27\.78 % +5 .*█`, `  window:6/30s +27\.78 % +27\.78 % +5 .*█`, `token:6/30s: 5 refusals of 2 clients in 5 min, most first`,
		`192\.0\.2\.1 +3 +60\.00 % +\d s  tool +/login`, `q quit`,
	} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("no %s on the screen:\n%s", want, screen)
		}
	}
	w.term.Press("j", "s", "s")
	w.term.Wait(`▸ leaky:6/30s(.|\n)*leaky:6/30s: 5 refusals of 2 clients in 5 min, the most refused, by name\nclient.*\n192\.0\.2\.1 `)
	w.term.Press("s", "Tab")
	w.term.Wait(`of 1 action in 5 min, most first\naction.*\n/login +5 +100\.00 %`)
	w.grow()
	w.term.Wait(`/login +(1[89]|2\d) `) // and a bucket may have leaked meanwhile
	w.term.Press("?")
	w.term.Wait(`end the tail and leave`)
	w.term.Press("?")
	w.term.Wait(`▸ leaky`)
	w.term.Press("Tab", "/")
	w.term.Type("2.0.2.2") // a line, and Enter
	w.term.Wait(`1 of 2 clients with 2\.0\.2\.2: (.|\n)*\nclient.*\n192\.0\.2\.2 .*\n\n(.|\n)*Esc all names`)
	w.term.Press("Enter")
	screen = w.term.Wait(`client    192\.0\.2\.2 \(1 of 1\)\nagent     curl/8\.0 \(tool\)\n`)
	for _, want := range []string{
		`requests  16, \d+ refused; of the latest 36 of all clients, since \d\d:\d\d:\d\d UTC by the log`, `actions   /login 16\n`,
		`token:6/30s +\d+ +[\d.]+ s +\d+\.\d\d %  token:6/30s by client`, `\d\d:\d\d:\d\d +200  token:6/30s, leaky:6/30s, window:6/30s +[\d.]+ s  /login\n`, `Esc back   ↑↓ client`,
	} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("no %s on the screen:\n%s", want, screen)
		}
	}
	w.term.Press("Escape")
	w.term.Wait(`1 of 2 clients with`)
	w.term.Press("Escape")
	w.term.Wait(`(?m)^192\.0\.2\.1 `)
	w.term.Press("Enter", "Down")
	w.term.Wait(`client    192\.0\.2\.2 \(2 of 2\)\nagent     curl`)
	w.term.Press("Escape")
	w.term.Wait(`▸ leaky`)
	w.term.Press("Space")
	paused := w.term.Wait(`paused here, while the tail goes on`)
	w.grow()
	if judged := regexp.MustCompile(`\d+ judged`); judged.FindString(w.term.Screen()) != judged.FindString(paused) {
		t.Errorf("the picture goes on:\n%s", w.term.Screen())
	}
	w.term.Press("Space")
	w.term.Wait(`\b([4-9]\d|\d{3,}) judged`)
	w.quit("q")
	if n := len(readLines(t, filepath.Join(w.dir, "would-blocks"))); n < 3*18 {
		t.Errorf("%d would-blocks in the file", n)
	}
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// The screen follows the size of the terminal, down to one that is too small, and back.
func TestLiveScreenResized(t *testing.T) {
	w := watch(t, 100, 24, []string{"NO_COLOR=1"}, "--limit 6/30s")
	w.term.Wait(`192\.0\.2\.2`)
	for _, size := range []struct {
		width, height int
		want          string
	}{
		{60, 15, `(?m)^client +refused +share +latest  class\n192\.0\.2\.1 .*tool$`},
		{200, 50, `(?m)^client .* action .* action +refused +share +latest\n192\.0\.2\.1 .*/login +/login +5`},
		{30, 8, `^too small: needs 40×12\n`},
		{40, 12, `(?m)^client +refused  latest\n192\.0\.2\.1 `},
		{100, 24, `(?m)^client +refused +share +latest  class +action\n192\.0\.2\.1 `},
	} {
		w.term.Resize(size.width, size.height)
		screen := w.term.Wait(size.want)
		if lines := strings.Split(strings.TrimRight(screen, "\n"), "\n"); len(lines) != size.height && size.height > 8 || utf8.RuneCountInString(lines[0]) > size.width {
			t.Errorf("%d×%d: %d lines of %d columns:\n%s", size.width, size.height, len(lines), utf8.RuneCountInString(lines[0]), screen)
		}
		if painted := w.term.Painted(); strings.Contains(painted, "\x1b") {
			t.Errorf("NO_COLOR, and there are colours:\n%q", painted)
		}
	}
	w.quit("C-c")
}

// Where colours are welcome there are some.
func TestLiveScreenInColor(t *testing.T) {
	w := watch(t, 100, 24, []string{"NO_COLOR="}, "--limit token:6/30s")
	w.term.Wait(`token:6/30s .*█`)
	if painted := w.term.Painted(); !regexp.MustCompile(`\x1b\[36m[▁▂▃▄▅▆▇█_]+`).MatchString(painted) {
		t.Errorf("a sparkline has no colour: %q", painted)
	}
	w.quit("q")
}

// What strangers write into a log neither drives the terminal nor moves what stands beside it.
func TestLiveScreenOfHostileLog(t *testing.T) {
	w := watch(t, 160, 44, []string{"NO_COLOR=1"}, "--limit token:1/30s --client user --format combined")
	f, err := os.OpenFile(filepath.Join(w.dir, "access.log"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	for _, user := range []string{
		"\x1b[2J\x1b[1049l", "\u202egnp.exe", "日本", "ผู้ใช้", "рн\u0306", "e\u0301", "x\u0301", "שלום", "\u2067x\u2069", "\xff\xfe",
		"हिन्दी", "தமிழ்நாடு", "বাংলাদেশ", "กำลังใจ", "ស្ត្រី", "လျှော့", "བོད་", "ᄒᆞᆫ글", "עִבְרִית", "العَرَبِيَّة", "👩‍🚀", "a\u200bb", strings.Repeat("क्", 9), "Müller",
	} {
		stamp := time.Now().UTC().Format("02/Jan/2006:15:04:05 -0700")
		_, err := f.WriteString(strings.Repeat(fmt.Sprintf("192.0.2.9 - %s [%s] \"GET /%s HTTP/1.1\" 200 12 \"-\" \"curl/8.0\"\n", user, stamp, user), 3))
		must(t, err)
	}
	must(t, f.Close())
	screen := w.term.Wait(`Müller +2 `)
	head := screen[strings.Index(screen, "\nclient ")+1:]
	share := strings.Index(head, "share") + len("share") - len(" %") // where a percentage ends
	for _, want := range []string{
		`\x1b[2J\x1b[1049l `, `\u202egnp.exe `, "日本 ", "ผู้ใช้ ", "рн\u0306 ", "é ", `x\u0301 `, `\u2067x\u2069 `, "\u2800שלום\u2800 ", `\xff\xfe `,
		"हिन्दी ", "தமிழ்நாடு ", "বাংলাদেশ ", "กำลังใจ ", "ស្ត្រី ", "လျှော့ ", "བོད་ ", "ᄒᆞᆫ글 ", "\u2800עִבְרִית\u2800 ", "\u2800العَرَبِيَّة\u2800 ", `👩\u200d🚀 `, `a\u200bb `,
		strings.Repeat("क्", 8) + `\u0915\u094d `,
	} {
		if !strings.Contains(screen, "\n"+want) {
			t.Errorf("no client %s on the screen:\n%s", want, screen)
		}
		line, _, _ := strings.Cut(screen[strings.Index(screen, "\n"+want)+1:], "\n")
		before, _, _ := strings.Cut(line, " %")
		before = strings.NewReplacer("\u119e", "", "\u11ab", "").Replace(before) // parts of a syllable that have no column
		if table.ColumnsOf(before) != share {
			t.Errorf("%s moves what stands beside it:\n%s", want, screen)
		}
	}
	w.quit("q")
}

// When the terminal goes away the tail ends as it does after a signal, with its checkpoint written.
func TestLiveScreenHangup(t *testing.T) {
	w := watch(t, 100, 24, nil, "--limit token:6/30s --state state --save-every 1h --would-blocks would-blocks")
	w.term.Wait(`192\.0\.2\.2`)
	w.term.Hangup()
	w.ended()
}

// So it does when no signal tells it, or one that came while the terminal was still there.
func TestLiveScreenHangupWithoutSignal(t *testing.T) {
	w := watch(t, 100, 24, nil, "--limit token:6/30s")
	w.quit("q")
	w.term.Type("clear; setsid ./shadow tail access.log --from start --limit token:6/30s --state state --save-every 1h --lateness 200ms --ui")
	w.term.Wait(`192\.0\.2\.2`)
	w.term.Hangup()
	w.ended()
}

// ended waits for the checkpoint of the end.
func (w *watchedLog) ended() {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := tail.ReadCheckpoint(filepath.Join(w.dir, "state"))
		if err == nil && c.Tally.Requests == 18 {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("no checkpoint of the end: %+v, %v", c, err)
		}
	}
}

// A log from a pipe leaves the keyboard to the screen, and what the tail says stands on the terminal afterwards.
func TestLiveScreenOfPipe(t *testing.T) {
	w := watch(t, 100, 24, nil, "--limit token:6/30s")
	w.quit("q")
	w.term.Type("clear; (cat access.log; until [ -e over ]; do sleep 0.1; done) | ./shadow tail - --limit token:6/30s --lateness 200ms --ui 2>said; echo code $?")
	w.term.Wait(`shadow tail - .*\n(.|\n)*192\.0\.2\.2 `)
	w.term.Press("q")
	must(t, os.WriteFile(filepath.Join(w.dir, "over"), nil, 0o644))
	w.term.Wait(`(?m)^code 0$`)
	if said := strings.Join(readLines(t, filepath.Join(w.dir, "said")), "\n"); !strings.Contains(said, " 18 requests in ") {
		t.Errorf("the summary is %s", said)
	}
}

// Terminals that cannot show a screen are refused, with what to do instead.
func TestLiveScreenRefused(t *testing.T) {
	w := watch(t, 160, 24, nil, "--limit token:6/30s")
	w.quit("q")
	for command, want := range map[string]string{
		"TERM=dumb ./shadow tail access.log --limit 6/30s --ui":   `needs a terminal that can move its cursor, and TERM=dumb cannot: leave it out for lines of JSON`,
		"./shadow tail access.log --limit 6/30s --ui | cat":       `needs a terminal, which standard output is not: leave it out for lines of JSON`,
		"./shadow tail - --limit 6/30s --ui":                      `reads keys from the terminal, so a log cannot come from there`,
		"./shadow tail access.log --limit 6/30s --ui > out":       `or keep would-blocks with --would-blocks FILE`,
		"TERM= ./shadow tail access.log --limit 6/30s --ui; echo": `and TERM= cannot`,
	} {
		w.term.Type("clear; " + command)
		w.term.Wait(want)
	}
}

// Ctrl-Z gives the terminal back for a while.
func TestLiveScreenSuspended(t *testing.T) {
	w := watch(t, 100, 24, nil, "--limit token:6/30s")
	w.term.Wait(`192\.0\.2\.2`)
	w.term.Press("C-z")
	w.term.Wait(`(?m)^first words(.|\n)*Stopped`)
	if state := w.term.State(); state != "" {
		t.Errorf("the terminal is left as %s", state)
	}
	w.grow()
	w.term.Resize(90, 20)
	w.term.Type("clear; echo first words; fg; echo code $?; stty -g | cmp - before && echo same")
	screen := w.term.Wait(`36 judged`)
	if n := strings.Count(strings.TrimRight(screen, "\n"), "\n") + 1; n != 20 {
		t.Errorf("%d lines:\n%s", n, screen)
	}
	w.quit("q")
}

// A Redis that goes away is seen, and so is what was decided without it; and when it is back.
func TestLiveScreenOfSharedLimits(t *testing.T) {
	redis := redistest.Start(t)
	w := watch(t, 100, 24, []string{"NO_COLOR=1"}, "--limit token:6/2s --limit window:6/2s --redis "+redis.Address())
	w.term.Wait(`(?m)^redis     answers$(.|\n)*^▸  token:6/2s `)
	redis.Kill()
	w.grow()
	screen := w.term.Wait(`(?m)^redis     away since \d\d:\d\d:\d\d UTC, for \d+ s; ! 2 of 2 policies degraded since \d\d:\d\d:\d\d UTC$`)
	for _, want := range []string{`(?m)^▸! token:6/2s `, `(?m)^ ! window:6/2s `, `(?m)^Redis does not answer, so that verdicts are reached here`} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("no %s on the screen:\n%s", want, screen)
		}
	}
	redis.Start()
	for range 100 {
		w.grow()
		time.Sleep(200 * time.Millisecond)
		if screen = w.term.Screen(); regexp.MustCompile(`(?m)^redis     answers$`).MatchString(screen) {
			break
		}
	}
	for _, want := range []string{`(?m)^redis     answers$`, `(?m)^▸  token:6/2s `, `(?m)^   window:6/2s `, `(?m)^Redis answers again$`} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("no %s on the screen:\n%s", want, screen)
		}
	}
	w.quit("q")
}
