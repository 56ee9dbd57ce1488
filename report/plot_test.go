package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shadow/limit"
	"shadow/testneeds"
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
	day := Moment(time.Date(2025, 12, 3, 0, 0, 0, 0, time.UTC).UnixMicro())
	var b strings.Builder
	for _, c := range []struct {
		name string
		plot plot
	}{
		{"a ramp to 5,000 in 5 min", plot{values: line(66, func(x float64) float64 { return 5000 * x }), length: 5 * limit.Minute, top: 5000, rows: 12}},
		{"flat at 0 of 6 for 400 s", plot{values: line(40, func(float64) float64 { return 0 }), length: 400 * limit.Second, top: 6, rows: 6}},
		{"flat at the top of 1 for 3 s", plot{values: line(40, func(float64) float64 { return 1 }), length: 3 * limit.Second, top: 1, rows: 6}},
		{"a wave up to 17 for 7 d", plot{values: line(66, func(x float64) float64 { return 17 * math.Sin(3*math.Pi*x) * math.Sin(3*math.Pi*x) }), length: 7 * limit.Day, top: 17, rows: 6}},
		{"beyond the top of 10, for 1.5 ms", plot{values: line(30, func(x float64) float64 { return 25 * x * x }), length: 1500, top: 10, rows: 6}},
		{"250,000 of 2,000,000", plot{values: line(30, func(x float64) float64 { return 250_000 }), length: limit.Hour, top: 2e6, rows: 6}},
		{"3 min in a narrow terminal", plot{values: line(20, func(x float64) float64 { return 6 * x }), length: 3 * limit.Minute, top: 6, rows: 6}},
		{"an hour of a day", plot{values: line(66, func(x float64) float64 { return 9 * x }), length: 59*limit.Minute + 27*limit.Second, top: 9, rows: 4, clock: true, start: day + Moment(13*limit.Hour+123)}},
		{"over midnight", plot{values: line(66, func(x float64) float64 { return 9 * x }), length: 90 * limit.Minute, top: 9, rows: 4, clock: true, start: day + Moment(23*limit.Hour)}},
		{"three months over New Year", plot{values: line(66, func(x float64) float64 { return 9 * x }), length: 90 * limit.Day, top: 9, rows: 4, clock: true, start: day}},
		{"two seconds", plot{values: line(66, func(x float64) float64 { return 9 * x }), length: 2*limit.Second + 1, top: 9, rows: 4, clock: true, start: day - 1}},
		{"two values", plot{values: []float64{0, 3}, length: 1, top: 3, rows: 6}},
	} {
		b.WriteString("# " + c.name + "\n" + strings.Join(c.plot.draw(), "\n") + "\n\n")
	}
	golden(t, "plots.txt", b.String())
}

// Whatever is plotted, the plot has no more rows and columns than it was given, its axis ends at round numbers, and
// nothing is drawn beside it.
func TestPlotFits(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 300).Draw(t, "width")
		top := math.Pow(10, rapid.Float64Range(-2, 15).Draw(t, "magnitude"))
		p := plot{
			length: limit.Time(rapid.Int64Range(1, math.MaxInt64/4).Draw(t, "length") >> rapid.IntRange(0, 60).Draw(t, "shift")),
			top:    top, rows: rapid.IntRange(3, 20).Draw(t, "rows"),
			clock: rapid.Bool().Draw(t, "clock"), start: Moment(rapid.Int64Range(-1<<52, 1<<52).Draw(t, "start")),
		}
		p.length = max(p.length, 1)
		p.values = rapid.SliceOfN(rapid.Float64Range(0, top), PlotMoments(width), PlotMoments(width)).Draw(t, "values")
		before := slices.Clone(p.values)
		lines := p.draw()
		if !slices.Equal(before, p.values) {
			t.Error("the values were changed")
		}
		if len(lines) > p.rows+3 { // the row of 0, the axis and its labels
			t.Errorf("%d lines", len(lines))
		}
		most := max(width, leastCurve+plotMargin)
		if width == 0 {
			most = plotColumns
		}
		for _, line := range lines {
			if columnsOf(line) > most || strings.HasSuffix(line, " ") || strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
				t.Errorf("%q: %d columns, want at most %d", line, columnsOf(line), most)
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

// A terminal gets colours, anybody else none.
func TestPlotColor(t *testing.T) {
	p := plot{values: []float64{0, 1, 2, 3}, length: limit.Minute, top: 3, rows: 6}
	if plain := strings.Join(p.draw(), "\n"); strings.Contains(plain, "\x1b") {
		t.Errorf("%q has colours", plain)
	}
	p.color = true
	if painted := strings.Join(p.draw(), "\n"); !strings.Contains(painted, "\x1b[") || !strings.HasSuffix(painted, "\x1b[0m") {
		t.Errorf("%q has no colours, or does not end them", painted)
	}
}

func TestAmounts(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 5000: "5,000", 350.0 / 3: "116.67", 62.5: "62.5", 1.0 / 60: "0.0167", 0.5: "0.5", 1234567.891: "1,234,567.89",
		0.0000123456: "0.0000123", 0.9999: "1", 1e15: "1,000,000,000,000,000", 1e300: strconv.FormatFloat(1e300, 'f', 0, 64),
	} {
		if got := amount(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	for d, want := range map[limit.Time]string{
		1: "1 us", 999: "999 us", 1500: "1.5 ms", 333_333: "333.3 ms", limit.Second: "1 s", 1_200_000: "1.2 s", 59_999_999: "60 s",
		limit.Minute: "1 min", 5 * limit.Minute: "5 min", 250 * limit.Second: "4 min 10 s", limit.Hour: "1 h", 24 * limit.Hour: "24 h",
		72 * limit.Minute: "1 h 12 min", 6 * limit.Day: "6 d", 400 * limit.Day: "400 d", 30*limit.Hour + limit.Minute: "1 d 6 h",
	} {
		if got := brief(d); got != want {
			t.Errorf("%d us are written %s, want %s", d, got, want)
		}
	}
	if got := lengthOf(1e30); got != "104,166,666 d 16 h" {
		t.Errorf("for ever is written %s", got)
	}
}
