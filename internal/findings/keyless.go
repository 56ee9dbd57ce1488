package findings

import (
	"fmt"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/report/format"
)

// keyless looks at the requests that lack what limits count by, so that they count by their clients. That no request
// has it is a warning of the reading. Keys of the log that are only tried were not asked for.
type keyless struct {
	*seen
	lacking [traffic.MaxValues]int64 // requests without each of Tables.Parts
}

func (l *keyless) take(b *traffic.Batch, from, to int) {
	for i := range l.Read.Tables.Parts {
		if column := b.Values[i]; column != nil {
			for _, value := range column[from:to] {
				if value == traffic.NoValue {
					l.lacking[i]++
				}
			}
		}
	}
}

func (l *keyless) find(*ingest.Stats) (found []Finding) {
	if l.Read.Trial != nil {
		return nil
	}
	for i, part := range l.Read.Tables.Parts {
		n := l.lacking[i]
		counted := slices.ContainsFunc(l.Keys, func(k request.Key) bool { return slices.Contains(k.Parts(), part) })
		if n == 0 || n == l.total || !counted {
			continue
		}
		found = append(found, Finding{
			Code: "key_missing", Severity: Info, Share: ShareOf(n, l.total), Evidence: fmt.Sprintf(
				"%s of %s have no %s: where limits count by it, they count by their clients", format.Thousands(n),
				format.Count(l.total, "request"), part),
		})
	}
	return found
}
