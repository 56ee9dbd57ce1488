package explain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"shadow/internal/calc"
	"shadow/internal/policy"
	"shadow/limit"
	"shadow/limit/limittest"
)

// madeUp is an explanation of two limits that must both admit: one that delays, and one that does not tell its level.
func madeUp() []calc.Explanation {
	levels := []float64{0, 3, 5, 4, 2, 1}
	return []calc.Explanation{{
		Limit: "nginx:10r/s,burst=4", Means: "as nginx has it", Bucket: true, AtOnce: 5, Trial: &calc.Trial{AtOnce: 5},
		Count: 1, Per: 100 * limit.Millisecond, Recovers: limit.Second / 2,
		Clients: []calc.Client{
			{Name: "steady", Every: 80 * limit.Millisecond, Length: 3 * limit.Second, Run: calc.Run{Requests: 38, Admitted: 34, Delayed: 33, Refused: 4, Levels: levels}},
			{Name: "bursty", Burst: 8, Every: 640 * limit.Millisecond, Length: 3 * limit.Second, Run: calc.Run{Requests: 40, Admitted: 25, Refused: 15, Levels: levels}},
		},
		Equivalents: []policy.Equivalent{
			{Server: "nginx limit_req", Setting: "nginx:10r/s,burst=4", Deviation: "exact"},
			{Server: "another", Setting: "rate 10", Deviation: "it is slower", Closest: true},
			{Server: "a third", Deviation: "it has none"},
		},
	}, {
		Limit: "window:60/1m,cooldown=30s", Means: "a window", AtOnce: 60, Trial: &calc.Trial{AtOnce: 20, One: 30 * limit.Second, Many: 45 * limit.Second}, Count: 60, Per: limit.Minute, Recovers: 62*limit.Second + 500*limit.Millisecond + 1,
		Clients: []calc.Client{{Name: "random", Every: 800 * limit.Millisecond, Length: 6 * limit.Minute, Run: calc.Run{Requests: 450, Admitted: 300, Refused: 150}}},
	}, {
		Limit: "aws~:10/5m", Means: "looks now and then", AtOnce: 10, Trial: &calc.Trial{AtOnce: 20, Endless: true}, Count: 1, Per: 30 * limit.Second,
		Clients: []calc.Client{{Name: "steady", Every: 24 * limit.Second, Length: 6 * limit.Minute, Run: calc.Run{Requests: 15, Admitted: 12, Refused: 3}, Range: &[2]int64{0, 1500}}},
		Variants: []calc.Variant{
			{Assumes: "aws~ that looks later", Trial: &calc.Trial{AtOnce: 20, Endless: true}, Refused: []int64{0}},
			{Assumes: "aws~ that looks at once", Trial: &calc.Trial{AtOnce: 10}, Refused: []int64{1500}},
		},
	}, {
		Limit: "mute:1/1s", Means: "mute:1/1s",
	}}
}

func TestExplanations(t *testing.T) {
	for file, v := range map[string]View{"explained.txt": {Plots: true}, "explained-60.txt": {Width: 60, Plots: true}, "explained-plain.txt": {}} {
		var b bytes.Buffer
		if err := Write(&b, "table", [][]calc.Explanation{madeUp()[1:2], madeUp()}, v); err != nil {
			t.Fatal(err)
		}
		limittest.Golden(t, "testdata/"+file, b.String())
	}
}

// JSON has all that the table has.
func TestExplanationsJSON(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "json", [][]calc.Explanation{madeUp()}, View{}); err != nil {
		t.Fatal(err)
	}
	var answer struct{ Policies [][]calc.Explanation }
	if err := json.Unmarshal(b.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	got := answer.Policies
	if len(got) != 1 || len(got[0]) != 4 || got[0][0].Clients[0].Delayed != 33 || got[0][0].Equivalents[2].Deviation != "it has none" ||
		*got[0][1].Trial != *madeUp()[1].Trial || len(got[0][0].Clients[0].Levels) != 6 {
		t.Errorf("%s", b.String())
	}
}

// A terminal gets colours where it may.
func TestExplanationsColor(t *testing.T) {
	for _, color := range []bool{false, true} {
		var b bytes.Buffer
		if err := Write(&b, "table", [][]calc.Explanation{madeUp()}, View{Plots: true, Color: color}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "\x1b["); got != color {
			t.Errorf("colour %v: %v", color, got)
		}
	}
}
