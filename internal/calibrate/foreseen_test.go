package calibrate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// How far a prediction for another limit may be trusted, on recordings of one server with several limits: half of the
// clients of one recording say which algorithm the server has, and with it the limit of another recording foresees
// the verdicts of that one. Foreseen is what the report and docs/calibrate.md say of it.
func TestVerdictsOfOtherLimitsAreForeseen(t *testing.T) {
	if !testneeds.HasShared(t) {
		t.Skip("some of the recordings lie beside the project")
	}
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	all := recordings(t)
	all = slices.DeleteFunc(all, func(r recording) bool { return strings.Contains(r.limit, "+") }) // of two limits at once
	for whole, want := range map[bool]Foresight{false: Foreseen, true: ForeseenWhole} {
		if whole && testneeds.Draws(1, 2) == 1 {
			continue
		}
		var wrong, refused []float64
		algorithms := map[string]string{} // by recording
		for _, r := range all {
			algorithms[r.name+r.limit] = r.kindByHalf(t, whole)
		}
		got := Foresight{Recordings: len(all)}
		for _, of := range all {
			kind := kindOf(of.limit)
			from := 0
			for _, r := range all {
				if r.limit != of.limit && kindOf(r.limit) == kind {
					got.Pairs++
					if algorithms[r.name+r.limit] != kind {
						got.Misled++
						continue
					}
					from++
				}
			}
			if from == 0 {
				continue
			}
			requests := of.requests(t, whole)
			f := requests.Judge(requests.Keys[0], func(row int32) bool { return requests.Verdict[row] != none }, []string{of.limit},
				Options{Whole: whole})
			w := 100 * float64(f.Best.Wrong) / float64(f.Requests)
			off := 100 * math.Abs(float64(f.Best.Refused-f.Refused)) / float64(f.Refused)
			t.Logf("%-40s %-32s %6.2f %% of verdicts wrong, refused off by %5.2f %%, foreseen by %d", of.name, of.limit, w, off, from)
			for range from {
				wrong, refused = append(wrong, w), append(refused, off)
			}
		}
		slices.Sort(wrong)
		tenths := func(percent float64) float64 { return math.Round(10*percent) / 10 }
		got.Median, got.Worst, got.Refused = tenths(wrong[len(wrong)/2]), tenths(slices.Max(wrong)), tenths(slices.Max(refused))
		if got != want {
			t.Errorf("whole seconds %t: %+v, the report says %+v", whole, got, want)
		}
	}
}

// kindOf is the algorithm of a limit, and what it charges.
func kindOf(text string) string {
	name, rest, _ := strings.Cut(text, ":")
	if strings.Contains(rest, "charge=admitted") {
		name += " admitted"
	}
	return name
}

// kindByHalf is the algorithm that explains the verdicts on every other client.
func (r *recording) kindByHalf(t *testing.T, whole bool) string {
	all := r.requests(t, whole)
	o := Options{Delays: true, Prefer: "nginx", Whole: whole}
	if strings.HasPrefix(r.limit, "haproxy") {
		o = Options{Prefer: "haproxy", Whole: whole}
	}
	f := all.Search(all.Keys[0], func(row int32) bool { return all.Verdict[row] != none && all.Keys[0][row]%2 == 0 }, o)
	if f.Best == nil {
		return ""
	}
	return kindOf(f.Best.Limit)
}
