package shard

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"shadow/logfile"
)

// A Part is some bytes of logs, as if these stood one behind the other. The zero Part is all of them.
type Part struct {
	Number, Of int // the third of eight parts of the same size: 3, 8

	From, To int64 // or these bytes; a To of 0 is the end
}

// ParsePart reads 3/8.
func ParsePart(text string) (Part, error) {
	number, of, _ := strings.Cut(text, "/")
	k, err := strconv.Atoi(number)
	n, err2 := strconv.Atoi(of)
	if err != nil || err2 != nil || k < 1 || k > n || n > mostParts {
		return Part{}, fmt.Errorf("part %q: want one of how many, such as 3/8 for the third of eight", text)
	}
	return Part{Number: k, Of: n}, nil
}

// ParseRange reads bytes from to before others: 0-1GiB; 1GiB- is all from there on. size reads a number of bytes.
func ParseRange(text string, size func(string) (int64, error)) (Part, error) {
	from, to, ok := strings.Cut(text, "-")
	p := Part{}
	var err error
	if from != "" && from != "0" { // which is no size
		p.From, err = size(from)
	}
	if err == nil && to != "" {
		p.To, err = size(to)
	}
	if err == nil && (!ok || p.To != 0 && p.To <= p.From || to != "" && p.To == 0) {
		err = errors.New("it ends before it begins")
	}
	if err != nil {
		return Part{}, fmt.Errorf("range %q: %w: want two sizes, such as 0-1GiB, or 1GiB- for all from there on", text, err)
	}
	return p, nil
}

const mostParts = 1 << 20

// String is how the part is called in the names of files.
func (p Part) String() string {
	switch {
	case p.Of > 0:
		return fmt.Sprintf("%d-of-%d", p.Number, p.Of)
	case p.To > 0:
		return fmt.Sprintf("%d-to-%d", p.From, p.To)
	case p.From > 0:
		return fmt.Sprintf("%d-to-end", p.From)
	}
	return "all"
}

// spans are the bytes of each log that are in the part. What cannot be cut, as it is compressed or says itself how its lines are
// to be read, is in the part that holds its first byte.
func (p Part) spans(inputs []Input) []logfile.Span {
	var total int64
	for _, in := range inputs {
		total += in.Size
	}
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

// share is where the k-th of n shares of a total ends.
func share(total int64, k, n int) int64 {
	return total/int64(n)*int64(k) + total%int64(n)*int64(k)/int64(n)
}
