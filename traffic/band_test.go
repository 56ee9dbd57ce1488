package traffic

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/limit"
	"shadow/parse"
)

// A stamped line ends at a whole second after noon; in the spread placement it ends some microseconds later.
type stampedLine struct {
	second, took int // took in milliseconds
	client       int
	micros       int
	file         int
}

// text is line i of the log, padded, so that a block of bytes holds as few lines as one likes.
func (l *stampedLine) text(i int, fine bool, pad string) string {
	at := time.UnixMicro(int64(noon)).UTC().Add(time.Duration(l.second) * time.Second)
	stamp := at.Format("02/Jan/2006:15:04:05 -0700")
	if fine {
		stamp = fmt.Sprintf("%d.%06d", at.Unix(), l.micros)
	}
	return fmt.Sprintf("192.0.2.%d [%s] \"GET /%d?%s HTTP/1.1\" 200 %d %d.%03d\n", l.client, stamp, i, pad, i, l.took/1000, l.took%1000)
}

// stampedLog has few clients and coarse request times, so that requests of several share a moment in either placement.
func stampedLog(rng *rand.Rand, n int) []stampedLine {
	lines := make([]stampedLine, n)
	pace := 1 + rng.IntN(12)
	for i := range lines {
		l := &lines[i]
		*l = stampedLine{second: i / pace, took: 250 * rng.IntN(16), client: rng.IntN(5), file: rng.IntN(2)}
		if rng.IntN(5) == 0 {
			l.second -= rng.IntN(4)
		}
	}
	lines[0].second, lines[0].file = -20, 0 // the first file begins first
	for file := range 2 {
		lines[1+file].file = file
	}
	groups := map[[2]int][]int{}
	for file := range 2 {
		for i, l := range lines {
			if l.file == file {
				groups[[2]int{l.client, l.second}] = append(groups[[2]int{l.client, l.second}], i)
			}
		}
	}
	for _, group := range groups {
		for i, line := range group {
			lines[line].micros = i * 1_000_000 / len(group)
		}
	}
	return lines
}

// files writes the lines as two logs.
func files(t *testing.T, lines []stampedLine, fine bool, pad int) []string {
	var texts [2]strings.Builder
	for i := range lines {
		texts[lines[i].file].WriteString(lines[i].text(i, fine, strings.Repeat("x", pad)))
	}
	dir := t.TempDir()
	return []string{write(t, dir, "a.log", texts[0].String()), write(t, dir, "b.log", texts[1].String())}
}

const (
	stampedWhole = `$remote_addr [$time_local] "$request" $status $body_bytes_sent $request_time`
	stampedFine  = `$remote_addr [$msec] "$request" $status $body_bytes_sent $request_time`
)

func stampedOptions(t *testing.T, format string, batch int, lateness limit.Time) Options {
	o := readingOptions(t)
	o.Format, o.Batch, o.Lateness, o.Band = parse.Choice{Format: format}, batch, lateness, true
	return o
}

// readSpread reads inputs to their end where a Spread places them, and holds it to what a Source must do.
func readSpread(t *testing.T, o Options, names ...string) (rows, warm []string, spread Spread) {
	t.Helper()
	r, err := NewReader(context.Background(), names, nil, o)
	check(t, err)
	defer r.Close()
	last, wasWarm := dawn, true
	note := func(b *Batch) error {
		order := make([]int32, b.Len())
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortFunc(order, b.compare)
		if first := b.Places()[order[0]]; first <= last && b.Warm == wasWarm {
			t.Errorf("a batch begins at %d, the one before it ended at %d", first, last)
		}
		last, wasWarm = b.Places()[order[len(order)-1]], b.Warm
		for _, row := range order {
			text := fmt.Sprintf("%d %s %d", b.At[row]-noon, o.Tables.Clients.Name(b.Client[row]), b.Bytes[row])
			if b.Warm {
				warm = append(warm, text)
			} else {
				rows = append(rows, text)
			}
		}
		return nil
	}
	for {
		b, err := r.Next()
		if err == io.EOF {
			check(t, spread.Flush(note))
			return rows, warm, spread
		}
		check(t, err)
		if b.Stamps == nil {
			check(t, note(b))
		} else {
			check(t, spread.Take(b, note))
		}
	}
}

// TestSpread holds the requests of the spread placement, and their order, against those of logs that are rewritten so.
func TestSpread(t *testing.T) {
	for range 40 {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 0))
		lines := stampedLog(rng, 50+rng.IntN(1000))
		batch, pad := []int{1, 7, 100, 10_000}[rng.IntN(4)], []int{0, 5_000, 20_000}[rng.IntN(3)]
		got, _, spread := readSpread(t, stampedOptions(t, stampedWhole, batch, 10*limit.Second), files(t, lines, false, pad)...)
		want, _, none := readSpread(t, stampedOptions(t, stampedFine, batch, 10*limit.Second), files(t, lines, true, 0)...)
		if none.Moved > 0 {
			t.Errorf("seed %d: %d requests move though their stamps have fractions", seed, none.Moved)
		}
		equalText(t, fmt.Sprintf("seed %d, batches of %d", seed, batch), got, want)
		moved := int64(0)
		for _, l := range lines {
			if l.micros > 0 {
				moved++
			}
		}
		if spread.Movable != int64(len(lines)) || spread.Moved != moved {
			t.Errorf("seed %d: %d requests in whole seconds, %d move; want %d and %d", seed, spread.Movable, spread.Moved, len(lines), moved)
		}
	}
}

// TestSpreadAnyhowCut has requests come too late, and take too long, and be counted from the middle on: how the logs are cut
// into batches does not show, and the counted requests are those that count as logged.
func TestSpreadAnyhowCut(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 0))
		lines := stampedLog(rng, 50+rng.IntN(1000))
		names := files(t, lines, false, 0)
		lateness := []limit.Time{0, 500 * limit.Millisecond, limit.Second, 3 * limit.Second}[rng.IntN(4)]
		options := func(batch int) Options {
			o := stampedOptions(t, stampedWhole, batch, lateness)
			if seed%2 == 0 {
				o.HasSince, o.Warmup = true, limit.Never
				o.Since = noon + limit.Time(lines[len(lines)/2].second)*limit.Second - 300*limit.Millisecond
			}
			return o
		}
		whole, warm, spread := readSpread(t, options(100_000), names...)
		for batch, pad := range map[int]int{1: 20_000, 5: 10_000, 64: 3_000} {
			rows, warmed, cut := readSpread(t, options(batch), files(t, lines, false, pad)...)
			equalText(t, fmt.Sprintf("seed %d, batches of %d", seed, batch), rows, whole)
			equalText(t, fmt.Sprintf("seed %d, warm, batches of %d", seed, batch), warmed, warm)
			if cut.Movable != spread.Movable || cut.Moved != spread.Moved {
				t.Errorf("seed %d: %d of %d move, and %d of %d in batches of %d", seed, spread.Moved, spread.Movable, cut.Moved, cut.Movable, batch)
			}
		}
		logged := read(t, options(100_000), names...)
		if len(logged.rows) != len(whole) || len(logged.warm) != len(warm) {
			t.Errorf("seed %d: %d rows and %d warm, want %d and %d", seed, len(whole), len(warm), len(logged.rows), len(logged.warm))
		}
	}
}

// TestSpreadWithTooManyWaiting lets requests go before their seconds are complete: they are all there, once each.
func TestSpreadWithTooManyWaiting(t *testing.T) {
	lines := stampedLog(rand.New(rand.NewPCG(1, 1)), 5000)
	names := files(t, lines, false, 2_000)
	o := stampedOptions(t, stampedWhole, 100, limit.Hour)
	o.Waiting = 400
	rows, _, _ := readSpread(t, o, names...)
	seen := map[string]int{}
	for _, row := range rows {
		seen[row[strings.LastIndexByte(row, ' '):]]++
	}
	if len(rows) != len(lines) || len(seen) != len(lines) {
		t.Errorf("%d rows, %d different ones, want %d", len(rows), len(seen), len(lines))
	}
}

// A log that has fractions has them everywhere: a stamp of .000 is none in whole seconds.
func TestNoSpreadOfFractions(t *testing.T) {
	const text = `192.0.2.1 [1767268800.500] "GET / HTTP/1.1" 200 1 0.000
192.0.2.1 [1767268801.000] "GET / HTTP/1.1" 200 2 0.000
192.0.2.1 [1767268801.000] "GET / HTTP/1.1" 200 3 0.000
`
	name := write(t, t.TempDir(), "fine.log", text)
	rows, _, spread := readSpread(t, stampedOptions(t, stampedFine, 10, limit.Minute), name)
	equalText(t, "fine", rows, []string{"500000 192.0.2.1 1", "1000000 192.0.2.1 2", "1000000 192.0.2.1 3"})
	whole := write(t, t.TempDir(), "whole.log", strings.ReplaceAll(text, "00.500", "01.000"))
	rows, _, both := readSpread(t, stampedOptions(t, stampedFine, 10, limit.Minute), name, whole)
	if len(rows) != 6 || spread.Movable != 0 || both.Movable != 3 || both.Moved != 2 {
		t.Errorf("%d rows; %d, then %d of %d move", len(rows), spread.Movable, both.Moved, both.Movable)
	}
}
