package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
)

// TestPlacesFindTheLines reads logs that are out of order, beyond the lateness too, in small batches, and wants for each
// request of a client the very line that it came from: its size tells which it was.
func TestPlacesFindTheLines(t *testing.T) {
	for seed := range uint64(20) {
		rng := testneeds.Rand(t, seed, 0)
		dir := t.TempDir()
		var names []string
		size := 0
		for _, name := range []string{"a.log", "b.log", "c.log"} {
			var text strings.Builder
			for i := range 1000 {
				size++
				late := rng.IntN(3)
				if rng.IntN(50) == 0 {
					late = rng.IntN(100) // some beyond the lateness
				}
				at := time.UnixMicro(int64(noon)).UTC().Add(time.Duration(i/20-late) * time.Second)
				fmt.Fprintf(&text, "192.0.2.%d - - [%s] \"GET /\\x22 HTTP/1.1\" %d %d \"-\" \"curl/8.5.0\"\r\n",
					rng.IntN(3), at.Format("02/Jan/2006:15:04:05 -0700"), 200+rng.IntN(2), size)
				if rng.IntN(100) == 0 {
					text.WriteString("no request\n\n")
				}
			}
			names = append(names, write(t, dir, name, text.String()))
		}
		o := readingOptions(t)
		o.Lateness, o.Batch = 10*limit.Second, 100
		if seed%2 == 1 {
			o.HasSince, o.Since, o.Warmup = true, noon+20*limit.Second, 10*limit.Second
		}
		b, inputs := requestsOf(t, o, names, "192.0.2.1")
		rows := make([]int32, b.Len())
		for i := range rows {
			rows[i] = int32(i)
		}
		finder := NewLineFinder(&b, rows)
		id, _ := o.Tables.Clients.Find([]byte("192.0.2.1"))
		found := 0
		check(t, Lines(context.Background(), inputs, o, id, func(l Line) bool {
			row, wanted := finder.Next(l)
			if !wanted {
				return true
			}
			found++
			if want := fmt.Sprintf(`/\x22 HTTP/1.1" %d %d "`, b.Status[row], b.Bytes[row]); !strings.Contains(string(l.Text), want) {
				t.Fatalf("seed %d: request %d is found in line %d of %s: %s", seed, row, l.Number, inputs[l.Input], l.Text)
			}
			return finder.Missing() > 0
		}))
		if finder.Missing() > 0 || found != b.Len() {
			t.Fatalf("seed %d: %d of %d requests were not found", seed, finder.Missing(), b.Len())
		}
	}
}

// requestsOf returns the requests of a client, and the inputs in the order of their ranks.
func requestsOf(t *testing.T, o Options, names []string, client string) (all traffic.Batch, inputs []string) {
	r, err := NewReader(context.Background(), names, nil, o)
	check(t, err)
	defer r.Close()
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		if id, known := o.Tables.Clients.Find([]byte(client)); known {
			all.Append(b, b.RowsOf(id))
		}
	}
	stats := r.Stats()
	for _, in := range stats.Inputs {
		inputs = append(inputs, in.Name)
	}
	return all, inputs
}

// A line number counts every line, and the text is that of the file.
func TestLinesCountAsEditorsDo(t *testing.T) {
	name := write(t, t.TempDir(), "a.log", combined(0, "192.0.2.1", "/a")+"\nrubbish\n"+combined(1, "192.0.2.2", "/b")+combined(2, "192.0.2.1", "/c"))
	o := readingOptions(t)
	requestsOf(t, o, []string{name}, "")
	id, _ := o.Tables.Clients.Find([]byte("192.0.2.1"))
	var got []string
	check(t, Lines(context.Background(), []string{name}, o, id, func(l Line) bool {
		got = append(got, fmt.Sprintf("%d %s", l.Number, l.Text[:9]))
		return true
	}))
	if want := "[1 192.0.2.1 5 192.0.2.1]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	got = nil
	check(t, Lines(context.Background(), []string{name}, o, AnyClient, func(l Line) bool {
		got = append(got, fmt.Sprintf("%d %s %s", l.Number, l.Record.Method, l.Record.Path))
		return true
	}))
	if want := "[1 GET /a 4 GET /b 5 GET /c]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// Reading lines ends when its context does.
func TestLinesAreCancelled(t *testing.T) {
	o := readingOptions(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	name := write(t, t.TempDir(), "a.log", strings.Repeat(`192.0.2.1 - - [09/Nov/2025:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`+"\n", 3))
	id := o.Tables.Clients.ID([]byte("192.0.2.1"))
	if err := Lines(ctx, []string{name}, o, id, func(Line) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestOnce(t *testing.T) {
	name := write(t, t.TempDir(), "a.log", "")
	for want, names := range map[string][]string{"": {name, name + ".missing"}, "-": {name, "-"}, "/dev/null": {"/dev/null", name}} {
		if got := Once(names); got != want {
			t.Errorf("Once(%q) = %q, want %q", names, got, want)
		}
	}
}
