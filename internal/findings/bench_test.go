package findings

import (
	"context"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/parse/detect"
)

// How long it takes to look at a request.
func BenchmarkTake(b *testing.B) {
	for _, name := range []string{"almhuette-2015-2016", "sparkdeveloper-2016", "elastic-nginx"} {
		b.Run(name, func(b *testing.B) {
			o := ingest.Options{Tables: traffic.NewTables(), Lateness: ingest.DefaultLateness, Origins: true, Format: detect.Choice{Format: "auto"}}
			o.Actions, _ = match.NewActions(nil, o.Tables.Actions)
			o.ClueFinder, _ = evidence.NewClueFinder(evidence.ClueRules{Purposes: true})
			reader, err := ingest.NewReader(context.Background(), []string{testneeds.Shared(b, "logs/"+name+"/access.log.gz")}, nil, o)
			if err != nil {
				b.Fatal(err)
			}
			defer reader.Close()
			batch, err := reader.Next()
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				New(Options{Read: &o}).Take(batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Len()), "ns/row")
		})
	}
}
