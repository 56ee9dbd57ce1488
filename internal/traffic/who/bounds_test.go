package who

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
)

// one returns a census of one client, of which the record is to be filled in: a hundred steps of a tool.
func one(address, agent string) (*Census, *record) {
	tables := traffic.NewTables()
	tables.Clients.ID([]byte(address))
	tables.Agents.ID([]byte(agent))
	tables.Actions.ID([]byte("/"))
	o := New(Options{Tables: tables, Addresses: true})
	o.learn()
	r := o.records.At(0)
	r.classes[request.Tool], r.steps = 100, 100
	return &Census{observer: o, Identities: make(Identities, 1), missing: -1}, r
}

// Each bound of what makes a monitor, from both sides.
func TestBoundsOfMonitors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *record)
		want   bool
	}{
		"one that is":           {func(*record) {}, true},
		"a monitor by name":     {func(r *record) { r.classes[request.Monitor], r.classes[request.Tool], r.rhythm.votes = 90, 10, 0 }, true},
		"nearly one":            {func(r *record) { r.classes[request.Monitor], r.classes[request.Tool], r.rhythm.votes = 89, 11, 0 }, false},
		"one that is a browser": {func(r *record) { r.classes[request.Browser], r.classes[request.Tool] = 100, 0 }, true},
		"every half hour":       {func(r *record) { r.rhythm.every = 1800 }, true},
		"less often":            {func(r *record) { r.rhythm.every = 1801 }, false},
		"every five seconds":    {func(r *record) { r.rhythm.every, r.rhythm.gaps, r.rhythm.votes = 5, 120, 120 }, true},
		"more often":            {func(r *record) { r.rhythm.every, r.rhythm.gaps, r.rhythm.votes = 4, 150, 150 }, false},
		"more often, by name": {func(r *record) {
			r.rhythm.every, r.rhythm.gaps, r.rhythm.votes, r.files = 4, 150, 150, 0
			r.classes[request.Monitor], r.classes[request.Tool] = 100, 0
		}, true},
		"more often, of the first page": {func(r *record) {
			r.rhythm.every, r.rhythm.gaps, r.rhythm.votes, r.action.votes = 4, 150, 150, 90
		}, false},
		"fewer checks":          {func(r *record) { r.checked = 89 }, false},
		"a file":                {func(r *record) { r.files = 1 }, false},
		"three pages":           {func(r *record) { r.pages = 0b111 }, true},
		"four pages":            {func(r *record) { r.pages = 0b1111 }, false},
		"a form":                {func(r *record) { r.posts = 1 }, false},
		"49 % errors":           {func(r *record) { r.errors = 49 }, true},
		"50 % errors":           {func(r *record) { r.errors = 50 }, false},
		"12 gaps":               {func(r *record) { r.classes[request.Tool], r.checked = 39, 39; r.rhythm.gaps, r.rhythm.votes = 12, 12 }, true},
		"a crowd each time":     {func(r *record) { r.classes[request.Tool], r.checked = 40, 40; r.rhythm.gaps, r.rhythm.votes = 12, 12 }, false},
		"11 gaps":               {func(r *record) { r.classes[request.Tool] = 20; r.rhythm.gaps, r.rhythm.votes = 11, 11 }, false},
		"a fifth of other gaps": {func(r *record) { r.rhythm.votes = 60 }, true},
		"more of them":          {func(r *record) { r.rhythm.votes = 59 }, false},
		"ten minutes of it": {func(r *record) {
			r.classes[request.Tool], r.checked = 60, 60
			r.rhythm.every, r.rhythm.gaps, r.rhythm.votes = 30, 20, 20
		}, true},
		"less than ten minutes": {func(r *record) {
			r.classes[request.Tool], r.checked = 60, 60
			r.rhythm.every, r.rhythm.gaps, r.rhythm.votes = 30, 19, 19
		}, false},
	} {
		census, r := one("192.0.2.1", "probe/1.0")
		r.rhythm, r.pages, r.checked = rhythm{every: 60, gaps: 100, votes: 100}, 1, 90
		c.change(r)
		if got := isMonitor(census, 0, r).identity == Monitor; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// From within a check need not be regular.
func TestBoundsOfChecksFromWithin(t *testing.T) {
	for name, c := range map[string]struct {
		address, action string
		change          func(r *record)
		want            bool
	}{
		"the first page":   {"10.0.0.1", "/", nil, true},
		"from the network": {"192.0.2.1", "/", nil, false},
		"its readiness":    {"10.0.0.1", "GET /READY", nil, true},
		"a shop":           {"10.0.0.1", "/shop", nil, false},
		"a tenth others":   {"10.0.0.1", "/", func(r *record) { r.action.votes = 80 }, true},
		"more of them":     {"10.0.0.1", "/", func(r *record) { r.action.votes = 79 }, false},
		"a form":           {"10.0.0.1", "/", func(r *record) { r.posts = 1 }, false},
		"4 % by browsers":  {"10.0.0.1", "/", func(r *record) { r.classes[request.Browser], r.classes[request.Tool] = 4, 96 }, true},
		"5 % by browsers":  {"10.0.0.1", "/", func(r *record) { r.classes[request.Browser], r.classes[request.Tool] = 5, 95 }, false},
		"9 % errors":       {"10.0.0.1", "/", func(r *record) { r.errors = 9 }, true},
		"10 % errors":      {"10.0.0.1", "/", func(r *record) { r.errors = 10 }, false},
		"12 of it":         {"10.0.0.1", "/", func(r *record) { r.steps = 12 }, true},
		"11 of it":         {"10.0.0.1", "/", func(r *record) { r.steps = 11 }, false},
	} {
		census, r := one(c.address, "probe/1.0")
		r.action = majority{uint16(census.observer.Tables.Actions.ID([]byte(c.action))), 100}
		if c.change != nil {
			c.change(r)
		}
		if got := isMonitor(census, 0, r).identity == Monitor; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The site itself is known by its address, by what its agent says or by the work that it asks of itself.
func TestBoundsOfOwn(t *testing.T) {
	browsers := func(n uint32) func(*record) {
		return func(r *record) { r.classes[request.Browser], r.classes[request.Tool] = n, 100-n }
	}
	for name, c := range map[string]struct {
		address, agent string
		change         func(r *record)
		want           bool
	}{
		"loopback":                  {"127.0.0.1", "curl/8.5.0", nil, true},
		"loopback, 4 % by browsers": {"::1", "curl/8.5.0", browsers(4), true},
		"loopback, 5 % by browsers": {"::1", "curl/8.5.0", browsers(5), false},
		"another address":           {"192.0.2.1", "curl/8.5.0", nil, false},
		"a tenth says so":           {"192.0.2.1", "curl/8.5.0", func(r *record) { r.declared = 10 }, true},
		"less than that":            {"192.0.2.1", "curl/8.5.0", func(r *record) { r.declared = 9 }, false},
		"half of it work":           {"192.0.2.1", "curl/8.5.0", func(r *record) { r.worked, r.together.Active = 50, 5 }, true},
		"less work":                 {"192.0.2.1", "curl/8.5.0", func(r *record) { r.worked, r.together.Active = 49, 49 }, false},
		"a flood of work":           {"192.0.2.1", "curl/8.5.0", func(r *record) { r.worked, r.together.Active = 100, 9 }, false},
		"work by a browser":         {"192.0.2.1", "curl/8.5.0", func(r *record) { browsers(50)(r); r.worked, r.together.Active = 90, 90 }, false},
		"its host":                  {"192.0.2.1", "WordPress/6.5; https://shop.example", nil, true},
		"another host":              {"192.0.2.1", "WordPress/6.5; https://other.example", nil, false},
		"its host by a browser":     {"192.0.2.1", "WordPress/6.5; https://shop.example", browsers(1), false},
		"it logs in":                {"10.1.0.5", "node/1.0", func(r *record) { r.steps, r.tries[answered], r.tries[denied] = 42, 20, 1 }, true},
		"it logs in from outside":   {"192.0.2.1", "node/1.0", func(r *record) { r.steps, r.tries[answered] = 20, 20 }, false},
		"some are wrong":            {"10.1.0.5", "node/1.0", func(r *record) { r.steps, r.tries[answered], r.tries[denied] = 42, 19, 1 }, false},
		"nine are right":            {"10.1.0.5", "node/1.0", func(r *record) { r.steps, r.tries[answered] = 9, 9 }, false},
		"it does more than that":    {"10.1.0.5", "node/1.0", func(r *record) { r.steps, r.tries[answered] = 41, 20 }, false},
	} {
		census, r := one(c.address, c.agent)
		census.hosts = [][]byte{[]byte("shop.example")}
		census.Logins.Tries = [triesCount]int64{denied: 100, answered: 100}
		if c.change != nil {
			c.change(r)
		}
		if got := isOwn(census, 0, r).identity == Own; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Who only says that it works for the site is not let through for that.
func TestClaimsOfOwn(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		change  func(r *record)
		want    bool
	}{
		"says so":    {"192.0.2.1", func(*record) {}, true},
		"works":      {"192.0.2.1", func(r *record) { r.worked, r.together.Active = 90, 90 }, false},
		"floods":     {"192.0.2.1", func(r *record) { r.worked, r.together.Active = 100, 9 }, true},
		"is inside":  {"10.1.0.5", func(*record) {}, false},
		"is the own": {"127.0.0.1", func(*record) {}, false},
	} {
		census, r := one(c.address, "WordPress/6.5; https://shop.example")
		c.change(r)
		if census.Identities = (Identities{Own}); census.Claims(0) != c.want {
			t.Errorf("%s: want %t", name, c.want)
		}
	}
}

// Each bound of what makes an attacker, of a client that fetches no files.
func TestBoundsOfAttackers(t *testing.T) {
	bars := func(n, minutes uint32) func(r *record) {
		return func(r *record) {
			r.classes[request.Tool], r.steps, r.errors, r.barred, r.together.Active = n, n, n, n, minutes
		}
	}
	denies := [triesCount]int64{denied: 100, answered: 100}
	for name, c := range map[string]struct {
		change   func(r *record)
		programs bool // whether the site is one of programs
		want     bool
	}{
		"nothing":              {change: func(*record) {}},
		"half errors":          {change: func(r *record) { r.errors, r.missing, r.failed = 50, 50, 0b11111 }, want: true},
		"fewer errors":         {change: func(r *record) { r.errors, r.missing, r.failed = 49, 49, 0b11111 }},
		"of one action":        {change: func(r *record) { r.errors, r.missing, r.failed, r.lost.votes, r.found = 60, 60, 0b11111, 36, 2 }, want: true},
		"which gave something": {change: func(r *record) { r.errors, r.missing, r.failed, r.lost.votes, r.found = 60, 60, 0b11111, 36, 3 }},
		"and was probed": {change: func(r *record) {
			r.errors, r.missing, r.failed, r.lost.votes, r.found, r.probes = 60, 60, 0b11111, 36, 3, 1
		}, want: true},
		"half of what it may have":          {change: func(r *record) { r.errors, r.missing, r.failed = 30, 20, 0b11111 }},
		"more than half of that":            {change: func(r *record) { r.errors, r.missing, r.failed = 80, 20, 0b11111 }, want: true},
		"on four targets":                   {change: func(r *record) { r.errors, r.missing, r.failed = 50, 50, 0b1111 }},
		"of five steps":                     {change: func(r *record) { r.steps, r.errors, r.missing, r.failed = 5, 5, 5, 0b11111 }, want: true},
		"of four steps":                     {change: func(r *record) { r.steps, r.errors, r.missing, r.failed = 4, 4, 4, 0b11111 }},
		"errors of a program's site":        {change: func(r *record) { r.errors, r.missing, r.failed = 90, 90, 0b11111 }, programs: true},
		"probes of a program's site":        {change: func(r *record) { r.probes = 5 }, programs: true, want: true},
		"five probes":                       {change: func(r *record) { r.probes = 5 }, want: true},
		"four probes":                       {change: func(r *record) { r.probes = 4 }},
		"half of few steps are probes":      {change: func(r *record) { r.steps, r.probes = 8, 4 }, want: true},
		"four probes, and nothing else":     {change: func(r *record) { r.steps, r.probes = 4, 4 }},
		"an answer to one probe":            {change: func(r *record) { r.probes, r.got = 1, 1 }, want: true},
		"a tenth says that it scans":        {change: func(r *record) { r.scans = 10 }, want: true},
		"less than that":                    {change: func(r *record) { r.scans = 9 }},
		"ten wrong passwords":               {change: func(r *record) { r.steps, r.tries[denied] = 30, 10 }, want: true},
		"nine":                              {change: func(r *record) { r.steps, r.tries[denied] = 27, 9 }},
		"less than a fifth was right":       {change: func(r *record) { r.steps, r.tries[denied], r.tries[answered] = 20, 11, 2 }, want: true},
		"a fifth as many were right":        {change: func(r *record) { r.steps, r.tries[denied], r.tries[answered] = 20, 10, 2 }},
		"half of what was not refused":      {change: func(r *record) { r.refused, r.errors, r.missing, r.failed = 80, 10, 10, 0b11111 }, want: true},
		"half of few that were not refused": {change: func(r *record) { r.refused, r.errors, r.missing, r.failed = 81, 10, 10, 0b11111 }},
		"refused alone":                     {change: func(r *record) { r.refused = 100 }},
		"passwords, most of them refused":   {change: func(r *record) { r.steps, r.refused, r.tries[denied] = 90, 60, 10 }, want: true},
		"a thousand denied":                 {change: bars(1000, 166), want: true},
		"a few less":                        {change: bars(999, 166)},
		"more slowly":                       {change: bars(1000, 167)},
		"by a page that is open":            {change: func(r *record) { bars(1000, 166)(r); r.classes[request.Browser] = 1000 }},
		"beside some that are not":          {change: func(r *record) { bars(1000, 166)(r); r.steps = 1112 }},
		"among many other steps":            {change: func(r *record) { r.steps, r.tries[denied] = 31, 10 }},
	} {
		census, r := one("192.0.2.1", "curl/8.5.0")
		census.Logins.Tries, census.programs = denies, c.programs
		c.change(r)
		if got := isAttacker(census, 0, r).identity == Attacker; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Several kinds of browsers at once are behind an inner address, and one after the other are one person's.
func TestTogether(t *testing.T) {
	for name, c := range map[string]struct {
		kinds []uint64
		files int // of so many requests the last is for a file; 0: none is
		every limit.Time
		want  [4]uint32 // minutes: mixed, shown, crowded; kinds
	}{
		"at once":             {[]uint64{1, 2, 4}, 0, 10 * limit.Second, [...]uint32{10, 10, 0, 3}},
		"two at once":         {[]uint64{1, 2}, 0, 10 * limit.Second, [...]uint32{0, 0, 0, 0}},
		"more than three":     {[]uint64{1, 2, 4, 8, 16, 32}, 0, 10 * limit.Second, [...]uint32{10, 10, 0, 6}},
		"one after the other": {[]uint64{1, 2, 4}, 0, limit.Minute, [...]uint32{0, 0, 0, 0}},
		"programs beside":     {[]uint64{0, 1, 0, 2}, 0, 10 * limit.Second, [...]uint32{0, 0, 0, 0}},
		"pages and files":     {[]uint64{1, 1, 2, 2, 4, 4}, 2, 10 * limit.Second, [...]uint32{10, 10, 10, 3}},
		"files alone":         {[]uint64{1, 2, 4}, 1, 10 * limit.Second, [...]uint32{10, 0, 0, 0}},
	} {
		var all Together
		for i := range int(10 * limit.Minute / c.every) {
			file := c.files > 0 && i%c.files == c.files-1
			all.add(limit.Hour+limit.Time(i)*c.every, c.kinds[i%len(c.kinds)], file)
		}
		if got := [...]uint32{all.mixed, all.Shown, all.Crowded, all.Most}; got != c.want || all.Active != 10 {
			t.Errorf("%s: in %d minutes of %d, want %d", name, got, all.Active, c.want)
		}
	}
}

// A person who follows links that lead nowhere is no attacker, as one is who makes targets up.
func TestDeadLinks(t *testing.T) {
	for referer, want := range map[string]Identity{host + "/old": Undecided, "-": Attacker} {
		w := &town{Rand: testneeds.Rand(t, 38, 3), want: map[string][]Identity{}}
		w.people(60)
		for i := range 20 {
			request := fmt.Sprintf("GET /%d/gone", i)
			w.hit(time.Duration(i)*23*time.Second, "198.51.100.9", request, 404, referer, browsers[0])
		}
		w.is("198.51.100.9", want)
		w.compare(t, census(t, "", "", w.write(t)))
	}
}

// A client without a request that counts is undecided, as is one of later, and a log of such clients has no people or bots.
func TestNothingCounts(t *testing.T) {
	tables := traffic.NewTables()
	tables.Clients.ID([]byte("192.0.2.1"))
	for _, warm := range []bool{false, true} {
		o := New(Options{Tables: tables, Addresses: true})
		if warm {
			b := &traffic.Batch{
				At: []limit.Time{0}, Client: []int32{0}, Agent: []uint16{0}, Action: []uint16{0}, Status: []uint16{200},
				Clues: make([]traffic.Clue, 1), Warm: true,
			}
			var group traffic.Group
			group.Sort(b, b.Client, 1)
			o.Take(b, &group)
		}
		c := o.Identify(nil)
		if c.Identities.Of(0) != Undecided || c.Identities.Of(7) != Undecided ||
			len(c.Reasons(0)) != 1 || c.Reasons(7) != nil {
			t.Errorf("warm %v: %v, because %q and %q", warm, c.Identities, c.Reasons(0), c.Reasons(7))
		}
		tally, more := c.Tally(), len(c.Swarms)+len(c.Networks)+len(c.Loots())+len(c.Guessed())
		if tally != [Count]Crowd{} || more > 0 {
			t.Errorf("warm %v: %v", warm, tally)
		}
	}
	var unknown *Register
	if !unknown.Believed(0) {
		t.Error("a client is not believed where it is not known who the clients are")
	}
}

// Who the clients are does not depend on how requests are cut into batches, nor on the ids of clients and agents.
func TestIdentitiesOfAnyCut(t *testing.T) {
	w := &town{Rand: testneeds.Rand(t, 7, 7), want: map[string][]Identity{}}
	w.people(60)
	for i := range 400 {
		client, request := fmt.Sprintf("198.51.100.%d", i%7), fmt.Sprintf("GET /%d", w.IntN(90))
		w.hit(time.Duration(i)*13*time.Second, client, request, []int{200, 404}[i%7%2], "-", w.browser())
	}
	file := w.write(t)
	names := func(r reading) map[string]string {
		c, all := r.census(t, file), map[string]string{}
		for id, is := range c.Identities {
			all[c.observer.Tables.Clients.Name(int32(id))] = fmt.Sprint(is.One(), c.Reasons(int32(id)))
		}
		return all
	}
	whole := names(reading{})
	rng := testneeds.Rand(t, 7, 8)
	cut := names(reading{batch: 1 + rng.IntN(40), change: func(_ *traffic.Batch, tables *traffic.Tables) {
		tables.Agents.ID(fmt.Append(nil, "Agent/", rng.IntN(9)))
	}})
	if len(whole) != 67 || !maps.Equal(whole, cut) {
		t.Errorf("%d clients; whole %v\ncut %v", len(whole), whole, cut)
	}
}

// Who has a right password after many wrong ones is told, where answers tell one from the other.
func TestGuessed(t *testing.T) {
	for _, c := range []struct {
		wrong, people, users int
		want                 []string
	}{{19, 3, 0, nil}, {20, 2, 0, nil}, {20, 3, 0, []string{"198.51.100.9"}}, {20, 0, 2, nil}, {20, 0, 300, []string{"198.51.100.9"}}} {
		wrong, want := c.wrong, c.want
		w := &town{Rand: testneeds.Rand(t, 38, 4), want: map[string][]Identity{}}
		w.people(20)
		for i := range c.people { // who are let in
			client, agent := fmt.Sprintf("81.9.0.%d", i), w.browser()
			end := w.visit(0, client, agent, 8)
			w.hit(end, client, "POST /login", 200, host+"/login", agent)
		}
		for i := range c.users { // of an app, which sends most if they are many
			for range 9 {
				w.hit(w.anytime(), fmt.Sprintf("82.9.%d.%d", i/250, i%250), "GET /api/feed", 200, "-", "okhttp/4.12.0")
			}
			w.hit(w.anytime(), fmt.Sprintf("82.9.%d.%d", i/250, i%250), "POST /login", 200, "-", "okhttp/4.12.0")
		}
		for i := range wrong {
			for _, client := range []string{"198.51.100.8", "198.51.100.9"} {
				w.hit(time.Duration(i)*7*time.Second, client, "POST /login", 401, "-", curl)
			}
		}
		w.hit(time.Hour, "198.51.100.9", "POST /login", 200, "-", curl)
		c := census(t, "", "", w.write(t))
		var names []string
		for _, id := range c.Guessed() {
			names = append(names, c.observer.Tables.Clients.Name(id))
		}
		if !slices.Equal(names, want) {
			t.Errorf("%d wrong passwords: %q got in, want %q", wrong, names, want)
		}
	}
}

// Who only tries passwords may ask for the form before each; who asks once and mistypes some is a person.
func TestOnlyTries(t *testing.T) {
	for r, want := range map[[3]uint32]bool{
		{8, 8, 0}: true, {1, 1, 0}: true, {16, 8, 8}: true, {9, 5, 4}: true, {6, 5, 1}: false, {2, 1, 1}: false, {17, 8, 8}: false,
	} {
		if c := (&record{steps: r[0], tries: [triesCount]uint32{denied: r[1]}, forms: r[2]}); c.onlyTries() != want {
			t.Errorf("%d steps, %d tries, %d forms: %v", r[0], r[1], r[2], !want)
		}
	}
}
