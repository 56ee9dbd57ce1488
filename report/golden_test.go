package report

import (
	"bytes"
	"strings"
	"testing"

	"shadow/report/reporttest"
)

var townOptions = Options{
	Version: "1.2.3", Command: "shadow replay access.log* --limit 6/30s", Database: "shadow.duckdb", Run: "7",
	Warnings: []string{"access.log.1.gz: ended early: truncated gzip"},
}

// TestGolden compares whole reports with the files in testdata; -update rewrites them.
func TestGolden(t *testing.T) {
	at := func(width int) Options {
		o := townOptions
		o.Width = width
		return o
	}
	for _, c := range []struct {
		file, format string
		model        *Model
	}{
		{"town.txt", "table", New(reporttest.Town(), townOptions)},
		{"town-80.txt", "table", New(reporttest.Town(), at(80))},
		{"town-100.txt", "table", New(reporttest.Town(), at(100))},
		{"town-160.txt", "table", New(reporttest.Town(), at(160))},
		{"town.json", "json", New(reporttest.Town(), townOptions)},
		{"town.csv", "csv", New(reporttest.Town(), townOptions)},
		{"town.md", "markdown", New(reporttest.Town(), townOptions)},
		{"sweep.txt", "table", New(reporttest.TownOfMany(), at(100))},
		{"sweep-page.txt", "table", New(reporttest.TownOfMany(), townOptions)},
		{"sweep.md", "markdown", New(reporttest.TownOfMany(), townOptions)},
		{"site.txt", "table", New(reporttest.Site(), at(100))},
		{"made.txt", "table", New(reporttest.Made(), at(100))},
		{"made.json", "json", New(reporttest.Made(), at(100))},
		{"made.csv", "csv", New(reporttest.Made(), at(100))},
		{"made.md", "markdown", New(reporttest.Made(), at(100))},
		{"band.txt", "table", New(reporttest.BandedTown(), at(100))},
		{"band.md", "markdown", New(reporttest.BandedTown(), townOptions)},
		{"band.json", "json", New(reporttest.BandedTown(), townOptions)},
		{"band.csv", "csv", New(reporttest.BandedTown(), townOptions)},
		{"peaceful.txt", "table", New(reporttest.Peaceful(), Options{Width: 100})},
		{"empty.txt", "table", New(reporttest.Empty(), Options{Width: 100})},
		{"empty.json", "json", New(reporttest.Empty(), Options{})},
		{"empty.csv", "csv", New(reporttest.Empty(), Options{})},
		{"empty.md", "markdown", New(reporttest.Empty(), Options{})},
	} {
		t.Run(c.file, func(t *testing.T) { reporttest.Golden(t, c.file, write(t, described(c.model), c.format)) })
	}
}

// described gives the policies texts that do not change with the limiters' own.
func described(m *Model) *Model {
	for i := range m.Policies {
		p := &m.Policies[i]
		for j := range p.Parts {
			p.Parts[j].Semantics = "a bucket of 6, refilled evenly by 6 in 30 s, full at first; a refused request takes nothing out"
			p.Parts[j].Nginx = "rate=12r/m burst=5 nodelay (nginx counts in milliseconds)"
		}
		p.Semantics = strings.Join(p.Meanings(), "; ")
		p.Nginx = strings.Join(p.NginxTexts(), "; ")
	}
	return m
}

func write(t testing.TB, m *Model, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
