package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/store/duck"
)

// Typical mistakes of people who know only --help, and the first line of what they are told.
var mistakes = []struct {
	line string // of a shell, words in quotes as one
	code int
	text string
}{
	{"reply a.log", 2, `unknown command "reply", did you mean replay?`},
	{"reply a.log --limit 6/30s", 2, `unknown command "reply", did you mean replay?`},
	{"--limit 6/30s reply a.log", 2, "unknown flag: --limit: the name of a command comes first, as in shadow replay --limit"},
	{"parse api.json", 2, "shadow parse is now shadow doctor parse"},
	{"shard api.json --out parts", 2, "shadow shard is gone: logs too large for one machine are judged with Apache Beam; see docs/scale.md"},
	{"replay api.json --limit 6/30s --sample 1%", 2, "unknown flag: --sample (it is gone: a replay of all clients is fast enough)"},
	{"api.json", 2, `unknown command "api.json": a command comes before the name of a log, as in shadow suggest api.json`},
	{"limits 6/30s", 2, `unknown command "6/30s", did you mean shadow limits explain 6/30s?`},
	{"report runs rm 1", 2, `unknown command "rm": want list, show, delete`},
	{"report 1", 2, `report takes no arguments, but here is "1" (did you mean --run 1?)`},
	{"export --limit token:6/30s --to nginx --check nginx.conf", 2, `"nginx.conf" is no log: to judge the lines in it, say --check=nginx.conf`},
	{"replay api.json -limit 6/30s", 2, "-limit: the name of a flag has two dashes; did you mean --limit?"},
	{"replay api.json -limit=6/30s", 2, "-limit: the name of a flag has two dashes; did you mean --limit?"},
	{"replay api.json -output json", 2, "-output: the name of a flag has two dashes; did you mean --output?"},
	{"replay api.json --limit 6/30s --json", 2, "unknown flag: --json (did you mean --output json?)"},
	{"replay api.json --limit 6/30s -o jsn", 2, `--output "jsn": want one of table, json, csv, markdown, html (did you mean "json"?)`},
	{"replay api.json --limit 6/30s burst=10", 2, `"burst=10" is no log: options of a limit follow after a comma, as in --limit 6/30s,burst=10`},
	{"replay api.json --limit '6/30s burst=10'", 2, `--limit "6/30s burst=10": is no limit; did you mean 6/30s,burst=10?`},
	{"limits explain 6/30s burst=10", 2, `limit "burst=10": is an option, which follows its limit after a comma: 6/30s,burst=10`},
	{"replay api.json 6/30s", 2, "a limit stands where a log should: want --limit 6/30s"},
	{"replay api.json --limit token 6/30s", 2, "a limit stands where a log should: want --limit token:6/30s"},
	{"replay api.json --limit 6/min", 2, `--limit "6/min": is no limit; did you mean 6/1m?`},
	{"replay api.json --limit 5/15min", 2, `--limit "5/15min": is no limit; did you mean 5/15m?`},
	{"replay api.json --limit 6/30sec", 2, `--limit "6/30sec": is no limit; did you mean 6/30s?`},
	{"replay api.json --limit 100rpm", 2, `--limit "100rpm": is no limit; did you mean 100/1m?`},
	{"replay api.json --limit 6/30", 2, `--limit "6/30": is no limit; did you mean 6/30s?`},
	{"keys api.json --per 5min", 2, `--per: period "5min": is no length of time; did you mean 5m?`},
	{"replay api.json --limit 6/30s --by ip", 2, `--by: key "ip": limits cannot count by that (did you mean "client"?)`},
	{"replay api.json --limit 6/30s --timezone CEST", 2, `--timezone "CEST": an abbreviation names no zone; want a name such as Europe/Berlin, or an offset such as +02:00`},
	{"replay api.json --limit 6/30s --timezone Mars", 2, `--timezone "Mars": no such zone; want a name such as UTC, Europe/Berlin or Local, or an offset such as +02:00`},
	{"replay api.json --limit 6/30s --no-store --timezone +02:00", 0, ""},
	{"replay api.json --limit 6/30s --no-store --timezone -0330", 0, ""},
	{"replay api.json --limit 6/30s --format nginx", 2, `--format: no format is called "nginx"; nginx's default is combined; --nginx-conf FILE takes the log_format of a configuration`},
	{"suggest api.json --limit 6/30s", 2, "unknown flag: --limit: suggest tries every limit; shadow replay judges one"},
	{"doctor api.json --limit 6/30s", 2, "unknown flag: --limit: doctor does without; shadow replay has it"},
	{"replay api.json --limit 6/30s --fail-if 'x >> 0'", 2, `--fail-if "x >> 0": cannot be read from "> 0" on; want a comparison, such as refused_share > 0.01 (shadow help fail-if)`},
	{"replay api.json --limit 6/30s --fail-if 'refused >'", 2, `--fail-if "refused >": ends too early; want a comparison, such as refused_share > 0.01 (shadow help fail-if)`},
	{"replay api.json --limit 6/30s --fail-if refused_share", 2, `--fail-if "refused_share": compares nothing; want a comparison in quotes, such as 'refused_share > 0.01' (shadow help fail-if)`},
	{"replay api.json --limit 6/30s --fail-if 'refused_share > 1%'", 2, `--fail-if "refused_share > 1%": shares are from 0 to 1: want 0.01 for 1 %`},
	{"replay api.json --limit 6/30s --fail-if 'refused > 1,000'", 2, `--fail-if "refused > 1,000": a number has no commas: want 1000`},
	{"replay api.json --limit 6/30s --fail-if 'refused > policy'", 2, `--fail-if "refused > policy": "> policy" compares a number with a text, or either with a list`},
	{"replay api.json --limit 6/30s --no-store --quiet --fail-if 'refused % 0 == 1'", 1, `--fail-if "refused % 0 == 1", of policy token:6/30s: integer divide by zero`},
}

func TestTypicalMistakes(t *testing.T) {
	t.Chdir("../../sample-logs")
	for _, m := range mistakes {
		tells(t, m.line, m.code, m.text)
	}
}

// tells calls the program, and wants an exit code and the first line of what it complains about.
func tells(t *testing.T, line string, code int, text string) {
	t.Helper()
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	err := called(args)
	got, _, _ := strings.Cut(complaint(t.Context(), err), "\n")
	if exitCode(t.Context(), err) != code || got != text {
		t.Errorf("shadow %s: exit code %d\n%s\nwant %d\n%s", line, exitCode(t.Context(), err), got, code, text)
	}
}

// A run that was cut or overwritten is said to be damaged, in one sentence with the remedy; others can be stored beside it.
func TestDamagedDatabaseIsSaid(t *testing.T) {
	if !duck.Built {
		t.Skip("there is no database")
	}
	samples, err := filepath.Abs("../../sample-logs")
	must(t, err)
	t.Chdir(t.TempDir())
	const file = "kept.db/runs/run=1/0000000001/policies.parquet"
	replay := []string{"replay", samples + "/api.json", "--limit", "6/30s", "--db", "kept.db", "--quiet"}
	must(t, called(replay))
	whole, err := os.ReadFile(file)
	must(t, err)
	const advice = "a file of a run is damaged: restore a copy of it, or move the folder of that run away and replay its logs again"
	for text, named := range map[string]string{
		string(whole[:len(whole)/3]):                                                            "run=1/0000000001/policies.parquet: ",
		string(bytes.Repeat([]byte{0x55}, len(whole))):                                          "run=1/0000000001/policies.parquet: ",
		string(whole[:40]) + strings.Repeat("U", len(whole)-80) + string(whole[len(whole)-40:]): "",
	} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		for _, line := range []string{"report --db kept.db", "report runs --db kept.db", "query 'FROM policies' --db kept.db"} {
			tells(t, line, 1, "database kept.db: "+named+advice)
		}
		must(t, called(replay))
	}
}
