package shard

import (
	"cmp"

	"shadow/internal/logfile"
)

// A Part is some bytes of logs, as if these stood one behind the other. The zero Part is all of them.
type Part struct {
	Number, Of int   // the third of eight parts of the same size: 3, 8
	From, To   int64 // or these bytes; a To of 0 is the end
}

// spans returns the bytes of each log that are in the part. What cannot be cut, as it is compressed or says itself how
// its lines are to be read, is in the part that holds its first byte.
func (p Part) spans(inputs []Input, total int64) []logfile.Span {
	from, to := p.From, cmp.Or(p.To, total)
	if p.Of > 0 {
		from, to = share(total, p.Number-1, p.Of), share(total, p.Number, p.Of)
	}
	spans, start := make([]logfile.Span, len(inputs)), int64(0)
	for i, in := range inputs {
		end := start + in.Size
		switch {
		case !in.Whole:
			spans[i] = logfile.Span{From: min(max(from, start), end) - start, To: min(max(to, start), end) - start}
		case from <= start && start < to:
			spans[i] = logfile.Span{To: in.Size}
		}
		if spans[i].Empty() {
			spans[i] = logfile.Span{}
		}
		start = end
	}
	return spans
}

// share returns the end of the k-th of n shares of a total.
func share(total int64, k, n int) int64 {
	return total/int64(n)*int64(k) + total%int64(n)*int64(k)/int64(n)
}
