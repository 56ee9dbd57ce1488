package suggest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
)

// A limit is offered if it refuses anything of the target, and at most half of the log.
func TestOffered(t *testing.T) {
	a := &Advice{Question: Question{Target: 1 << who.Program}, all: 20}
	for _, c := range []struct {
		tools, others int64
		want          bool
	}{{0, 0, false}, {0, 5, false}, {1, 0, true}, {1, 9, true}, {10, 0, true}, {1, 10, false}, {11, 0, false}} {
		var limit Candidate
		limit.On[First].Refused[who.Program], limit.On[Second].Refused[who.Person] = c.tools, c.others
		if got := a.offered(&limit); got != c.want {
			t.Errorf("%d of the target and %d others: %v", c.tools, c.others, got)
		}
	}
	for others, want := range map[int64]bool{10: true, 11: false} {
		var limit Candidate
		limit.On[First].Refused[who.Attacker], limit.On[First].Refused[who.Program] = 9, others
		if got := a.offered(&limit); got != want {
			t.Errorf("%d of others than attackers: %v", others, got)
		}
	}
}

// The foremost are the answer's, those that were found, and of these the best; they stay in the order of their curves.
func TestForemost(t *testing.T) {
	rng := testneeds.Rand(t, 37, 1)
	for range 300 {
		a := &Advice{Question: Question{Goals: []Goal{{Who: 1 << who.Person}}, Target: 1 << who.Program}}
		var all []Suggestion
		for i := range rng.IntN(20) {
			s := Suggestion{Shape: sweep.Shape{Kind: sweep.Window, Per: limit.Time(i + 1)}, curve: i, Why: []Why{Found, Broken}[rng.IntN(2)]}
			s.family.shape = s.Shape
			s.Chosen.On[First].Refused[who.Program] = int64(rng.IntN(4))
			s.Chosen.On[Second].Refused[who.Person] = int64(rng.IntN(2))
			all = append(all, s)
		}
		if len(all) > 0 && rng.IntN(2) == 0 {
			a.Answer.Of = &all[rng.IntN(len(all))]
		}
		before := func(x, y *Suggestion) bool { // whether x is better
			if of := a.Answer.Of; of != nil && (of.curve == x.curve || of.curve == y.curve) {
				return of.curve == x.curve
			}
			if (x.Why == Found) != (y.Why == Found) {
				return x.Why == Found
			}
			return a.Compare(x, y) < 0
		}
		var want []int
		for i := range all {
			better := 0
			for k := range all {
				if k != i && before(&all[k], &all[i]) {
					better++
				}
			}
			if better < MostReplayed {
				want = append(want, i)
			}
		}
		shown, left := a.foremost(all)
		var got []int
		for _, s := range shown {
			got = append(got, s.curve)
		}
		if !slices.Equal(got, want) || left != len(all)-len(want) {
			t.Fatalf("%v and %d others, want %v", got, left, want)
		}
	}
}

// Suggestions are ordered by what they refuse of the target, then of the protected, then by their shapes.
func TestCompare(t *testing.T) {
	a := &Advice{Question: Question{Goals: []Goal{{Who: 1 << who.Person}}, Target: 1 << who.Program}}
	suggestion := func(tools, browsers int64, kind sweep.Kind, per, rate limit.Time) (s Suggestion) {
		s.Shape = sweep.Shape{Kind: kind, Per: per, Rate: sweep.Rate{Count: 1, Per: rate}}
		s.Chosen.On[Second].Refused[who.Program], s.Chosen.On[First].Refused[who.Person] = tools, browsers
		s.Chosen.On[Rest].Refused[who.Program] = 1 - tools // has no say
		return s
	}
	ordered := []Suggestion{
		suggestion(2, 9, sweep.Token, 9, 9), suggestion(1, 0, sweep.Token, 9, 9), suggestion(1, 1, sweep.Window, 1, 9),
		suggestion(1, 1, sweep.Window, 2, 1), suggestion(1, 1, sweep.Fixed, 1, 1), suggestion(1, 1, sweep.Fixed, 1, 2),
	}
	for i := range ordered {
		for k := range ordered {
			if got := a.Compare(&ordered[i], &ordered[k]); (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("%d and %d: %d", i, k, got)
			}
		}
	}
}

// A server's own limit is looked for from two below to three above, and far above; not below where stamps are coarse.
func TestNear(t *testing.T) {
	for _, c := range []struct {
		n      int64
		banded bool
		want   []int64
	}{
		{1, false, []int64{1, 2, 3, 4, 5, 6, 8, 12, 20, 40}},
		{10, false, []int64{8, 9, 10, 11, 12, 13, 17, 20, 26, 39, 65, 130}},
		{10, true, []int64{10, 11, 12, 13, 17, 20, 26, 39, 65, 130}},
	} {
		if got := near(c.n, c.banded); !slices.Equal(got, c.want) {
			t.Errorf("near %d: %v, want %v", c.n, got, c.want)
		}
	}
	if got := loosened(math.MaxInt64/1000 + 1); got != nil {
		t.Errorf("far above all: %v", got)
	}
	if got := loosened(math.MaxInt64 / 1000); len(got) != 6 || got[5] <= got[4] {
		t.Errorf("as far as numbers go: %v", got)
	}
}

// So many limits are replayed at once that their states fill the room, and no more.
func TestAtOnce(t *testing.T) {
	tables := traffic.NewTables()
	for n := range 5000 {
		tables.Clients.ID(fmt.Append(nil, n))
	}
	for room, want := range map[int64]int{
		1: 1, 16 * 2 * 3 * 5000: 1, 64 * 3 * 5000 * 100: 100, 64*3*5000*100 - 1: 99,
	} {
		r := &repeaters{tables: tables, room: room * stateSize / 64}
		if got := r.atOnce(); got != want {
			t.Errorf("room %d: %d at once, want %d", room, got, want)
		}
	}
	if got := (&repeaters{tables: traffic.NewTables(), room: 3 * stateSize * 7}).atOnce(); got != 7 {
		t.Errorf("without clients: %d", got)
	}
}

func TestLabelsOf(t *testing.T) {
	l := who.Identities{who.Program, who.Search}
	if l.Of(0) != who.Program || l.Of(1) != who.Search || l.Of(2) != who.Undecided || l.Of(9) != who.Undecided {
		t.Error("clients are of other groups")
	}
}

// An empty bucket is full again after burst·per/count.
func TestRefills(t *testing.T) {
	for _, c := range []struct {
		count int64
		per   limit.Time
		burst int64
		want  limit.Time
	}{
		{2, limit.Second, 7, 3_500_000},
		{3, limit.Second, 1, 333_333},
		{1, limit.Day, math.MaxInt64, limit.Never},
		{1, 2, math.MaxInt64, limit.Never},
		{1, 1, math.MaxInt64, limit.Never},
	} {
		if got := refills(sweep.Rate{Count: c.count, Per: c.per}, c.burst); got != c.want {
			t.Errorf("%d/%d, burst %d: %d, want %d", c.count, c.per, c.burst, got, c.want)
		}
	}
}

// The verdict follows from who is there, what the answer refuses of the whole log, and how sure that is.
func TestJudge(t *testing.T) {
	const clients = 1000
	for name, c := range map[string]struct {
		change  func(a *Advice)
		verdict Verdict
		because Because
	}{
		"separates":                   {func(*Advice) {}, Deploy, Separates},
		"at the least share":          {func(a *Advice) { a.Answer.Whole.Refused[who.Program] = 10 }, Deploy, Separates},
		"below it":                    {func(a *Advice) { a.Answer.Whole.Refused[who.Program] = 9 }, SafetyNet, Overlaps},
		"below it, and broke before":  {func(a *Advice) { a.Answer.Whole.Refused[who.Program], a.Answer.Broke = 9, "x" }, SafetyNet, FailedLater},
		"broke before":                {func(a *Advice) { a.Answer.Broke = "x" }, Deploy, SparesAll},
		"the target sends 1 %":        {func(a *Advice) { a.Whole.Requests[who.Person] = 19_800 }, Deploy, Separates},
		"the target sends less":       {func(a *Advice) { a.Whole.Requests[who.Person] = 19_801 }, SafetyNet, NoTarget},
		"out of reach":                {func(a *Advice) { a.Answer.Whole.Refused[who.Program], a.Reach.Requests = 9, 1 }, NoLimitCan, Overlaps},
		"just in reach":               {func(a *Advice) { a.Answer.Whole.Refused[who.Program], a.Reach.Requests = 9, 2 }, SafetyNet, Overlaps},
		"reach unknown":               {func(a *Advice) { a.Answer.Whole.Refused[who.Program], a.Reach = 9, nil }, SafetyNet, Overlaps},
		"unsure":                      {func(a *Advice) { a.Answer.MostHit = Sure + 1 }, SafetyNet, FewToProtect},
		"just sure":                   {func(a *Advice) { a.Answer.MostHit = Sure }, Deploy, Separates},
		"unknown on the rest":         {func(a *Advice) { a.Answer.MostHit = 0 }, SafetyNet, FewToProtect},
		"unsure, but stated":          {func(a *Advice) { a.Answer.MostHit, a.Stated = Sure+1, true }, Deploy, Separates},
		"nothing held out":            {func(a *Advice) { a.Parts[Rest], a.Answer.MostHit = nil, 0 }, Deploy, Separates},
		"nothing held out, few there": {func(a *Advice) { a.Parts[Rest], a.Answer.MostHit, a.Whole.Groups[who.Person] = nil, 0, 28 }, SafetyNet, FewToProtect},
		"as few as show it":           {func(a *Advice) { a.Parts[Rest], a.Answer.MostHit, a.Whole.Groups[who.Person] = nil, 0, 29 }, Deploy, Separates},
		"no one there":                {func(a *Advice) { a.Answer.Of, a.Whole.Groups[who.Person] = nil, 0 }, NotJudgeable, NoOneThere},
		"nothing keeps":               {func(a *Advice) { a.Answer.Of = nil }, NoLimitCan, NothingKeeps},
		"ceilings":                    {func(a *Advice) { a.Ceilings = ceilings() }, SafetyNet, NoOneThere},
		"few log in":                  {func(a *Advice) { a.Action, a.Whole.Groups[who.Person] = "/login", fewest-1 }, Deploy, FewLogIn},
		"few log in, little stopped": {func(a *Advice) {
			a.Action, a.Whole.Groups[who.Person], a.Answer.Whole.Refused[who.Program] = "/login", 1, 9
		}, SafetyNet, FewLogIn},
		"many log in":        {func(a *Advice) { a.Action, a.Whole.Groups[who.Person] = "/login", fewest }, Deploy, Separates},
		"few, but stated":    {func(a *Advice) { a.Action, a.Whole.Groups[who.Person], a.Stated = "/login", 5, true }, Deploy, Separates},
		"few, and no log-in": {func(a *Advice) { a.Action, a.Whole.Groups[who.Person] = "/", 5 }, Deploy, Separates},
		"few came near":      {func(a *Advice) { a.Whole.Late[who.Person]-- }, Unproven, Separates},
		"few were spared":    {func(a *Advice) { a.Answer.Chosen.On[Rest].Hit[who.Person]++ }, Unproven, Separates},
		"a tenth of few near is refused": {func(a *Advice) {
			a.Whole.Late[who.Person], a.Whole.AtRisk[who.Person], a.Answer.Whole.Hit[who.Person] = 8, 20, 2
		}, Unproven, Separates},
		"more of few near": {func(a *Advice) {
			a.Whole.Late[who.Person], a.Whole.AtRisk[who.Person], a.Answer.Whole.Hit[who.Person] = 8, 20, 3
		}, SafetyNet, NearRefused},
		"more, but many were spared": {func(a *Advice) { a.Whole.AtRisk[who.Person], a.Answer.Whole.Hit[who.Person] = 20, 9 }, Deploy, Separates},
		"no person, and few came near": {func(a *Advice) {
			a.Goals[0].Who, a.Loads.Count = who.Browsers, 1
			a.Whole.Groups[who.Person], a.Whole.Groups[who.Undecided], a.Whole.Late[who.Person], a.Whole.AtRisk[who.Person] = 0, clients, 0, LeastNear-1
		}, SafetyNet, NoPeople},
		"no person, and no page": {func(a *Advice) {
			a.Goals[0].Who = who.Browsers
			a.Whole.Groups[who.Person], a.Whole.Groups[who.Undecided], a.Whole.Late[who.Person], a.Whole.AtRisk[who.Person] = 0, clients, 0, LeastNear-1
		}, Unproven, Separates},
		"no person, but many came near": {func(a *Advice) {
			a.Goals[0].Who, a.Loads.Count = who.Browsers, 1
			a.Whole.Groups[who.Person], a.Whole.Groups[who.Undecided], a.Whole.Late[who.Person] = 0, clients, 0
		}, Unproven, Separates},
		"no person on a site of programs": {func(a *Advice) {
			a.Goals[0].Who, a.Target = who.Users, who.Users
			a.Whole.Groups[who.Person], a.Whole.Groups[who.Undecided], a.Whole.Late[who.Person] = 0, clients, 0
			a.Whole.Requests[who.Undecided], a.Answer.Whole.Refused[who.Program] = 0, 10_000
		}, Unproven, Separates},
		"nothing held out, few came near": {func(a *Advice) {
			a.Parts[Rest], a.Answer.MostHit = nil, 0
			a.Whole.AtRisk[who.Person]--
		}, Unproven, Separates},
		"all are a target": {func(a *Advice) { a.Action, a.Whole.Groups[who.Person], a.Target = "/login", 5, who.Everybody }, SafetyNet, Overlaps},
	} {
		a := &Advice{
			Question: Question{Goals: []Goal{{Who: 1 << who.Person, Percent: 99_000_000}}, Target: 1 << who.Program}, Parts: [PartCount]*Part{{}, {}, {}},
			Whole: new(Whole), Reach: &Reach{Requests: 200, OfRequests: 200},
			Answer: Answer{Of: new(Suggestion), MostHit: Sure},
		}
		a.Whole.Groups[who.Person], a.Whole.Groups[who.Program] = clients, 3
		a.Whole.Requests[who.Person], a.Whole.Requests[who.Program], a.Answer.Whole.Refused[who.Program] = 10_000, 200, 100
		a.Whole.AtRisk[who.Person], a.Whole.Late[who.Person] = LeastNear, LeastNear
		c.change(a)
		if a.judge(); a.Answer.Verdict != c.verdict || a.Answer.Because != c.because {
			t.Errorf("%s: %s, %d; want %s, %d", name, a.Answer.Verdict, a.Answer.Because, c.verdict, c.because)
		}
	}
}

// Where it is known by which keys limits reach the target, the first that reaches nearly as much as any is named.
func TestMight(t *testing.T) {
	for _, c := range []struct {
		reach []int64 // of 100
		want  int     // −1: none
	}{{nil, -1}, {[]int64{4, 4}, -1}, {[]int64{5}, 0}, {[]int64{79, 80, 100}, 1}, {[]int64{79, 79, 100}, 2}, {[]int64{80, 100}, 0}} {
		a := new(Advice)
		for _, n := range c.reach {
			a.ByKey = append(a.ByKey, KeyReach{Reach: Reach{Requests: n, OfRequests: 100}})
		}
		if got := a.Might(); c.want < 0 && got != nil || c.want >= 0 && got != &a.ByKey[c.want] {
			t.Errorf("%v: %v", c.reach, got)
		}
	}
	a := &Advice{ByKey: []KeyReach{
		{Key: request.ByClient24, Reach: Reach{Requests: 6, OfRequests: 100}},
		{Key: request.ByAction, Reach: Reach{Requests: 100, OfRequests: 100}},
		{Key: request.BySite, Reach: Reach{Requests: 100, OfRequests: 100}},
	}}
	if got := a.Might(); got != &a.ByKey[0] {
		t.Errorf("of keys that tell no clients apart: %v", got)
	}
}

// Numbers are round up to the first that is not below the last one wanted.
func TestRound(t *testing.T) {
	for last, want := range map[int64][]int64{
		1: {1}, 2: {1, 2}, 3: {1, 2, 5}, 5: {1, 2, 5}, 6: {1, 2, 5, 10}, 101: {1, 2, 5, 10, 20, 50, 100, 200},
	} {
		if got := round(last, 10, 20, 50); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v", last, got)
		}
	}
	if got := round(3, 10, 12, 15, 20); !slices.Equal(got, []int64{1, 2, 10}) {
		t.Errorf("with tenths: %v", got)
	}
}

// Of the stops that keep a promise the first is named behind which all do.
func TestFirstKeeping(t *testing.T) {
	a := &Advice{Question: Question{Goals: []Goal{{Who: 1 << who.Person, Percent: 90_000_000}}}, Whole: new(Whole)}
	a.Whole.Groups[who.Person] = 20
	for _, c := range []struct {
		hit  []int64
		want int
	}{{nil, -1}, {[]int64{3}, -1}, {[]int64{2}, 0}, {[]int64{3, 2, 0}, 1}, {[]int64{2, 3, 2}, 2}, {[]int64{9, 3, 3}, -1}} {
		var stops []Stop
		for _, n := range c.hit {
			stops = append(stops, Stop{Figures: Figures{Hit: who.Groups{who.Person: n}}})
		}
		if got := a.firstKeeping(stops, 90_000_000); got != c.want {
			t.Errorf("%v: %d, want %d", c.hit, got, c.want)
		}
	}
}

// Who is neither protected nor a target is never the client about which an answer asks, and what is refused of it is no part
// of the whole.
func TestHeaviestIsNoBystander(t *testing.T) {
	w := &Whole{Labels: who.Identities{who.Proxy, who.Program, who.Attacker}, Most: []replay.Hit{{Client: 0, Refused: 110}, {Client: 1, Refused: 20}, {Client: 2, Refused: 10}}}
	w.Answer.Refused[who.Proxy], w.Answer.Refused[who.Program], w.Answer.Refused[who.Attacker] = 110, 20, 10
	if hit, found := w.Heaviest(); !found || hit.Client != 1 {
		t.Errorf("%+v, %t", hit, found)
	}
	w.Labels[1] = who.Disguised
	if hit, found := w.Heaviest(); found {
		t.Errorf("%+v is hostile", hit)
	}
	w.Most = w.Most[:1]
	if hit, found := w.Heaviest(); found {
		t.Errorf("%+v is a proxy", hit)
	}
}

// The actions for which the target asks come with most requests first, those with the same by name.
func TestBusiestActions(t *testing.T) {
	w := &Whole{Target: 1 << who.Attacker, Tables: traffic.NewTables()}
	for i, name := range []string{"/c", "/b", "/a", "/rare"} {
		w.Tables.Actions.ID([]byte(name))
		w.targets.Grow(i + 1)
		*w.targets.At(int32(i)) = []int64{40, 25, 25, 9}[i]
	}
	w.Requests[who.Attacker], w.Requests[who.Person] = 99, 1000
	if got := w.Busiest(10); !slices.Equal(got, []int32{0, 2, 1}) {
		t.Errorf("%v", got)
	}
	if got := w.Busiest(60); got != nil {
		t.Errorf("%v", got)
	}
	w.actions.Grow(2)
	*w.actions.At(0), *w.actions.At(1) = 1000, 25
	if w.narrows(0) || !w.narrows(1) {
		t.Error("an action that nearly all ask for is no narrower question")
	}
}

// An answer that is taken back leaves no client that a limit would hit.
func TestForbidLeavesNothing(t *testing.T) {
	hit := &replay.Hit{Client: 1, Refused: 9}
	w := &Whole{Limit: "window:5/1m", Most: []replay.Hit{*hit}, Works: []replay.Hit{*hit}, Harmed: hit, Crawlers: []CrawlerHit{{Name: "bot", Refused: 9}}}
	w.Answer.Hit[who.Person] = 1
	a := &Advice{Whole: w, Broken: hit, Answer: Answer{Limit: "window:5/1m", Of: &Suggestion{}, Broke: "window:4/1m"}}
	a.Forbid()
	if a.Answer != (Answer{Verdict: NotJudgeable, Because: Forbidden}) || a.Broken != nil {
		t.Errorf("%+v, broken on %v", a.Answer, a.Broken)
	}
	if w.Limit != "" || w.Most != nil || w.Works != nil || w.Harmed != nil || w.Answer != (Figures{}) || w.Crawlers[0].Refused != 0 {
		t.Errorf("%+v", w)
	}
	new(Advice).Forbid()
}

// With a scale the answer admits as much as the limit that is pasted does: 12r/m with 34 at once, 45 in less than a minute.
func TestAdmitsWithTheScale(t *testing.T) {
	two, _ := ParseScale("2")
	one, _ := ParseScale("1")
	for scale, want := range map[Scale][2]int64{one: {22, 376}, two: {45, 753}} {
		bucket := &Suggestion{Shape: sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: 6, Per: limit.Minute}}}
		a := &Advice{Question: Question{Scale: scale}, Answer: Answer{Of: bucket, Chosen: Candidate{Limit: 17}}}
		if got := [2]int64{a.Admits(limit.Minute), a.Admits(limit.Hour)}; got != want {
			t.Errorf("%s times: %d, want %d", scale, got, want)
		}
	}
}
