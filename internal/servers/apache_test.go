package servers

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// apacheConfig is a configuration around lines, in a dry run or enforced, whose files are in a folder.
func apacheConfig(t *testing.T, dir, address string, enforce bool, log string, all ...Directives) string {
	t.Helper()
	const modules = "/usr/lib/apache2/modules/"
	testneeds.File(t, modules+"mod_qos.so")
	var b strings.Builder
	fmt.Fprintf(&b, "ServerRoot %s\nDefaultRuntimeDir %s\nPidFile %s/pid\nListen %s\nServerName localhost\n", dir, dir, dir, address)
	fmt.Fprintf(&b, "ErrorLog /dev/stderr\nUser nobody\nGroup nogroup\nDocumentRoot /usr/lib/apache2/modules\n%s\n", log)
	if pcre, _ := filepath.Glob("/usr/lib/*/libpcre.so.3"); pcre != nil { // with which Debian 12 does not link mod_qos
		b.WriteString("LoadFile " + pcre[0] + "\n")
	}
	for _, module := range []string{"mpm_event", "authz_core", "setenvif", "remoteip", "qos"} {
		fmt.Fprintf(&b, "LoadModule %s_module %smod_%s.so\n", module, modules, module)
	}
	for _, d := range all {
		for _, block := range d.Blocks {
			if block.Place != "server config" {
				t.Fatalf("no place for %q", block.Place)
			}
			for _, line := range block.Lines {
				b.WriteString(pastedApache(line, dir, enforce) + "\n")
			}
		}
	}
	file := filepath.Join(dir, "httpd.conf")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// pastedApache is a line as people paste it, or as its comments say to enforce it.
func pastedApache(line, dir string, enforce bool) string {
	line = strings.Replace(line, "/var/log/apache2", dir, 1)
	directive, comment := strings.CutPrefix(line, "# ")
	if _, status, found := strings.Cut(line, "# 429 takes "); found && enforce {
		line, _, _ = strings.Cut(status, ",")
		return line
	}
	comment = comment && (strings.HasPrefix(directive, "QS_") || strings.HasPrefix(directive, "SetEnvIf "))
	switch dry := strings.HasPrefix(line, "QS_CondClientEventLimitCount 32767 "); {
	case enforce && dry:
		return ""
	case enforce && comment:
		return directive
	}
	return line
}

// startApache starts Apache, which ends with the test. Over counts the lines of its log as the command that is printed does.
func startApache(t *testing.T, address string, d Directives, enforce bool) (over func() int) {
	dir := t.TempDir()
	runApache(t, address, apacheConfig(t, dir, address, enforce, "", d))
	return func() int {
		logs, _ := filepath.Glob(filepath.Join(dir, "shadow_*.log"))
		if len(logs) != 1 || !strings.Contains(d.Count, filepath.Base(logs[0])) {
			t.Fatalf("%q counts other than %q", d.Count, logs)
		}
		out, err := exec.Command("sh", "-c", strings.Replace(d.Count, "/var/log/apache2", dir, 1)).Output()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		_, _ = fmt.Sscan(string(out), &n)
		return n
	}
}

// runApache starts Apache, which ends its children when the test has ended.
func runApache(t *testing.T, address, file string) {
	t.Helper()
	cmd := exec.Command("apache2", "-D", "FOREGROUND", "-f", file)
	run(t, address, cmd)
	t.Cleanup(func() { // before it is killed
		_ = cmd.Process.Signal(os.Interrupt)
		for range 100 {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), "pid")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// modQoS does what mod_qos does with requests of a client, in its own words.
func modQoS(number, seconds int64) func(at limit.Time) (refused bool) {
	count, timer := int64(0), int64(0)
	return func(at limit.Time) bool {
		now := int64(at / limit.Second)
		if timer+seconds < now {
			count, timer = 0, 0
		}
		if count == 0 {
			timer = now
		}
		count++
		return count >= number
	}
}

// TestApacheIsAFixedWindow holds our limit against what mod_qos does with the numbers that it is told.
func TestApacheIsAFixedWindow(t *testing.T) {
	r := testneeds.Rand(t, 16, 41)
	for range 2000 {
		n, seconds := 1+r.Int64N(5), 2+r.Int64N(9)
		text := fmt.Sprintf("fixed:%d/%ds,align=first,clock=1s", n, seconds)
		d, err := apache.Lines(text, Where{Client: "addr"})
		if err != nil {
			t.Fatal(err)
		}
		told := apacheNumbers(d)
		if len(told) != 2 || told[0] != n+1 || told[1] != seconds-1 {
			t.Fatalf("%s: the lines have %d", text, told)
		}
		limiter, module, at := apacheLimiter(t, text), modQoS(told[0], told[1]), limit.Time(1e15)
		var s limit.State
		for range 60 {
			at += randomGap(r)
			refused := limiter.Wait(&s, at) > 0
			limiter.Charge(&s, at, refused)
			if want := module(at); refused != want {
				t.Fatalf("%s at %d: refused %t, by mod_qos %t", text, at, refused, want)
			}
		}
	}
}

func randomGap(r *rand.Rand) limit.Time {
	return limit.Time(r.Int64N([]int64{1, 1e6, 1e6, 4e6}[r.IntN(4)]))
}

// apacheNumbers returns the numbers of the directive that enforces.
func apacheNumbers(d Directives) (told []int64) {
	for _, block := range d.Blocks {
		for _, line := range block.Lines {
			var number, seconds int64
			if n, _ := fmt.Sscanf(line, "# QS_ClientEventLimitCount %d %d", &number, &seconds); n == 2 {
				told = append(told, number, seconds)
			}
		}
	}
	return told
}

func apacheLimiter(t *testing.T, text string) limit.Limiter {
	t.Helper()
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	return policies[0].Parts[0].Limiter
}

// TestRealApacheKeepsTime sends requests for some windows, and holds the verdicts against those of our limiter at the times
// that Apache's log has.
func TestRealApacheKeepsTime(t *testing.T) {
	t.Parallel()
	testneeds.Program(t, "apache2")
	const text = "fixed:2/2s,align=first,clock=1s"
	r, dir, address := testneeds.Rand(t, 16, 42), t.TempDir(), freeAddress(t)
	d, err := apache.Lines(text, Where{Client: "addr"})
	if err != nil {
		t.Fatal(err)
	}
	log := `CustomLog ` + dir + `/access.log "%a %{usec}t %>s"`
	runApache(t, address, apacheConfig(t, dir, address, true, log, d))
	for range 40 {
		for client := range 3 {
			sent{peer: fmt.Sprintf("127.0.0.%d", client+1), path: "/"}.send(t, address)
		}
		time.Sleep(time.Duration(r.Int64N(int64(300 * time.Millisecond))))
	}
	lines := accessLog(t, filepath.Join(dir, "access.log"), 120)
	limiter, states, refusedAny := apacheLimiter(t, text), map[string]*limit.State{}, 0
	for _, line := range lines {
		var client string
		var at limit.Time
		var status int
		if _, err := fmt.Sscan(line, &client, &at, &status); err != nil {
			t.Fatal(line, err)
		}
		if states[client] == nil {
			states[client] = new(limit.State)
		}
		refused := limiter.Wait(states[client], at) > 0
		limiter.Charge(states[client], at, refused)
		if refused != (status == http.StatusTooManyRequests) {
			t.Errorf("%s: ours refuses it: %t", line, refused)
		}
		if refused {
			refusedAny++
		}
	}
	if refusedAny < 10 || refusedAny > 110 {
		t.Errorf("%d of 120 refused, which tests nothing", refusedAny)
	}
}

// accessLog are the lines of a log, once there are so many.
func accessLog(t *testing.T, file string, want int) (lines []string) {
	t.Helper()
	for range 200 {
		text, _ := os.ReadFile(file)
		if lines = strings.Split(strings.TrimSpace(string(text)), "\n"); len(lines) == want {
			return lines
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%d lines, want %d", len(lines), want)
	return nil
}

// TestApacheTakesLines asks Apache whether it takes the lines of each place, in a dry run and enforced, and refuses those
// that people have to complete.
func TestApacheTakesLines(t *testing.T) {
	testneeds.Program(t, "apache2")
	_, port, _ := net.SplitHostPort(freeAddress(t))
	for _, p := range places() {
		for _, enforce := range []bool{false, true} {
			where := p.where(t)
			d, err := apache.Lines("fixed:100/1m,align=first,clock=1s", where)
			if err != nil {
				t.Fatal(err)
			}
			file := apacheConfig(t, t.TempDir(), "127.0.0.1:"+port, enforce, "", d)
			out, err := exec.Command("apache2", "-t", "-f", file).CombinedOutput()
			complete := where.address() && !strings.Contains(d.Note, "only you know")
			if (err == nil) != complete {
				t.Errorf("%s, enforced %t: %v\n%s", p, enforce, err, out)
			}
		}
	}
}

// TestPastedLinesKeepLimitsOfApache: what mod_qos limited before, it limits afterwards, and what was pasted counts.
func TestPastedLinesKeepLimitsOfApache(t *testing.T) {
	testneeds.Program(t, "apache2")
	login, err := apache.Lines("fixed:2/1h,align=first,clock=1s", Where{Client: "addr", Action: "/login"})
	if err != nil {
		t.Fatal(err)
	}
	const own = "SetEnvIf Request_URI ^/old QS_Limit\nQS_ClientEventLimitCount 3 3600\n"
	for _, enforce := range []bool{false, true} {
		dir, address := t.TempDir(), freeAddress(t)
		file := apacheConfig(t, dir, address, enforce, own+"QS_ErrorResponseCode 429", login)
		runApache(t, address, file)
		got := map[string][]int{}
		for n, path := range []string{"/old", "/login", "/free"} {
			for range 4 {
				got[path] = append(got[path], sent{peer: fmt.Sprintf("127.0.0.%d", n+1), path: path}.send(t, address))
			}
		}
		// Who is over the limit of one action is let into others.
		got["/free"] = append(got["/free"], sent{peer: "127.0.0.2", path: "/free"}.send(t, address))
		over := map[bool]int{false: 404, true: 429}[enforce]
		want := map[string][]int{
			"/old": {404, 404, 429, 429}, "/login": {404, 404, over, over}, "/free": {404, 404, 404, 404, 404},
		}
		for path := range want {
			if !slices.Equal(got[path], want[path]) {
				t.Errorf("enforced %t: %s gets %d, want %d", enforce, path, got[path], want[path])
			}
		}
	}
}
