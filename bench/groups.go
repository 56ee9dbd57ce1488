//go:build linux || darwin

package main

import "fmt"

// A group is one table: its commands run in turns on generated logs.
type group struct {
	name, title string
	on          []size
	setup       []string // commands that run once, before
	gate        bool     // whether a target that is missed is an error
	rows        []row
}

// A size is one of the two logs that the flags give.
type size int

const (
	smaller size = iota
	larger
)

// A row is a command and what it has to reach. Names in braces stand for files (see places) and for the program.
type row struct {
	name, command string
	stdin         string // what the command reads, if anything
	cores         int    // GOMAXPROCS; 0 leaves it alone
	fresh         string // what is removed before each run, if anything
	shown         bool   // whether standard error of the last run is printed: the stages of --timing
	targets       []target
}

const (
	quiet = " --quiet --no-store"
	three = "{shadow} replay {log} --limit 6/30s" // a bare limit is three policies
)

var groups = []group{
	{
		name: "replay", title: "the main job beside wc -l, which only finds line feeds", on: []size{smaller, larger},
		rows: []row{
			{name: "wc -l", command: "wc -l {log}"},
			{name: "3 limits", command: three + quiet, cores: 2, targets: []target{times("wc -l", 3.8), nsPerLine(180)}},
			{name: "3 limits, 1 core", command: three + quiet, cores: 1, targets: []target{times("wc -l", 6.5)}},
			{
				name: "48 limits", command: "{shadow} replay {log} --limit 5..80:5/30s" + quiet, cores: 2,
				targets: []target{times("3 limits", 2.5)},
			},
			{name: "stages", command: three + quiet + " --timing", cores: 2, shown: true},
		},
	},
	{
		name: "policies", title: "several limits in one policy beside the same limits alone, on one core", on: []size{smaller},
		rows: []row{
			{name: "each alone", command: policy + "none --limit token:6/30s --limit window:60/1h", cores: 1},
			{name: "one limit", command: policy + "none --limit token:6/30s", cores: 1},
			{name: "combined", command: policy + "combined", cores: 1, targets: []target{times("each alone", 1.2)}},
			{name: "by class", command: policy + "classes", cores: 1, targets: []target{times("each alone", 1.2)}},
			{name: "client inside site", command: policy + "nested", cores: 1, targets: []target{nsBeyond("one limit", 200)}},
		},
	},
	{
		name: "answers", title: "every limit at once, beside a replay of three", on: []size{smaller, larger},
		rows: []row{
			{name: "replay", command: three + quiet},
			{name: "sweep", command: "{shadow} sweep {log}" + quiet, targets: []target{times("replay", 2.3), megabytes(500)}},
			{
				name: "keys", command: "{shadow} keys {log} --quiet",
				targets: []target{times("replay", 4), cpuTimes("replay", 4), megabytes(500)},
			},
			{name: "suggest", command: "{shadow} suggest {log} --quiet", targets: []target{times("replay", 4.5), megabytes(500)}},
			{name: "sweep of one client", command: "{shadow} sweep {lonely}" + quiet, targets: []target{cpuTimes("sweep", 3)}},
		},
	},
	{
		name: "gates", title: "CPU alone, which holds on a busy machine too: a miss ends with an error", on: []size{smaller},
		gate: true,
		rows: []row{
			{name: "wc -l", command: "wc -l {log}"},
			{name: "replay", command: three + quiet, cores: 2, targets: []target{cpuRatio("wc -l", 30)}},
			{name: "sweep", command: "{shadow} sweep {log}" + quiet, targets: []target{cpuRatio("replay", 4)}},
			{name: "suggest", command: "{shadow} suggest {log} --quiet", targets: []target{cpuRatio("replay", 6.5)}},
			{name: "keys", command: "{shadow} keys {log} --quiet", targets: []target{cpuRatio("replay", 8)}},
			{name: "stored", command: three + " --quiet --db {db}", cores: 2, fresh: "{db}", targets: []target{cpuRatio("replay", 2.2)}},
		},
	},
	{
		name: "planted", title: "keys on logs of 15,000 to 52,000 lines with a planted attack each, beside a replay of three limits",
		on: []size{smaller}, rows: plantedRows(),
	},
	{
		name: "tail", title: "a tail that has fallen behind, each would-block written, on one core", on: []size{smaller, larger},
		rows: []row{
			{name: "wc -l", command: "wc -l {log}"},
			{name: "tail", command: follow, stdin: "{log}", cores: 1, fresh: "{blocks}", targets: []target{millionLines(0.5)}},
			{
				name: "checkpoints and metrics", command: follow + " --state {state} --from start --listen 127.0.0.1:0",
				stdin: "{log}", cores: 1, fresh: "{blocks}", targets: []target{millionLines(0.5)},
			},
		},
	},
	{
		name: "store", title: "storing each would-block event, of which token:6/30s alone makes a tenth of the lines",
		on: []size{smaller, larger},
		rows: []row{
			{name: "not stored", command: three + quiet, cores: 2},
			{
				name: "stored", command: three + " --quiet --db {db}", cores: 2, fresh: "{db}",
				targets: []target{times("not stored", 2)},
			},
		},
	},
	{
		name: "report", title: "a stored run on the screen; readers wait for the clock, so nothing else may be going on",
		on: []size{larger},
		setup: []string{
			"{shadow} replay {log} --quiet --db {runs} --limit 6/30s --limit 30/1m",
			"{shadow} sweep {log} --quiet --db {runs}",
		},
		rows: []row{
			{name: "table", command: "{shadow} report --db {runs}", targets: []target{seconds(1)}},
			{name: "compared", command: "{shadow} report --db {runs} --compare 7d", targets: []target{seconds(1)}},
			{name: "page", command: "{shadow} report --db {runs} --output html", targets: []target{seconds(3)}},
		},
	},
	{
		name: "gzip", title: "gzip input beside decompression alone, by the same library", on: []size{larger},
		rows: []row{
			{name: "decompress", command: "{bench} -decompress {gzip}", cores: 2},
			{
				name: "3 limits", command: "{shadow} replay {gzip} --limit 6/30s" + quiet, cores: 2,
				targets: []target{times("decompress", 1.15)},
			},
		},
	},
	{
		name: "memory", title: "memory grows with distinct clients and keys, not with lines", on: []size{smaller, larger},
		rows: []row{
			{name: "3 limits", command: three + quiet, cores: 2, targets: []target{megabytes(budget(50_000))}},
		},
	},
	{
		name: "clients", title: "memory of 1 M clients in 1 M lines, and of 5 M in 6 M", on: []size{larger},
		rows: []row{
			{name: "sweep, 1 M clients", command: "{shadow} sweep {million}" + quiet, targets: []target{megabytes(1200)}},
			{name: "keys, 1 M clients", command: "{shadow} keys {million} --quiet", targets: []target{megabytes(1200)}},
			{name: "suggest, 1 M clients", command: "{shadow} suggest {million} --quiet", targets: []target{megabytes(1200)}},
			{
				name: "3 limits, 5 M clients", command: "{shadow} replay {crowd} --limit 6/30s" + quiet, cores: 2,
				targets: []target{megabytes(budget(5_000_000))},
			},
			{name: "sweep, 5 M clients", command: "{shadow} sweep {crowd}" + quiet, targets: []target{megabytes(3500)}},
			{name: "keys, 5 M clients", command: "{shadow} keys {crowd} --quiet", targets: []target{megabytes(3500)}},
			{name: "suggest, 5 M clients", command: "{shadow} suggest {crowd} --quiet", targets: []target{megabytes(3500)}},
		},
	},
	{
		name: "files", title: "the smaller log, whole and dealt over 1,000 files", on: []size{smaller},
		rows: []row{
			{name: "one file", command: three + quiet},
			{
				name: "1,000 files", command: "{shadow} replay {files} --limit 6/30s" + quiet,
				targets: []target{millisPerFile("one file", 1)},
			},
		},
	},
	{
		name: "start", title: "starting, and the log of the README", on: []size{smaller},
		rows: []row{
			{name: "version", command: "{shadow} version", targets: []target{millis(6)}},
			{
				name: "sample log", command: "{shadow} replay sample-logs/shop-combined.log --limit 6/30s" + quiet,
				targets: []target{millis(25)},
			},
		},
	},
}

const (
	policy = "{shadow} replay {log} --config {policies}" + quiet + " --policy "
	follow = "{shadow} tail - --quiet --limit token:6/30s --would-blocks {blocks}"
)

// plantedRows are two for each log of the test of keys.
func plantedRows() (rows []row) {
	for i := range 12 {
		log := fmt.Sprintf(" {planted}/%02d.log --config {planted}/%02d.yaml", i, i)
		replay := fmt.Sprintf("replay %02d", i)
		rows = append(rows, row{name: replay, command: "{shadow} replay" + log + " --limit 6/30s" + quiet}, row{
			name: fmt.Sprintf("keys %02d", i), command: "{shadow} keys" + log + " --quiet",
			targets: []target{times(replay, 4), cpuRatio(replay, 4)},
		})
	}
	return rows
}

const policiesFile = `policies:
  - name: combined
    limits: [token:6/30s, window:60/1h]
  - name: classes
    limits:
      - {limit: token:6/30s, match: {class: [browser, unknown]}}
      - {limit: window:60/1h, match: {class: [crawler, tool, monitor]}}
  - name: nested
    limits: [token:6/30s, {limit: token:100/1s, by: site}]
`
