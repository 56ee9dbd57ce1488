// Beam judges access logs by limits with Apache Beam: on this machine, or on Dataflow, Flink or Spark. README.md says
// how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"

	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/pipeline/heap"
	"shadow/scale/beam/job"
	"shadow/scale/objects"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "beam:", err)
		os.Exit(1)
	}
}

// A list is a flag that may be repeated.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(text string) error { *l = append(*l, text); return nil }

// partBytes is the size of byte ranges unless --part says otherwise.
const partBytes = 256 << 20

// Prism holds all blocks in this process: bytes in which there is nothing for the garbage collector to follow.
const (
	prismHeap    = 88 << 20 // bytes of the heap below which collecting would be a fifth of the work
	prismPercent = 40       // by which it grows between collections above that
	prismRoom    = 1 << 30  // bytes that are wanted in large pages
)

func run() error {
	started := time.Now()
	j := &job.Job{Version: "beam", Command: strings.Join(os.Args, " "), Started: started}
	several := func(to *[]string, name, usage string) { flag.Var((*list)(to), name, usage+" (may be repeated)") }
	several(&j.Logs, "input", "log: a file, a glob or a folder, or objects (s3://, gs://, azblob://), which all workers can read")
	several(&j.Limits, "limit", "limit to judge by, as shadow replay takes it")
	several(&j.Policies, "policy", "judge by this policy of --config")
	several(&j.Trusted, "trusted-proxy", "proxies whose entries in --client-from are believed")
	several(&j.Exclude, "exclude", "leave out requests by what they are")
	several(&j.Statuses, "exclude-status", "leave out requests by status")
	flag.StringVar(&j.By, "by", "client", "what --limit counts by")
	flag.BoolVar(&j.Sweep, "sweep", false, "draw the curves of all limits by the key of --by as well, as shadow replay --sweep does")
	flag.BoolVar(&j.Trace, "trace", false, "keep the requests for shadow-finish --trace")
	config := flag.String("config", "", "shadow.yaml, which is read here")
	flag.StringVar(&j.Format, "format", "auto", "log format")
	flag.StringVar(&j.Fields, "field", "", "what JSON logs call their fields")
	flag.StringVar(&j.Timezone, "timezone", "UTC", "zone of timestamps that do not name theirs")
	flag.StringVar(&j.Client, "client", "addr", "who a client is")
	flag.StringVar(&j.ClientFrom, "client-from", "", "take the address from this header")
	flag.StringVar(&j.NotHTTP, "not-http", "skip", "what becomes of lines whose request is not HTTP: skip or judge")
	flag.StringVar(&j.Lateness, "lateness", "20m", "how far out of order requests may come")
	flag.StringVar(&j.Output, "output", "", "folder of the results, or gs://… or s3://…, which all workers can write")
	flag.IntVar(&j.Shards, "shards", 0, "how many shards, or slices of time; 0: by the size of the logs")
	part := flag.String("part", flagvalue.FormatSize(partBytes), "size of the byte ranges in which logs are read")
	runner := flag.String("runner", "prism", "prism, dataflow, flink, spark or universal")
	verbose := flag.Bool("verbose", false, "show what the runner logs")
	flag.Parse()
	if !*verbose {
		log.SetupLogging("warn", "text")
	}
	if err := becomeWorker(context.Background()); err != nil {
		return err
	}
	objects.Register()
	beam.Init() // which does not return in a worker
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.NArg() > 0 || len(j.Logs) == 0 || j.Output == "" {
		return errors.New("name logs with --input and a folder of results with --output; --help lists all flags")
	}
	if *config != "" {
		text, err := os.ReadFile(*config)
		if err != nil {
			return err
		}
		j.Config = string(text)
	}
	size, err := flagvalue.ParseSize(*part)
	if err != nil {
		return fmt.Errorf("--part: %w", err)
	}
	if err := j.Prepare(ctx, size); err != nil {
		return err
	}
	if *runner == "prism" { // which judges here
		heap.UseLargePages(prismRoom)
		heap.CollectAbove(prismHeap, prismPercent)
	}
	if err := chooseWorker(); err != nil {
		return err
	}
	p, s := beam.NewPipelineWithRoot()
	job.Graph(s, j)
	if _, err = beam.Run(ctx, *runner, p); err == nil {
		fmt.Fprintf(os.Stderr, "shadow-finish --db shadow.db %q puts the results into a database\n", j.Output)
	}
	return err
}
