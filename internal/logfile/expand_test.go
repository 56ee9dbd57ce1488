package logfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is a directory with logs, and with what lies beside them.
var tree = []string{
	"logs/access.log", "logs/access.log.1", "logs/access.log.2.gz", "logs/error.log", "logs/error.log.1.gz",
	"logs/site/terror.access.log", "logs/site/ssl_error_log", "logs/site/ssl_access_log", "logs/site/site-errors.2.gz",
	"logs/site/.access.log.swp", "logs/site/shadow.duckdb", "logs/site/README.md", "logs/site/access-logs.tar.gz",
	"logs/.hidden/access.log", "logs/2025.txt", "logs/requests.json", "logs/mirrors.log",
	"errors-only/error.log", "errors-only/error.log.1", "[odd].log", "UPPER.LOG", "empty/.keep", "lone/error.log",
}

// inTree changes into a fresh copy of tree.
func inTree(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range tree {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"link.log": "logs/access.log", "logs/current.log": "access.log", "logs/nowhere.log": "gone", "all": "logs", "logs/loop": ".",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link("logs/access.log.1", "hard.log"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("bare", 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestExpand(t *testing.T) {
	const directory = "2025.txt access.log access.log.1 access.log.2.gz mirrors.log requests.json site/ssl_access_log site/terror.access.log"
	under := func(dir string) string {
		return dir + "/" + strings.ReplaceAll(directory, " ", " "+dir+"/")
	}
	inTree(t)
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"-", "-"},
		{"- -", "-"},
		{"logs/access.log", "logs/access.log"},
		{"logs/error.log", "logs/error.log"}, // named, so wanted
		{"logs/access.log.1 - logs/access.log", "logs/access.log.1 - logs/access.log"},
		{"logs/access.log logs/../logs/access.log ./logs/access.log", "logs/access.log"},
		{"link.log logs/access.log", "link.log"},
		{"logs/access.log.1 hard.log", "logs/access.log.1"},
		{"logs", under("logs")},
		{"all", under("all")},
		{"logs logs", under("logs")},
		{"logs/access.log.2.gz logs/site logs/access.log.2.gz", "logs/access.log.2.gz logs/site/ssl_access_log logs/site/terror.access.log"},
		{"logs/access.log*", "logs/access.log logs/access.log.1 logs/access.log.2.gz"},
		{"logs/*.gz", "logs/access.log.2.gz logs/error.log.1.gz"},
		{"l?nk.log", "link.log"},
		{"*/site", "all/site/ssl_access_log all/site/terror.access.log"},
		{"logs/si*/*.log", "logs/site/terror.access.log"},
		{"logs/site/.*", "logs/site/.access.log.swp"},
		{"[odd].log", "[odd].log"},
		{"[U]PPER*", "UPPER.LOG"},
	} {
		got, err := Expand(strings.Fields(c.args))
		if diff := cmp.Diff(strings.Fields(c.want), append([]string{}, got.Names...)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.args, err, diff)
		}
	}
}

func TestExpandSaysWhatToDo(t *testing.T) {
	inTree(t)
	for _, c := range []struct{ arg, want string }{
		{"logs/acces.log", "logfile: logs/acces.log: file does not exist; did you mean logs/access.log?"},
		{"upper.log", "logfile: upper.log: file does not exist; did you mean UPPER.LOG?"},
		{"logs/nowhere.log", "logfile: logs/nowhere.log: file does not exist"},
		{"lgos", "logfile: lgos: file does not exist; did you mean logs?"},
		{"something-else-entirely", "logfile: something-else-entirely: file does not exist"},
		{"no/such/file", "logfile: no/such/file: file does not exist: there is no directory no/such"},
		{"logs/access.log/x", "logfile: logs/access.log/x: not a directory"},
		{"site/*.log", "logfile: site: file does not exist"},
		{"logs/*.zst", "logfile: logs/*.zst: none of the 13 names in logs matches"},
		{"logs/site/*.swp", "logfile: logs/site/*.swp: none of the 8 names in logs/site matches"},
		{"lo*/*.zst", "logfile: lo*/*.zst: no file matches"},
		{"logs/**/x.log", `logfile: logs/**/x.log: no file matches; "**" is no more than "*": name a directory to read all below it`},
		{"[log", "logfile: [log: no file of that name, and not a pattern either: syntax error in pattern"},
		{"bare", "logfile: bare: no files in this directory, hidden ones aside"},
		{"empty", "logfile: empty: no files in this directory, hidden ones aside"},
		{"lone", "logfile: lone: no logs in this directory, by their names; to read lone/error.log nevertheless, name it"},
		{"errors-only", "logfile: errors-only: no logs in this directory, by their names; to read one of its 2 files nevertheless, name it (errors-only/error.log)"},
		{"", "logfile: the name of an input is empty"},
	} {
		got, err := Expand([]string{c.arg})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v, %q\nwant %s", c.arg, err, got.Names, c.want)
		}
	}
}

// What a directory leaves out is told, once, unless another argument names it.
func TestExpandTellsWhatItPassesOver(t *testing.T) {
	inTree(t)
	for _, c := range []struct{ args, want string }{
		{"logs/site", "logs/site: README.md access-logs.tar.gz shadow.duckdb site-errors.2.gz ssl_error_log"},
		{"logs logs/site logs", "logs: error.log error.log.1.gz site/README.md site/access-logs.tar.gz site/shadow.duckdb site/site-errors.2.gz site/ssl_error_log"},
		{"logs/error.log logs logs/site/ssl_*", "logs: error.log.1.gz site/README.md site/access-logs.tar.gz site/shadow.duckdb site/site-errors.2.gz"},
		{"logs/site logs", "logs/site: README.md access-logs.tar.gz shadow.duckdb site-errors.2.gz ssl_error_log; logs: error.log error.log.1.gz"},
		{".", ".: errors-only/error.log errors-only/error.log.1 logs/error.log logs/error.log.1.gz logs/site/README.md " +
			"logs/site/access-logs.tar.gz logs/site/shadow.duckdb logs/site/site-errors.2.gz logs/site/ssl_error_log lone/error.log"},
		{"logs/../logs/site logs/site/ssl_error_log", "logs/../logs/site: README.md access-logs.tar.gz shadow.duckdb site-errors.2.gz"},
		{"logs/access.log", ""},
	} {
		got, err := Expand(strings.Fields(c.args))
		var passed []string
		for _, p := range got.Passed {
			passed = append(passed, p.Dir+": "+strings.Join(p.Files, " "))
		}
		if text := strings.Join(passed, "; "); err != nil || text != c.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", c.args, err, text, c.want)
		}
	}
}

// Ten thousand files are nothing special.
func TestExpandTakesManyFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range manyNames(2000) {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Expand([]string{".", "*"}); err != nil || len(got.Names) != 2000 {
		t.Errorf("%d names, %v", len(got.Names), err)
	}
}

func manyNames(n int) (names []string) {
	for i := range n {
		names = append(names, "access.log."+strings.Repeat("i", i%40)+string(rune('a'+i/40%26))+string(rune('a'+i/1040)))
	}
	return names
}
