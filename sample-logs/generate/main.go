// Command generate writes an access log of any length: go run ./sample-logs/generate -lines 1000000 -seed 1 -out FILE.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	samplelogs "shadow/sample-logs"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	var c samplelogs.Config
	flag.Int64Var(&c.Lines, "lines", 1_000_000, "how many lines")
	flag.Uint64Var(&c.Seed, "seed", 1, "equal seeds give equal bytes")
	flag.Int64Var(&c.Clients, "clients", 50_000, "distinct clients; all appear if there are lines enough")
	flag.Int64Var(&c.PerDay, "per-day", 1_000_000, "lines per day of log time")
	flag.Int64Var(&c.Heavy, "heavy", samplelogs.DefaultHeavy, "of 1,000 lines, how many scrapers and password guessers send (-1 for none)")
	flag.Int64Var(&c.Late, "late", 50, "of 10,000 lines, how many are logged 1 to 3 s late (-1 for none)")
	flag.Var(&c.Format, "format", "combined, common, vhost, timed or json")
	out := flag.String("out", "-", "the file to write; - is standard output")
	flag.Parse()
	return write(samplelogs.New(c), *out)
}

func write(log io.WriterTo, name string) error {
	if name == "-" {
		_, err := log.WriteTo(os.Stdout)
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = log.WriteTo(file)
	return errors.Join(err, file.Close())
}
