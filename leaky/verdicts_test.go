package leaky

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// Verdicts of a real nginx. Its log tells when a request ended and how long it took, to the millisecond, and the
// limiter decided when it began, on another clock; so a model can come close and not agree on every line. The figures
// are those of a faithful model; what a wrong rate, burst or rule does to them is far worse.

// The project's own recordings, made by scripts/record-verdicts. Where nginx only pretended (dry run), the lines are in
// the order in which it decided.
func TestNginxAgreesWithVerdicts(t *testing.T) {
	for file, limits := range map[string][]string{
		"nginx-60rm":                    {"nginx:60r/m"},
		"nginx-100rm-burst6-nodelay":    {"nginx:100r/m,burst=6,nodelay"},
		"nginx-10rs-burst20-delay8-dry": {"nginx:10r/s,burst=20,delay=8"},
		"nginx-two-zones-dry":           {"nginx:5r/s,burst=9,nodelay", "nginx:30r/s,burst=40,delay=10"}, // the second for the site
	} {
		t.Run(file, func(t *testing.T) {
			got := compare(readVerdicts(t, "testdata/verdicts/"+file+".log.gz", ownLine), zones(t, bySite, limits...))
			t.Log(got)
			if got.lines < 700 || got.share() < 99 || got.worst > 1 {
				t.Error("want at least 99 %, and at most one refusal or delay of a key off")
			}
		})
	}
}

// Where nginx really delays, requests take as long as the model says, or longer when the machine was busy. Of those
// that began in the same millisecond nginx logs the rejected first and then each when it is answered: what came first
// has waited least, and what came last was rejected.
func TestNginxDelaysAsLong(t *testing.T) {
	all := readVerdicts(t, "testdata/verdicts/nginx-10rs-burst20-delay8-enforced.log.gz", ownLine)
	slices.SortStableFunc(all, func(a, b verdict) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.was/'x', b.was/'x'), cmp.Compare(a.took, b.took))
	})
	judge := zones(t, byKey, "nginx:10r/s,burst=20,delay=8")
	delayed, near, early := 0, 0, 0
	got := compare(all, func(v verdict) (byte, limit.Time) {
		is, late := judge(v)
		if is == 'd' && v.was == 'd' {
			delayed++
			switch longer := v.took - late; {
			case longer < -limit.Millisecond:
				early++
			case longer <= 2*limit.Millisecond:
				near++
			}
		}
		return is, late
	})
	t.Logf("%v; of %d delays %d up to 2 ms longer, %d shorter", got, delayed, near, early)
	if got.share() < 99 || got.worst > 1 || delayed < 100 || near*100 < 80*delayed || early > 0 {
		t.Error("want at least 99 % of the verdicts, 80 % of the delays, and none of them shorter")
	}
}

// The second large recording: of nginx, and of OpenResty's resty.limit.req, which decides as nginx does. The figures
// are the ceilings. In the order of the log alone, refusals agree on 95.5 % of the enforced lines, and on 99.06 % of
// OpenResty's.
func TestNginxAgreesWithSecondRecording(t *testing.T) {
	recordings := testneeds.Shared(t, "verdicts")
	const anyDelays = 1 << 30 // of a request that was rewritten, the log does not tell whether it was delayed
	for _, test := range []struct {
		file             string
		limits           []string
		split            func([]string) (string, []string)
		agree, admitted  float64 // percent, at least: of verdicts, and of what was refused or not
		refusals, delays int     // off, at most
	}{
		{"nginx2-5rs-burst10-delay5-dry", []string{"nginx:5r/s,burst=10,delay=5"}, secondLine, 98.1, 98.4, 1, 3},
		{"nginx2-5rs-burst10-delay5-enforced", []string{"nginx:5r/s,burst=10,delay=5"}, secondLine, 99.7, 99.86, 0, 2},
		{"nginx2-two-zones-dry", []string{"nginx:5r/s,burst=5,nodelay", "nginx:60r/m,burst=30,nodelay"}, secondLine, 99.4, 99.4, 0, 0},
		{"nginx2-20rm-burst2-by-client-uri-dry", []string{"nginx:20r/m,burst=2"}, secondByPath, 99.8, 99.8, 0, 0},
		{"nginx2-1rs-burst3-rewritten-enforced", []string{"nginx:1r/s,burst=3"}, secondLine, 0, 99.9, 0, anyDelays},
		{"openresty-limit-req-4rs-burst6", []string{"nginx:4r/s,burst=6"}, secondLine, 99.7, 99.84, 0, 0},
	} {
		t.Run(test.file, func(t *testing.T) {
			file := filepath.Join(recordings, test.file+".log.gz")
			got := compare(readVerdicts(t, file, test.split), zones(t, byKey, test.limits...))
			t.Log(got)
			if got.share() < test.agree || got.admitted() < test.admitted || got.refusals > test.refusals || got.delays > test.delays {
				t.Errorf("want at least %v %% and %v %%, and at most %d refusals and %d delays off",
					test.agree, test.admitted, test.refusals, test.delays)
			}
		})
	}
}

// The large recordings, which are not part of the project.
func TestNginxAgreesWithSharedVerdicts(t *testing.T) {
	recordings := testneeds.Shared(t, "verdicts")
	for _, test := range []struct {
		file, limit      string
		agree            float64 // percent, at least
		refusals, delays int     // at most
	}{
		{"nginx-60rm-dry", "nginx:60r/m", 95.2, 34, 0},
		{"nginx-12rm-burst6-nodelay-dry", "nginx:12r/m,burst=6,nodelay", 99.7, 0, 0},
		{"nginx-12rm-burst6-nodelay-enforced", "nginx:12r/m,burst=6,nodelay", 99.7, 0, 0},
		{"nginx-10rs-burst20-nodelay-dry", "nginx:10r/s,burst=20,nodelay", 99.4, 0, 0},
		{"nginx-10rs-burst20-delay8-dry", "nginx:10r/s,burst=20,delay=8", 98.4, 0, 26},
	} {
		t.Run(test.file, func(t *testing.T) {
			file := filepath.Join(recordings, test.file+".log.gz")
			got := compare(readVerdicts(t, file, sharedLine), zones(t, byKey, test.limit))
			t.Log(got)
			if got.share() < test.agree || got.refusals > test.refusals || got.delays > test.delays {
				t.Errorf("want at least %v %%, and at most %d refusals and %d delays off", test.agree, test.refusals, test.delays)
			}
		})
	}
}
