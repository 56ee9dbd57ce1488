package report

import (
	"bytes"
	"strings"
	"testing"

	"shadow/limit/limittest"
	"shadow/replay"
	"shadow/report/reporttest"
)

var townOptions = Options{
	Version: "1.2.3", Command: "shadow replay access.log* --limit 6/30s", Database: "shadow.db", Run: "7",
	Warnings: []string{"access.log.1.gz: ended early: truncated gzip"},
}

// TestGolden compares whole reports with the files in testdata, one for each format; -update rewrites them.
func TestGolden(t *testing.T) {
	town, made, band, empty, witnessed := reporttest.Town, reporttest.Made, reporttest.BandedTown, reporttest.Empty, reporttest.Witnessed
	at := func(width int, result func() *replay.Result) *Model {
		o := townOptions
		o.Width = width
		return New(result(), o)
	}
	known := func(policies int) *Model {
		o, res := townOptions, witnessed()
		o.Width, o.Identities = 160, true
		res.Policies = res.Policies[:policies]
		return New(res, o)
	}
	whole := townWithHistory()
	whole.Details = true
	reports := map[string]string{}
	for _, c := range []struct {
		name, formats string
		model         *Model
	}{
		{"town", "table json csv markdown", at(0, town)},
		{"town in 80 columns", "table", at(80, town)},
		{"town in 100 columns", "table", at(100, town)},
		{"town in 160 columns", "table", at(160, town)},
		{"many policies in 100 columns", "table", at(100, reporttest.TownOfMany)},
		{"many policies", "table markdown", at(0, reporttest.TownOfMany)},
		{"site", "table", at(100, reporttest.Site)},
		{"made", "table json csv markdown", at(100, made)},
		{"band", "table json csv markdown", at(100, band)},
		{"peaceful", "table", New(reporttest.Peaceful(), Options{Width: 100})},
		{"empty", "table json csv markdown", New(empty(), Options{Width: 100})},
		{"who the clients are", "table json csv markdown", known(2)},
		{"who the clients are, by one policy", "table", known(1)},
		{"history", "table json csv markdown", whole},
		{"news", "table markdown", townWithHistory()},
	} {
		for format := range strings.FieldsSeq(c.formats) {
			text := write(t, described(c.model), format)
			if bad := reporttest.FirstHarm(text); bad != "" {
				t.Errorf("%s, %s: %q", c.name, format, bad)
			}
			reports[format] += "-- " + c.name + " --\n" + text
		}
	}
	for format, text := range reports {
		t.Run(format, func(t *testing.T) { limittest.Golden(t, "testdata/"+format+".golden", text) })
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
