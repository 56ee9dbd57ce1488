// Finish puts what a pipeline has found into a database of shadow: as one run, in one transaction.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"

	"shadow/contrib/beam/job"
	"shadow/pipeline"
)

func main() {
	db := flag.String("db", pipeline.DefaultDB, "DuckDB file in which the run is kept")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "finish: name the folder of the results: finish --db shadow.duckdb results/")
		os.Exit(2)
	}
	run, err := job.Store(ctx, flag.Arg(0), *db, time.Now())
	if err != nil {
		fmt.Fprintln(os.Stderr, "finish:", err)
		os.Exit(1)
	}
	fmt.Printf("run %d of %s\n", run, *db)
}
