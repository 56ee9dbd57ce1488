// Finish puts what a pipeline has found into a database of shadow: as one run, in one transaction. Or it writes the
// requests as traces.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"

	"shadow/internal/pipeline"
	"shadow/scale/beam/job"
)

func main() {
	db := flag.String("db", pipeline.DefaultDB, "folder in which the run is kept")
	trace := flag.String("trace", "", "folder to write the requests to, as traces, in place of a run")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "finish: name the folder of the results: finish --db shadow.db results/")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *db, *trace); err != nil {
		fmt.Fprintln(os.Stderr, "finish:", err)
		os.Exit(1)
	}
}

func run(results, db, trace string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if trace != "" {
		return job.Traces(ctx, results, trace)
	}
	number, err := job.Store(ctx, results, db)
	if err == nil {
		fmt.Printf("run %s of %s\n", number, db)
	}
	return err
}
