package parse

import (
	"bytes"
	"strings"
	"testing"
)

// A line of 222 bytes, as long as the lines of real combined logs are on average.
const benchLine = `203.0.113.195 - - [12/Mar/2026:14:07:31 +0100] "GET /product/4711/reviews?page=2&sort=newest HTTP/1.1" 200 15342 "https://www.shop.example.com/product/47" "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Firefox/128.0"`

func BenchmarkParseCombined(b *testing.B) {
	benchmarkLines(b, combinedParser(b, Options{}), []string{benchLine})
}

// BenchmarkParseCombinedBlock reads a block of such lines by Lines.
func BenchmarkParseCombinedBlock(b *testing.B) {
	f, err := CompileAs(nginxCombined, Options{}, "combined", true)
	if err != nil {
		b.Fatal(err)
	}
	lines, records := f.NewLines(), make([]Record, 256)
	block := bytes.Repeat([]byte(benchLine+"\n"), 2000)
	b.SetBytes(222)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if !lines.More() {
			lines.Begin(block)
		}
		if _, fault := lines.Next(&records[i%len(records)]); !fault.OK() {
			b.Fatal(fault)
		}
	}
}

// BenchmarkParseCombinedByStep reads the same line without the quick way over its head.
func BenchmarkParseCombinedByStep(b *testing.B) {
	p := combinedParser(b, Options{}).(*scanner)
	prog := *p.prog
	prog.head = false
	p.prog = &prog
	benchmarkLines(b, p, []string{benchLine})
}

// BenchmarkParseCombinedGonx reads the same line with gonx.
func BenchmarkParseCombinedGonx(b *testing.B) {
	benchmarkLines(b, combinedParser(b, Options{Gonx: true}), []string{benchLine})
}

// BenchmarkParseCombinedNewSecond has another second on each line, so that the last stamp never serves again.
func BenchmarkParseCombinedNewSecond(b *testing.B) {
	var lines []string
	for i := range 60 {
		second := string([]byte{byte('0' + i/10), byte('0' + i%10)})
		lines = append(lines, strings.Replace(benchLine, ":31 ", ":"+second+" ", 1))
	}
	benchmarkLines(b, combinedParser(b, Options{}), lines)
}

func combinedParser(b *testing.B, o Options) Parser {
	f, err := CompileAs(nginxCombined, o, "combined", true)
	if err != nil {
		b.Fatal(err)
	}
	return f.NewParser()
}

// benchmarkLines parses lines in turn into a block of records, as the caller of a whole log does.
func benchmarkLines(b *testing.B, p Parser, texts []string) {
	records := make([]Record, 256)
	lines := make([][]byte, len(texts))
	for i, text := range texts {
		if len(text) != 222 {
			b.Fatalf("line has %d bytes", len(text))
		}
		lines[i] = []byte(text)
	}
	b.SetBytes(222)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if fault := p.Parse(lines[i%len(lines)], &records[i%len(records)]); !fault.OK() {
			b.Fatal(fault)
		}
	}
}
