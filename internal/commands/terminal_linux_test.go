package commands

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"shadow/internal/pipeline"
)

// A terminal is a pseudo-terminal with the program at its end, as a user at a keyboard sees it.
type terminal struct {
	keyboard *os.File
	inside   *os.File
	screen   bytes.Buffer // everything that was written to it
	done     chan struct{}
}

func openTerminal(t *testing.T, columns uint16) *terminal {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var number, locked int32
	control(t, outside, syscall.TIOCGPTN, unsafe.Pointer(&number))
	control(t, outside, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	size := [4]uint16{40, columns}
	control(t, outside, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	inside, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{keyboard: outside, inside: inside, done: make(chan struct{})}
	go func() {
		defer close(term.done)
		term.screen.ReadFrom(outside) // ends with an error when the inside is closed everywhere
	}()
	t.Cleanup(func() {
		inside.Close()
		outside.Close()
	})
	return term
}

// control asks the driver of a terminal, see tty_ioctl(4). unsafe: it takes the address of its argument.
func control(t *testing.T, file *os.File, request uintptr, argument unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(argument)); errno != 0 {
		t.Fatal(errno)
	}
}

// wait ends the program's session and returns all that the screen got.
func (term *terminal) wait(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	err := cmd.Wait()
	term.inside.Close()
	select {
	case <-term.done:
	case <-time.After(5 * time.Second):
		t.Fatal("the terminal is still open")
	}
	if err != nil && cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("%v\n%s", err, term.screen.String())
	}
	return term.screen.String()
}

// onTerminal runs the program with all its output on a terminal.
func onTerminal(t *testing.T, columns uint16, env []string, args ...string) string {
	t.Helper()
	term := openTerminal(t, columns)
	cmd := command(t, "../../sample-logs", args...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = term.inside, term.inside
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return term.wait(t, cmd)
}

func TestColorsOnlyWhereWanted(t *testing.T) {
	args := []string{"replay", "shop-combined.log", "--limit", "6/30s", "--no-store"}
	if out := onTerminal(t, 100, []string{"TERM=xterm", "NO_COLOR="}, args...); !strings.Contains(out, "\x1b[1mtoken:6/30s\x1b[0m") {
		t.Errorf("no colours on a terminal:\n%q", out)
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if out := onTerminal(t, 100, []string{"TERM=xterm", "NO_COLOR=", env}, args...); strings.Contains(out, "\x1b") {
			t.Errorf("%s: there are control characters:\n%q", env, out)
		}
	}
	if out := run(t, "../../sample-logs", args...); bytes.Contains(out, []byte("\x1b")) {
		t.Errorf("not a terminal, and there are control characters:\n%q", out)
	}
}

// Bytes that a terminal would take for commands do not go there.
func TestNoParquetOnTerminal(t *testing.T) {
	term := openTerminal(t, 80)
	cmd := command(t, t.TempDir(), "query", "SELECT 1", "--output", "parquet")
	cmd.Stdout, cmd.Stderr = term.inside, term.inside
	err := cmd.Run()
	term.inside.Close()
	<-term.done
	if out := term.screen.String(); err == nil || !strings.Contains(out, "a terminal shows no Parquet") {
		t.Errorf("%v\n%q", err, out)
	}
}

func TestNarrowTerminal(t *testing.T) {
	out := onTerminal(t, 60, []string{"NO_COLOR=1"}, "replay", "shop-combined.log", "--limit", "6/30s", "--no-store")
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// Tables of other commands fit the terminal as well; in a pipe nothing is cut.
func TestNarrowFormats(t *testing.T) {
	out := onTerminal(t, 80, nil, "doctor", "formats")
	if !strings.Contains(out, "…") {
		t.Errorf("nothing is cut:\n%s", out)
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if out := run(t, t.TempDir(), "doctor", "formats"); bytes.Contains(out, []byte("…")) {
		t.Errorf("cut in a pipe:\n%s", out)
	}
}

// lastBar is a bar that is taken away again: one line up, and clear to the end of the screen.
var lastBar = regexp.MustCompile(`reading [^\n]*\r\n\x1b\[1A\x1b\[J$`)

// slowly replays a log from a pipe that rests longer than it takes for the bar to show. Only errors go to the terminal.
func slowly(t *testing.T, env string, args ...string) string {
	t.Helper()
	term := openTerminal(t, 80)
	cmd := command(t, t.TempDir(), append([]string{"replay", "-", "--limit", "6/30s", "--no-store"}, args...)...)
	cmd.Env = append(cmd.Env, "TERM=xterm", env)
	cmd.Stderr = term.inside
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{stdin: stdin}
	c.feed(func(lines int) bool { return lines >= 50_000 })
	time.Sleep(barAfter + 3*barTick)
	stdin.Close()
	return term.wait(t, cmd)
}

func TestProgressBar(t *testing.T) {
	if out := slowly(t, "NO_COLOR=1"); !lastBar.MatchString(out) {
		t.Errorf("no bar, or it is still there: %q", out)
	}
	if out := slowly(t, "NO_COLOR=1", "--quiet"); out != "" {
		t.Errorf("--quiet: %q", out)
	}
	if out := slowly(t, "TERM=dumb"); out != "" {
		t.Errorf("TERM=dumb: %q", out)
	}
	if out := onTerminal(t, 80, nil, "replay", "shop-combined.log", "--limit", "6/30s", "--no-store"); strings.Contains(out, "reading") {
		t.Errorf("a bar for something so short: %q", out)
	}
}

// A further pass is shown with its number and its name, and how far it has come in one unit; then it is taken away.
func TestProgressOfPasses(t *testing.T) {
	for want, pass := range map[string]pipeline.Pass{
		"pass 2 of 3: trying limits 1.5 / 3.0 MB ": {Number: 2, Of: 3, Name: "trying limits"},
		"pass 2: trying limits 1.5 / 3.0 MB ":      {Number: 2, Name: "trying limits"},
		"reading 1.5 / 3.0 MB ":                    {Number: 1, Name: "reading"},
	} {
		term := openTerminal(t, 100)
		shown := make(chan struct{})
		var looks atomic.Int32
		pass.At = func() (int64, int64) {
			if looks.Add(1) == 20 {
				close(shown)
			}
			return 1_500_000, 3_000_000
		}
		t.Setenv("TERM", "xterm")
		p := startProgress(term.inside, pass)
		<-shown
		p.stop()
		term.inside.Close()
		<-term.done
		if out := term.screen.String(); !strings.Contains(out, want) || !strings.HasSuffix(out, "\x1b[1A\x1b[J") {
			t.Errorf("%s shows as %q", want, out)
		}
	}
}

// Bytes that were read and bytes to read have one unit.
func TestBytesOf(t *testing.T) {
	for want, n := range map[string][2]int64{
		"0.0 / 0.4 kB": {40, 400}, "0.9 / 999.9 kB": {900, 999_900}, "0.5 / 1.0 MB": {500_000, 1_000_000}, "1.2 / 3.4 GB": {1_200_000_000, 3_400_000_000},
		"0.1 / 2.0 TB": {123_000_000_000, 2_000_000_000_000}, "3000.0 / 3000.0 TB": {3e15, 3e15},
	} {
		if got := bytesOf(n[0], n[1]); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

// Ctrl-C at the keyboard while the bar shows: it is taken away, and one line says what happened.
func TestInterruptFromTheKeyboard(t *testing.T) {
	term := openTerminal(t, 80)
	cmd := command(t, t.TempDir(), "replay", "-", "--limit", "6/30s")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stderr = term.inside
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2} // descriptor 2 of the child
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{stdin: stdin}
	c.feed(func(lines int) bool { return lines >= 50_000 })
	time.Sleep(barAfter + 3*barTick)
	if _, err := term.keyboard.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	out := term.wait(t, cmd)
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v", took)
	}
	bar, rest, _ := strings.Cut(out, "shadow: ")
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || rest != "interrupted; nothing was kept\r\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
	if bar != "^C" && !lastBar.MatchString(bar) { // on a busy machine none may have come yet
		t.Errorf("the bar is still there: %q", out)
	}
}

// Nothing to act on is cut, and every line fits a terminal; findings fit 100 columns in a pipe. Lines to copy are as
// long as they are.
func TestFindingsAreWholeAndFit(t *testing.T) {
	t.Parallel()
	for _, log := range []string{"shop-combined.log", "nginx-timed.log", "vhosts.log", "api.json", "broken.log", "rotated"} {
		for _, args := range [][]string{
			{"suggest", "--quiet"}, {"doctor"}, {"sweep", "--no-store"}, {"replay", "--limit", "6/30s", "--no-store"},
		} {
			args = append(args, log, "--max-bad", "100%")
			for _, columns := range []int{80, 120, 200} {
				fits(t, args, columns, onTerminal(t, uint16(columns), []string{"NO_COLOR=1", "TERM=dumb"}, args...))
			}
			cmd := command(t, "../../sample-logs", args...)
			out, _ := cmd.Output() // some logs have no answer
			fits(t, args, 0, string(out))
		}
	}
}

var (
	findingBegins = regexp.MustCompile(`^(stop|warning|note|[x!i]) +`)
	tightShare    = regexp.MustCompile(`(^|[ (–])[0-9.]+%`)
	toCopy        = regexp.MustCompile(`^(next)? +(shadow|limit_req|location|log_format|access_log|awk|grep|\w+ |'|--)|^ {4}`)
)

// fits holds an output against the width of the terminal, 0 in a pipe.
func fits(t *testing.T, args []string, columns int, out string) {
	t.Helper()
	finding := false
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		finding = findingBegins.MatchString(line) || finding && strings.HasPrefix(line, "   ")
		n := utf8.RuneCountInString(line)
		if most := columns; !toCopy.MatchString(line) && (most > 0 && n > most || most == 0 && finding && n > 100) {
			t.Errorf("%q at %d: %d columns: %s", args, columns, n, line)
		}
		if tightShare.MatchString(line) {
			t.Errorf("%q at %d: a share without a space before its sign: %s", args, columns, line)
		}
		if cut := strings.TrimSuffix(line, "…"); finding && (cut != line || strings.Contains(line, "…;")) && !strings.HasSuffix(cut, "/") {
			t.Errorf("%q at %d: cut: %s", args, columns, line)
		}
	}
}

// Help wraps at the width of the terminal; only examples, which are to be copied, are longer.
func TestHelpFitsTheTerminal(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"replay", "--help"}, {"suggest", "--help"}, {"tail", "--help"}, {"help", "fail-if"}} {
		for _, columns := range []int{80, 120} {
			for line := range strings.Lines(onTerminal(t, uint16(columns), []string{"COLUMNS="}, args...)) {
				line = strings.TrimRight(line, "\r\n")
				example := strings.HasPrefix(line, "  shadow ") || strings.Contains(line, "| shadow ")
				if n := utf8.RuneCountInString(line); n > columns && !example {
					t.Errorf("%q at %d: %d columns: %s", args, columns, n, line)
				}
			}
		}
	}
}
