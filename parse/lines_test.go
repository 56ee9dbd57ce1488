package parse

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/testneeds"
	"shadow/parse/lex"
)

// A readLine is what is read of one line.
type readLine struct {
	fault  Fault
	text   string // of a line with a Fault
	record Record
}

// linesOf reads a block by Lines, all into one record. plain is how many lines were read by their index.
func linesOf(l *Lines, block []byte) (all []readLine, plain int) {
	r := rubbish()
	for l.Begin(block); l.More(); {
		line, fault := l.Next(r)
		if line == nil {
			plain++
		}
		all = append(all, readLine{fault, string(line), *r})
	}
	return all, plain
}

// slowLinesOf is the truth about linesOf: each line is cut off and parsed.
func slowLinesOf(p Parser, block []byte) (all []readLine) {
	for len(block) > 0 {
		var line []byte
		line, block = logfile.CutLine(block)
		read := readLine{fault: TooLong, text: string(line), record: *rubbish()}
		if len(line) == 0 {
			read.fault = Empty
		} else if len(line) <= logfile.MaxLine {
			read.fault = p.Parse(line, &read.record)
		}
		all = append(all, read)
	}
	return all
}

// checkLines reads a block in both ways, and returns how many lines there are and how many of them are plain.
func checkLines(t *testing.T, f *Format, block []byte) (lines, plain int) {
	t.Helper()
	text := bytes.Clone(block)
	text = text[:len(text):len(text)] // nothing behind it may be read
	got, plain := linesOf(f.NewLines(), text)
	want := slowLinesOf(f.NewParser(), bytes.Clone(block))
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d, of %.200q", len(got), len(want), block)
	}
	for i := range want {
		g, w := &got[i], &want[i]
		switch {
		case g.fault != w.fault, !w.fault.OK() && g.text != w.text:
			t.Fatalf("line %d: %+v %q, want %+v %q", i+1, g.fault, g.text, w.fault, w.text)
		case w.fault.OK() && !sameRecord(&g.record, &w.record):
			t.Fatalf("line %d\n got %s\nwant %s", i+1, show(&g.record), show(&w.record))
		}
	}
	return len(want), plain
}

// lineFormats are formats of which the first has plain lines.
func lineFormats(t testing.TB) (formats []*Format) {
	for i, text := range []string{
		nginxCombined, nginxCombined + ` "$http_x_forwarded_for"`, `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent`,
		`$remote_addr $msec $request_time`,
	} {
		f, err := CompileAs(text, Options{Zone: time.FixedZone("", 3600)}, "", i%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		formats = append(formats, f)
	}
	for i, f := range formats {
		if f.NewLines().plain != (lex.HasIndex && i == 0) {
			t.Fatalf("format %d is taken to have plain lines, or not", i)
		}
	}
	return formats
}

// oddLines are lines that are nearly plain.
var oddLines = []string{
	"", "\r", `"`, `\`, `""""""`, benchLine + "\r", benchLine + " ", benchLine + `"`, " " + benchLine, benchLine + ` "x"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "" ""`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 - "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200  "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 20 1 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 2000 1 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 12345678 "-" "a"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 123456789 "-" "a"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1234567890123456789 "-" "a"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 12a "-" "a"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "-" 408 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "" 408 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "G /" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET HTTP/1.1" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET  HTTP/1.1" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET x HTTP/1.1" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a b HTTP/1.x" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/2" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "POST /a HTTP/1.1" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "CONNECT a:443 HTTP/1.1" 200 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "\x16\x03" 400 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a\" HTTP/1.1" 400 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a" HTTP/1.1" 400 0 "-" "-"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 400 0 "a" b" "c" d"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36 +0000] "GET /a HTTP/1.1" 400 0 "a"  "c"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36.1234567] "GET /a HTTP/1.1" 400 0 "-" "c"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36.12345] "GET /a HTTP/1.1" 400 0 "-" "c"`,
	`192.0.2.1 - - [10/Oct/2000:13:55:36] "GET /a HTTP/1.1" 400 0 "-" "c"`,
	`192.0.2.1 - - [31/Feb/2000:13:55:36 +0000] "GET /a HTTP/1.1" 400 0 "-" "c"`,
	`192.0.2.1 - root [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`192.0.2.1 x - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`a b - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`192.0.2.1, 192.0.2.2 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`192.0.2.1,192.0.2.2 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`192.0.2.1, - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`192.0.2.1:443 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`[2001:db8::1]:443 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`2001:db8::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`host.example.com - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`a - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`- - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
	` - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "-"`,
}

// TestLines reads odd lines, lines that are changed a little, and blocks that are cut anywhere, by Lines and one by one.
func TestLines(t *testing.T) {
	formats, rng := lineFormats(t), testneeds.Rand(t, 3, 4)
	const odd = `"" \\ --[]:,/09azAZ%` + "\r\n\x00\xff"
	lines, plain := 0, 0
	for round := range 400 {
		var block []byte
		for range rng.IntN(200) {
			line := []byte(benchLine)
			switch rng.IntN(10) {
			case 0:
				line = []byte(oddLines[rng.IntN(len(oddLines))])
			case 1, 2, 3:
				for range 1 + rng.IntN(2) {
					line[rng.IntN(len(line))] = odd[rng.IntN(len(odd))]
				}
			case 4:
				at := rng.IntN(len(line))
				line = slices.Insert(line, at, bytes.Repeat(line[at:at+1], 1+rng.IntN(9))...)
			case 5:
				if at := bytes.Index(line, []byte(` - - `)); at > 0 { // other times
					line[at+len(` - - [..`)-1] = '0' + byte(rng.IntN(10))
				}
			}
			block = append(append(block, line...), '\n')
		}
		if len(block) > 0 {
			block = block[:len(block)-rng.IntN(2)*rng.IntN(len(block))]
		}
		for i, f := range formats {
			n, quick := checkLines(t, f, block)
			if i == 0 {
				lines, plain = lines+n, plain+quick
			} else if quick > 0 {
				t.Fatalf("round %d: plain lines of format %d", round, i)
			}
		}
	}
	if lex.HasIndex && (plain < lines/2 || plain > lines*9/10) {
		t.Errorf("%d of %d lines are plain", plain, lines)
	}
}

// Each odd line is read as the parser reads it, wherever in a block it stands.
func TestOddLines(t *testing.T) {
	for _, f := range lineFormats(t) {
		for _, line := range oddLines {
			for shift := range 70 {
				checkLines(t, f, []byte(benchLine[:shift]+"\n"+benchLine+"\n"+line+"\n"+benchLine+"\n"+line))
			}
		}
	}
}

// Lines that are longer than the part of a block that is indexed at a time, or too long, and what stands behind them.
func TestLongLines(t *testing.T) {
	f := lineFormats(t)[0]
	for _, n := range []int{indexed - 300, indexed, indexed + 1, 3 * indexed, logfile.MaxLine, logfile.MaxLine + 2} {
		for _, fill := range []string{"x", `"`, `\`} {
			long := bytes.Replace([]byte(benchLine), []byte("/"), append([]byte("/"), bytes.Repeat([]byte(fill), n)...), 1)
			block := slices.Concat([]byte(benchLine+"\n"), long, []byte("\n"+benchLine+"\n"), bytes.Repeat([]byte(fill), n), []byte("\n"+benchLine+"\n"))
			if _, plain := checkLines(t, f, block); plain < 3 && lex.HasIndex {
				t.Errorf("only %d lines are plain", plain)
			}
		}
	}
}

// A block that is indexed in parts is read as a whole, however lines lie in the parts.
func TestPartsOfBlocks(t *testing.T) {
	f := lineFormats(t)[0]
	block := bytes.Repeat([]byte(benchLine+"\n"), 4*indexed/len(benchLine))
	for shift := range len(benchLine) + 2 {
		text := append(bytes.Repeat([]byte("x"), shift), block...)
		if lines, plain := checkLines(t, f, text); plain < lines-2 && lex.HasIndex {
			t.Fatalf("%d of %d lines are plain", plain, lines)
		}
	}
}

func TestPlainSize(t *testing.T) {
	rng := testneeds.Rand(t, 5, 6)
	for range 300_000 {
		text := []byte("        ")
		digits := 1 + rng.IntN(mostDigits)
		for i := range text {
			text[i] = '0' + byte(rng.IntN(10))
		}
		if rng.IntN(2) == 0 {
			text[rng.IntN(len(text))] = byte(rng.Uint32())
		}
		want, n := sizeOrDash(text[:digits])
		if n != digits {
			want = -1
		}
		if got := plainSize(word64(text), digits); got != want {
			t.Fatalf("%q: %d, want %d", text[:digits], got, want)
		}
	}
}

// Real logs are read alike by Lines and line by line, whatever their format.
func TestRealLines(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(testneeds.Shared(t, "logs"), "*", "*.gz"))
	if err != nil || len(names) < 20 {
		t.Fatalf("%d real logs (%v)", len(names), err)
	}
	f, lines, plain := lineFormats(t)[0], 0, 0
	for _, name := range names {
		content := testneeds.Content(t, name)
		for len(content) > 0 {
			n := min(len(content), 500_000)
			if end := bytes.IndexByte(content[n:], '\n'); end >= 0 {
				n += end + 1
			}
			more, quick := checkLines(t, f, content[:n])
			lines, plain, content = lines+more, plain+quick, content[n:]
		}
	}
	if lex.HasIndex && plain < lines/4 {
		t.Errorf("%d of %d lines are plain", plain, lines)
	}
	t.Logf("%d lines, of which %d are plain", lines, plain)
}

// FuzzLines reads arbitrary blocks by Lines and line by line.
func FuzzLines(f *testing.F) {
	formats := lineFormats(f)
	for _, line := range oddLines {
		f.Add([]byte(benchLine+"\n"+line+"\n"+benchLine), uint8(0))
	}
	f.Fuzz(func(t *testing.T, block []byte, shift uint8) {
		for _, format := range formats {
			checkLines(t, format, block)
			checkLines(t, format, append(bytes.Repeat([]byte("x"), int(shift)), block...))
		}
	})
}

func TestLinesDoNotAllocate(t *testing.T) {
	l := lineFormats(t)[0].NewLines()
	block, r := []byte(benchLine+"\nrubbish\n"+benchLine), new(Record)
	if n := testing.AllocsPerRun(100, func() {
		for l.Begin(block); l.More(); {
			l.Next(r)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever a line is, no format of a wrapping, of W3C or of logfmt panics, or reads beyond it.
func FuzzWrapped(f *testing.F) {
	inner := func(compile func() (*Format, error)) *Format {
		format, err := compile()
		if err != nil {
			f.Fatal(err)
		}
		return format
	}
	w3c := inner(func() (*Format, error) {
		return CompileW3C("#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes time-taken cs(User-Agent)", Options{Extra: []string{"cs-method"}})
	})
	logfmt := inner(func() (*Format, error) {
		return pairSyntaxes[len(pairSyntaxes)-1].Compile(FieldMapping(nil).WithKnown(), Options{Timeless: true})
	})
	formats := []*Format{w3c, logfmt}
	for i := range wrappings {
		formats = append(formats, w3c.In(&wrappings[i]), logfmt.In(&wrappings[i]))
	}
	docker := JSONWrapping([][]byte{[]byte(`{"log":"x","time":"2026-01-01T00:00:00Z"}`)})
	formats = append(formats, w3c.In(docker), logfmt.In(docker).In(docker))
	for _, k := range KnownJSON {
		m, err := ParseFieldMapping(k.Mapping)
		if err != nil {
			f.Fatal(err)
		}
		formats = append(formats, inner(func() (*Format, error) { return CompileJSON(m, Options{}) }))
		f.Add([]byte(k.Example))
	}
	for _, line := range []string{
		"2026-01-01 00:00:00 192.0.2.7 GET /a b=c 200 312 4 curl/8+x", "2026-01-01\t00:00:00\t192.0.2.7\tGET\t/a\tb\t200\t312\t0.004\tcurl%2F8",
		"#Fields: date time", `time=2026-01-01T00:00:00Z method=GET path="/a \"b" status=200`, `{"log":"","time":"2026-01-01T00:00:00Z"}`, "web-1  | ",
		"[pod/a/b] x", "2026-01-01T00:00:00Z {a=\"}\"} x", "2026-01-01T00:00:00Z stdout F ", "<1>1 2026-01-01T00:00:00Z a b c d - x", "2026/01/01 00:00:00.2\tINFO\tx\t{}",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		for _, format := range formats {
			var r Record
			work := bytes.Clone(line)
			fault := format.NewParser().Parse(work, &r)
			if !fault.OK() && (fault.Column < 1 || fault.Column > 2*len(line)+2) {
				t.Errorf("%s: %+v", format.Name, fault)
			}
			if fault.OK() && r.Stamp == noStamp && format != logfmt {
				t.Errorf("%s: no time in %q", format.Name, line)
			}
		}
	})
}
