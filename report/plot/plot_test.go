package plot

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
	"shadow/report/format"
	"shadow/report/table"
)

// Plots as people see them, in a file that -update rewrites.
func TestPlots(t *testing.T) {
	line := func(n int, at func(x float64) float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = at(float64(i) / float64(n-1))
		}
		return values
	}
	day := format.Moment(time.Date(2025, 12, 3, 0, 0, 0, 0, time.UTC).UnixMicro())
	var b strings.Builder
	for _, c := range []struct {
		name  string
		curve Curve
	}{
		{"a ramp to 5,000 in 5 min", Curve{Values: line(66, func(x float64) float64 { return 5000 * x }), Length: 5 * limit.Minute, Top: 5000, Rows: 12}},
		{"flat at 0 of 6 for 400 s", Curve{Values: line(40, func(float64) float64 { return 0 }), Length: 400 * limit.Second, Top: 6, Rows: 6}},
		{"flat at the top of 1 for 3 s", Curve{Values: line(40, func(float64) float64 { return 1 }), Length: 3 * limit.Second, Top: 1, Rows: 6}},
		{"a wave up to 17 for 7 d", Curve{Values: line(66, func(x float64) float64 { return 17 * math.Sin(3*math.Pi*x) * math.Sin(3*math.Pi*x) }), Length: 7 * limit.Day, Top: 17, Rows: 6}},
		{"beyond the top of 10, for 1.5 ms", Curve{Values: line(30, func(x float64) float64 { return 25 * x * x }), Length: 1500, Top: 10, Rows: 6}},
		{"250,000 of 2,000,000", Curve{Values: line(30, func(x float64) float64 { return 250_000 }), Length: limit.Hour, Top: 2e6, Rows: 6}},
		{"3 min in a narrow terminal", Curve{Values: line(20, func(x float64) float64 { return 6 * x }), Length: 3 * limit.Minute, Top: 6, Rows: 6}},
		{"an hour of a day", Curve{Values: line(66, func(x float64) float64 { return 9 * x }), Length: 59*limit.Minute + 27*limit.Second, Top: 9, Rows: 4, Clock: true, Start: day + format.Moment(13*limit.Hour+123)}},
		{"over midnight", Curve{Values: line(66, func(x float64) float64 { return 9 * x }), Length: 90 * limit.Minute, Top: 9, Rows: 4, Clock: true, Start: day + format.Moment(23*limit.Hour)}},
		{"three months over New Year", Curve{Values: line(66, func(x float64) float64 { return 9 * x }), Length: 90 * limit.Day, Top: 9, Rows: 4, Clock: true, Start: day}},
		{"two seconds", Curve{Values: line(66, func(x float64) float64 { return 9 * x }), Length: 2*limit.Second + 1, Top: 9, Rows: 4, Clock: true, Start: day - 1}},
		{"two values", Curve{Values: []float64{0, 3}, Length: 1, Top: 3, Rows: 6}},
	} {
		b.WriteString("# " + c.name + "\n" + strings.Join(c.curve.Draw(false), "\n") + "\n\n")
	}
	limittest.Golden(t, "testdata/plots.txt", b.String())
}

// Whatever is plotted, the plot has no more rows and columns than it was given, its axis ends at round numbers, and
// nothing is drawn beside it.
func TestPlotFits(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 300).Draw(t, "width")
		top := math.Pow(10, rapid.Float64Range(-2, 15).Draw(t, "magnitude"))
		p := Curve{
			Length: limit.Time(rapid.Int64Range(1, math.MaxInt64/4).Draw(t, "length") >> rapid.IntRange(0, 60).Draw(t, "shift")),
			Top:    top, Rows: rapid.IntRange(3, 20).Draw(t, "rows"),
			Clock: rapid.Bool().Draw(t, "clock"), Start: format.Moment(rapid.Int64Range(-1<<52, 1<<52).Draw(t, "start")),
		}
		p.Length = max(p.Length, 1)
		p.Values = rapid.SliceOfN(rapid.Float64Range(0, top), Moments(width), Moments(width)).Draw(t, "values")
		before := slices.Clone(p.Values)
		lines := p.Draw(false)
		if !slices.Equal(before, p.Values) {
			t.Error("the values were changed")
		}
		if len(lines) > p.Rows+3 { // the row of 0, the axis and its labels
			t.Errorf("%d lines", len(lines))
		}
		most := max(width, LeastCurve+plotMargin)
		if width == 0 {
			most = Columns
		}
		for _, line := range lines {
			if table.ColumnsOf(line) > most || strings.HasSuffix(line, " ") || strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
				t.Errorf("%q: %d columns, want at most %d", line, table.ColumnsOf(line), most)
			}
		}
	})
}

func TestNiceTop(t *testing.T) {
	three := 3.0
	for _, c := range []struct {
		top   float64
		most  int
		end   float64
		steps int
	}{
		{6, 6, 6, 6},
		{10, 6, 10, 5},
		{7, 6, 8, 4},
		{17, 6, 20, 4},
		{5000, 12, 5000, 10},
		{20000, 12, 20000, 10},
		{1, 6, 1, 5},
		{0, 6, 1e-6, 5},
		{0.1 * three, 6, 0.3, 6}, // which is a little more than 0.3
		{100001, 6, 120000, 6},
	} {
		end, steps := niceTop(c.top, c.most)
		if math.Abs(end-c.end) > 1e-9*c.end || steps != c.steps {
			t.Errorf("%v in at most %d: %v in %d, want %v in %d", c.top, c.most, end, steps, c.end, c.steps)
		}
	}
}

func TestTicks(t *testing.T) {
	for top, want := range map[float64]string{0: "0 1", 0.4: "0 1", 1: "0 1", 2: "0 1 2", 3: "0 1 2 3", 4: "0 2 4", 7: "0 5 10", 1234: "0 500 1,000 1,500", 250_000: "0 100k 200k 300k"} {
		var texts []string
		for _, tick := range Ticks(top, 3) {
			texts = append(texts, tick.Text)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("of %v: %s, want %s", top, got, want)
		}
	}
}

// A terminal gets colours, other outputs get none.
func TestPlotColor(t *testing.T) {
	p := Curve{Values: []float64{0, 1, 2, 3}, Length: limit.Minute, Top: 3, Rows: 6}
	if plain := strings.Join(p.Draw(false), "\n"); strings.Contains(plain, "\x1b") {
		t.Errorf("%q has colours", plain)
	}
	if painted := strings.Join(p.Draw(true), "\n"); !strings.Contains(painted, "\x1b[") || !strings.HasSuffix(painted, "\x1b[0m") {
		t.Errorf("%q has no colours, or does not end them", painted)
	}
}
