package parse

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestScanScript runs testdata/scan.txt, which says in its head how it reads.
func TestScanScript(t *testing.T) {
	file, err := os.Open("testdata/scan.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var script scanScript
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		verb, text, _ := strings.Cut(lines.Text(), " ")
		if err := script.run(verb, strings.TrimLeft(text, " ")); err != nil {
			t.Errorf("scan.txt:%d: %v", n, err)
		}
	}
	if err := script.settle("", ""); err != nil {
		t.Error(err)
	}
	if script.checks < 80 {
		t.Errorf("only %d lines checked", script.checks)
	}
}

// A scanScript holds the state of a script.
type scanScript struct {
	wants  Options
	parser Parser
	line   string // a line that still waits to be judged
	told   string // by the verb before, where a test has several lines
	checks int
}

func (s *scanScript) run(verb, text string) error {
	switch verb {
	case "", "#":
		return nil
	case "zone":
		var err error
		s.wants.Zone, err = time.LoadLocation(text)
		return err
	case "extra":
		s.wants.Extra = strings.Fields(text)
	case "format", "lenient":
		return s.compile(verb, text)
	case "error":
		_, err := Compile(s.told, s.wants)
		if s.checks++; err == nil || text == "" || !strings.HasSuffix(err.Error(), text) {
			return fmt.Errorf("compiling %s\n got %v\nwant %s", s.told, err, text)
		}
		s.told = ""
	case "bad":
		s.told = text
	case "line":
		if s.line != "" {
			return fmt.Errorf("%q is not judged", s.line)
		}
		s.line = text
	case "want", "fault":
		return s.settle(verb, text)
	default:
		return fmt.Errorf("no such verb as %q", verb)
	}
	return nil
}

func (s *scanScript) compile(verb, text string) error {
	f, err := CompileAs(text, s.wants, "", verb == "lenient")
	if err != nil {
		return err
	}
	s.parser = f.NewParser()
	s.wants = Options{}
	return nil
}

// settle parses the line that waits, three times: into a zero record, into one full of rubbish, and with rubbish
// behind the line.
func (s *scanScript) settle(verb, text string) error {
	if s.line == "" {
		return nil
	}
	line := s.line
	s.line = ""
	s.checks++
	for _, r := range []*Record{{}, rubbish()} {
		buffer := []byte(line + "\" - [200")
		fault := s.parser.Parse(buffer[:len(line):len(line)], r)
		got := "want " + show(r)
		if !fault.OK() {
			got = fmt.Sprintf("fault %d %s", fault.Column, fault.Reason)
		}
		if got != verb+" "+text {
			return fmt.Errorf("line %s\n got %s\nwant %s", line, got, verb+" "+text)
		}
	}
	return nil
}

// rubbish is a record in which nothing is as Parse must leave it.
func rubbish() *Record {
	x := []byte("rubbish")
	return &Record{
		NotHTTP: true, Stamp: 1, Start: 2, Client: x, User: x, Method: x, Path: x, Host: x, Referer: x, Agent: x, Forwarded: x,
		Status: 3, Bytes: 4, RequestTime: 5, UpstreamTime: 6, Extra: [MaxExtra][]byte{x, x, x, x},
	}
}

// show writes a record down: what the line does not tell is left out, and so is a start equal to the stamp.
func show(r *Record) string {
	var b strings.Builder
	moment := func(t int64) string { return time.UnixMicro(t).UTC().Format("2006-01-02T15:04:05.999999") }
	b.WriteString(moment(int64(r.Stamp)))
	if r.Start != r.Stamp {
		b.WriteString(" start=" + moment(int64(r.Start)))
	}
	for i, v := range texts(r) {
		if v != nil {
			fmt.Fprintf(&b, " %s=%s", textNames[i], visible(v))
		}
	}
	for _, n := range []struct {
		name        string
		value, none int64
	}{
		{"status", int64(r.Status), 0},
		{"bytes", r.Bytes, 0},
		{"took", int64(r.RequestTime), NotLogged},
		{"upstream", int64(r.UpstreamTime), NotLogged},
	} {
		if n.value != n.none {
			fmt.Fprintf(&b, " %s=%d", n.name, n.value)
		}
	}
	if r.NotHTTP {
		b.WriteString(" not HTTP")
	}
	return b.String()
}

// visible writes control characters as \x16.
func visible(v []byte) string {
	var b strings.Builder
	for _, c := range v {
		if c < ' ' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var textNames = []string{"client", "user", "method", "path", "host", "referer", "agent", "forwarded", "x0", "x1", "x2", "x3"}

func texts(r *Record) [][]byte {
	return append([][]byte{r.Client, r.User, r.Method, r.Path, r.Host, r.Referer, r.Agent, r.Forwarded}, r.Extra[:]...)
}

// sameRecord compares two records, nil and empty texts apart.
func sameRecord(a, b *Record) bool {
	ta, tb := texts(a), texts(b)
	for i := range ta {
		if !bytes.Equal(ta[i], tb[i]) || (ta[i] == nil) != (tb[i] == nil) {
			return false
		}
	}
	return show(a) == show(b)
}

// TestParseDoesNotAllocate holds for readable and unreadable lines, with escapes and without.
func TestParseDoesNotAllocate(t *testing.T) {
	for _, format := range []string{
		nginxCombined,
		nginxCombined + ` $request_time $upstream_response_time $msec $time_iso8601 "$http_x_forwarded_for" $host $session`,
		`%h %l %u [%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t] "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %{session}C`,
	} {
		f, err := Compile(format, Options{Extra: []string{"session", "http_user_agent"}, Zone: time.FixedZone("", 3600)})
		if err != nil {
			t.Fatal(err)
		}
		p := f.NewParser()
		for _, text := range []string{
			benchLine,
			benchLine + ` 0.120 0.100, 0.020 : - 1773320851.250 2026-03-12T14:07:31+01:00 "192.0.2.1, 192.0.2.2" example.com:80 abc`,
			`192.0.2.1 - - [2026-03-12 14:07:31.250000] "GET /a\"b HTTP/1.1" 200 1 "-" "a" s`,
			`rubbish`,
		} {
			buffer, line := make([]byte, len(text)), []byte(text)
			var r Record
			if n := testing.AllocsPerRun(100, func() {
				copy(buffer, line)
				p.Parse(buffer, &r)
			}); n != 0 {
				t.Errorf("%s: %v allocations for %s", format, n, text)
			}
		}
	}
}
