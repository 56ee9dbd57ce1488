package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// A real cron runs the nights: those of README.md as they stand, and contrib's script with README's policy, whose name has a
// blank. It starts in another folder, and knows nothing of the user's PATH and variables.
func TestCron(t *testing.T) {
	t.Parallel()
	testneeds.File(t, "/usr/sbin/cron")
	if os.Geteuid() != 0 {
		t.Skip("only root can give cron folders of its own")
	}
	dir, home := recipeFolder(t), t.TempDir()
	text, err := os.ReadFile(readme)
	must(t, err)
	night := recipeLines(t, string(text), "Every night by cron")
	config := recipeConfig.FindStringSubmatch(recipeOf(t, string(text), "A limit for /login"))
	must(t, os.WriteFile(filepath.Join(dir, "var/lib/shadow/shadow.yaml"), []byte(config[1]), 0o600))
	script, err := filepath.Abs("../../contrib/nightly/shadow-night")
	must(t, err)
	jobs := map[string]string{
		"readme": strings.ReplaceAll(strings.Join(night, "; "), "/var/", dir+"/var/"),
		"script": "SHADOW_DB=night.db sh " + script,
	}
	runsUnderCron(t, dir, home, jobs)
	for job, database := range map[string]string{"readme": "shadow.db", "script": "night.db"} {
		mail, err := os.ReadFile(filepath.Join(dir, job+".mail"))
		must(t, err)
		if status, err := os.ReadFile(filepath.Join(dir, job)); err != nil || string(status) != "0\n" {
			t.Errorf("%s: exit code %q, %v; it said:\n%s", job, status, err, mail)
		}
		policies := storedPolicies(t, filepath.Join(dir, "var/lib/shadow", database))
		if want := map[string]string{"readme": "token:6/30s", "script": "failed logins"}[job]; !strings.Contains(policies, want) {
			t.Errorf("%s: its database has %q, want %s; it said:\n%s", job, policies, want, mail)
		}
	}
	if left, err := filepath.Glob(filepath.Join(home, "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the folder in which cron starts: %q, %v", left, err)
	}
}

// recipeOf returns the recipe of README.md of that title, and recipeLines its commands without comments.
func recipeOf(t *testing.T, text, title string) string {
	_, recipe, found := strings.Cut(text, "\n### "+title)
	if !found {
		t.Fatalf("README.md has no recipe %q", title)
	}
	recipe, _, _ = strings.Cut(recipe, "\n### ")
	return recipe
}

func recipeLines(t *testing.T, text, title string) []string {
	script := recipeScript.FindStringSubmatch(recipeOf(t, text, title))
	comment := regexp.MustCompile(`(?m)\s+# .*$`)
	return strings.Split(strings.TrimSpace(comment.ReplaceAllString(script[1], "")), "\n")
}

// runsUnderCron runs jobs under a cron that sees no other ones, each minute, until each has ended once. What a job prints
// goes into a file of its name in dir, with .mail; its exit code into one of its name.
func runsUnderCron(t *testing.T, dir, home string, jobs map[string]string) {
	t.Helper()
	program, err := exec.LookPath("shadow")
	must(t, err)
	tab := fmt.Sprintf("SHELL=/bin/sh\nHOME=%s\nPATH=%s:/usr/bin:/bin\nTZ=UTC\n%s\nSHADOW_DIR=%s/var/lib/shadow\nSHADOW_LOGS=%[5]s/var/log/nginx\n"+
		"SHADOW_SINCE=2026-03-01\nSHADOW_LIMITS=\"--policy 'failed logins'\"\n", home, filepath.Dir(program), raceExit, dir, dir)
	for name, job := range jobs {
		tab += fmt.Sprintf("* * * * * root mkdir %s/%s.begun && { %s; } >%[1]s/%[2]s.mail 2>&1; echo $? >%[1]s/%[2]s.code && mv %[1]s/%[2]s.code %[1]s/%[2]s\n", dir, name, job)
	}
	tabs := t.TempDir()
	must(t, os.Chmod(tabs, 0o755))
	must(t, os.WriteFile(filepath.Join(tabs, "shadow"), []byte(tab), 0o644))
	const private = `mount --make-rprivate / && mount --bind "$0" /etc/cron.d && mount --bind /dev/null /etc/crontab &&
mount -t tmpfs none /var/spool/cron && mount -t tmpfs none /run && exec /usr/sbin/cron -f`
	cron := exec.Command("sh", "-c", private, tabs)
	cron.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Setpgid: true}
	var said strings.Builder
	cron.Stdout, cron.Stderr = &said, &said
	must(t, cron.Start())
	ended := make(chan error, 1)
	go func() { ended <- cron.Wait() }()
	defer syscall.Kill(-cron.Process.Pid, syscall.SIGKILL)
	for end := time.Now().Add(5 * time.Minute); ; {
		done := 0
		for name := range jobs {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				done++
			}
		}
		if done == len(jobs) {
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("cron ended: %v, %s", err, said.String())
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatalf("only %d of %d jobs have ended", done, len(jobs))
		}
	}
}

// storedPolicies returns the names of the policies in a database.
func storedPolicies(t *testing.T, database string) string {
	t.Helper()
	program, err := exec.LookPath("shadow")
	must(t, err)
	out, err := exec.Command(program, "query", "SELECT policy, requests FROM policy_totals", "--db", database, "--output", "csv").CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v, %s", database, err, out)
	}
	return string(out)
}
