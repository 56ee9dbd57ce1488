package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/logfile"
	"shadow/pipeline"
	"shadow/pipeline/flagvalue"
	"shadow/pipeline/sharded"
	"shadow/pipeline/stored"
	"shadow/report/explain"
	"shadow/shard"
	"shadow/traffic/ingest"
)

func newMerge() *cobra.Command {
	var into, output string
	var sum bool
	cmd := &cobra.Command{
		Use:   "merge DATABASE…",
		Short: "Gather the runs of several databases, as those of several hosts, in one",
		Long: `Merge copies the runs of databases into the one that --db names, which is made if it is not there.
The others stay as they are. All of them are taken in, or none, if one cannot be. Runs get new numbers. A run that is
there already is passed over, so the databases of several hosts can be merged every morning, and shadow report --since
yesterday puts their runs together.

Merge adds up what each host judged by itself. A client that several hosts served was judged by a part of its requests
at each, so a limit that the hosts share would refuse more: the report names the clients that runs of the same time have
in common, and how many requests are theirs. What such a limit refuses tells a replay of all logs together, or tails with
--redis.

With --sum the runs must be those of all shards of one set (shadow shard), each once: what they came to is added to one
run, which is that of a replay of all requests. Anything else is refused: a shard that is missing or there twice, shards
of other logs, of another key or number, and other limits.`,
		Example: `  shadow merge web1.duckdb web2.duckdb --db all.duckdb
  shadow report --db all.duckdb --since yesterday
  shadow merge --sum shard-*.duckdb --db all.duckdb`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return pipeline.Usage("which databases?\nSee `%s --help`.", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if sum {
				return (&sharded.Summing{Caller: callerOf(cmd), Into: into, Output: output}).Run(cmd.Context(), args)
			}
			return stored.Merge(cmd.Context(), cmd.OutOrStdout(), output, into, args)
		},
	}
	cmd.Flags().StringVar(&into, "db", pipeline.DefaultDB, "DuckDB `file` that takes the runs in")
	cmd.Flags().BoolVar(&sum, "sum", false, "add the runs of all shards of one set to one run")
	addOutput(cmd, &output, "answer", explain.CalcFormats())
	return cmd
}

func newShard() *cobra.Command {
	f := &sharded.Packing{Shards: 256}
	var out, part, span string
	cmd := &cobra.Command{
		Use:   "shard LOG… --out DIR|s3://…",
		Short: "Divide the requests of logs among shards, which any number of hosts can judge",
		Long: `Shard reads logs once and packs their requests into shards, divided by a hash of what limits count by. shadow replay,
sweep, suggest and doctor take the folder in the place of the logs; they say of it what they say of these. shadow
replay and sweep also take single shards, on any hosts: shadow merge --sum adds what all of them come to.

Any number of processes can pack the same logs into one folder, each another part: --part 3/8 is the third of eight parts
of the same size, --range 0-1GiB names the bytes. Each line belongs to the part that holds its first byte. Every process
names all logs, and the same flags. A process that was killed leaves nothing that counts; to repeat its part is safe.
They may also go to an object store, and be judged there: s3://bucket/shards/ and s3://bucket/shards/017-of-256.

The files hold addresses of clients: only their owner can read them.`,
		Example: `  shadow shard access.log --out shards
  shadow replay shards --limit 6/30s
  shadow shard /var/log/nginx --out shards --part 1/2 & shadow shard /var/log/nginx --out shards --part 2/2; wait
  shadow replay shards/017-of-256 --limit 6/30s --db 017.duckdb
  shadow merge --sum 0*.duckdb 1*.duckdb 2*.duckdb --db all.duckdb
  shadow shard s3://bucket/logs/ --out s3://bucket/shards`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			if out == "" {
				return pipeline.Usage("--out: which folder are the shards to go to?")
			}
			var err error
			if f.To = shard.Dir(out); logfile.IsObject(out) {
				if f.To, err = shard.InObjects(cmd.Context(), out); err != nil {
					return pipeline.Usage("--out: %w", err)
				}
			}
			switch {
			case part != "":
				f.Part, err = shard.ParsePart(part)
			case span != "":
				f.Part, err = shard.ParseRange(span, flagvalue.ParseSize)
			}
			if err != nil {
				return pipeline.Usage("%w", err)
			}
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`folder` that takes the shards, or a place in an object store (s3://bucket/shards); it is made if it is not there")
	flags.IntVar(&f.Shards, "shards", f.Shards, "into how many shards (`N`) requests are divided, 1 to 4096")
	option.Key.Add(cmd, &f.By, "by", "what shards are divided by (`key`): "+keyTexts)
	option.Key.AddList(cmd, &f.With, false, "with", "further `keys` that limits will count by, so that what they need is packed (repeatable)")
	flags.StringVar(&part, "part", "", "pack only this `part` of the logs: 3/8 is the third of eight")
	flags.StringVar(&span, "range", "", "pack only these `bytes` of the logs, one behind the other: 0-1GiB, 1GiB-2GiB, 2GiB-")
	addOutput(cmd, &f.Output, "answer", explain.CalcFormats())
	addWho(cmd, &f.Reading, ingest.DefaultLateness)
	addCrawlerRanges(cmd, &f.Reading)
	option.Moment.Add(cmd, &f.Until, "until", "leave out requests from this `moment` on")
	addEvidencePaths(cmd, &f.Evidence, "")
	addConfig(cmd, &f.Source, "actions, scopes and policies")
	addLogs(cmd, &f.Logs, "print nothing but errors", "report on standard error what is chosen")
	for _, flag := range []string{"anonymize", "anonymize-key"} { // nothing is shown
		if err := flags.MarkHidden(flag); err != nil {
			panic(err) // the flag does not exist: a mistake in this program
		}
	}
	option.Clash(cmd, "--part and --range: state one", "part", "range")
	return cmd
}
