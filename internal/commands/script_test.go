package commands

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"shadow/internal/commands/option"
	"shadow/internal/policy"
	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/network"
)

var update = flag.Bool("update", false, "rewrite what the tests expect")

func TestMain(m *testing.M) {
	testscript.Main(ownDefaults{m}, map[string]func(){"shadow": func() { Run(Release{}) }})
}

// The tests have no defaults but their own: none of the developer's.
type ownDefaults struct{ *testing.M }

func (m ownDefaults) Run() int {
	home, err := os.MkdirTemp("", "shadow-config-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for _, name := range policy.DefaultNames {
		os.Unsetenv(option.VariableOf(name))
	}
	os.Unsetenv(option.NoDefaults)
	os.Setenv("XDG_CONFIG_HOME", home)
	return m.M.Run()
}

// TestScripts runs testdata/script: the program as people call it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			samples, err := filepath.Abs("../../sample-logs")
			env.Setenv("SAMPLES", samples)
			env.Setenv("CONTRIB", filepath.Join(filepath.Dir(samples), "contrib"))
			env.Setenv("TZ", "UTC")
			env.Setenv("TMPDIR", env.WorkDir)
			env.Vars = append(env.Vars, raceExit)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "accesslog": accesslog, "redis": redisServer, "mmdb": mmdb},
	})
}

// scripts returns the names of all scripts; where the program was built without a database, of those that need none.
func scripts(t *testing.T) (names []string) {
	all, err := filepath.Glob("testdata/script/*.txtar")
	must(t, err)
	for _, name := range all {
		text, err := os.ReadFile(name)
		must(t, err)
		without := filepath.Base(name) == "nostore.txtar"
		if duck.Built && !without || !duck.Built && (without || !keeps.Match(text)) {
			names = append(names, name)
		}
	}
	return names
}

// keeps matches what occurs in scripts that use a database, Redis or metrics.
var keeps = regexp.MustCompile(`--db|SHADOW_DB|\bdb: |duckdb|redis|parquet|shadow (query|report|runs|merge)|--compare|--resume|--sweep|--listen`)

// exits CODE COMMAND… runs a command and holds its exit code against CODE.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want := map[string]int{"1": 1, "2": 2, "3": 3, "4": 4, "130": 130}[args[0]]
	err := ts.Exec(args[1], args[2:]...)
	code, ok := err.(interface{ ExitCode() int })
	if !ok {
		ts.Fatalf("ended with %v, want exit code %d", err, want)
	}
	if code.ExitCode() != want {
		ts.Fatalf("exit code %d, want %d", code.ExitCode(), want)
	}
}

// mmdb FILE PREFIX ASN NAME COUNTRY … writes a database of networks.
func mmdb(ts *testscript.TestScript, _ bool, args []string) {
	records := testneeds.Records{}
	for of := range slices.Chunk(args[1:], 4) {
		asn, err := network.ParseASN(of[1])
		ts.Check(err)
		records[of[0]] = testneeds.Owner(asn, of[2], of[3])
	}
	ts.Check(testneeds.MMDB(ts.MkAbs(args[0]), "GeoLite2-ASN", records))
}

// TestSampleReports holds the reports on the sample logs against sample-logs/expected.
func TestSampleReports(t *testing.T) {
	samples := map[string][]string{
		"shop-combined": {"shop-combined.log"},
		"nginx-timed":   {"nginx-timed.log"},
		"api":           {"api.json"},
		"vhosts":        {"vhosts.log", "--by", "host", "--limit", "window:60/1m"},
		"rotated":       {"rotated"},
		"broken":        {"broken.log", "--max-bad", "100%"},
		"empty":         {"empty.log"},
	}
	for name, args := range samples {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"replay", "--no-store", "--limit", "6/30s"}, args...)
			cmd := command(t, "../../sample-logs", args...)
			got, err := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != exitDone && (name != "empty" || code != exitIncomplete) {
				t.Fatalf("exit code %d, %v", code, err)
			}
			golden := filepath.Join("../../sample-logs/expected", name+".txt")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("the report differs from %s (-update rewrites it):\n%s", golden, got)
			}
		})
	}
}
