package samplelogs

// Actors are the clients that a rate limit is meant for, and those that it must not hit: scrapers that walk the
// catalogue, a client that tries passwords, monitors at exact intervals, callers of the programming interface. Each
// acts by itself: for a while at its own pace, then it pauses.

type role uint8

const (
	scraper role = iota
	passwords
	watcher
	caller
)

// An actor acts at next, then every pace milliseconds (± a quarter, unless it is a watcher) until its run ends.
type actor struct {
	role   role
	client int32
	agent  int16
	next   int64 // milliseconds since the Unix epoch
	until  int64 // end of the run
	pace   int64 // milliseconds
	run    int64 // length of a run, milliseconds
	pause  int64 // between runs, milliseconds
	walked int64 // how far a scraper has come

	limited bool // the server already answers four of five tries of passwords with 429
}

// act pushes what the actor does before the end of a second.
func (a *actor) act(q *queue, r *random, s *site, end int64) {
	for a.next < end {
		q.push(a.request(r, s))
		if a.role == watcher {
			a.next += a.pace
			continue
		}
		a.next += r.between(a.pace*3/4, a.pace*5/4)
		if a.next >= a.until {
			a.next = a.until + r.between(a.pause*3/4, a.pause*5/4)
			a.until = a.next + a.run
		}
	}
}

func (a *actor) request(r *random, s *site) event {
	e := event{at: a.next, client: a.client, agent: a.agent, referer: none}
	switch a.role {
	case watcher:
		e.target, e.status = s.health, 200
	case passwords:
		e.target, e.status = s.login, 401
		switch chance := r.below(1000); {
		case a.limited && chance >= 200:
			e.status = 429
		case chance < 2: // hardly ever the password fits
			e.status = 302
		}
	case scraper: // goes through the catalogue: a listing, then ten products
		a.walked++
		if step := a.walked / 11; a.walked%11 == 0 {
			e.target = s.listings.at(step % int64(s.listings.count))
		} else {
			e.target = s.products.at((a.walked*3 + int64(a.client)) % int64(s.products.count))
		}
	case caller:
		e.target = s.api.at(r.below(int64(s.api.count)))
	}
	return e
}

const (
	heavyActors        = 24
	watchers           = 6
	castSize           = heavyActors + watchers
	watcherLinesPerDay = 1440 + 5*288
)

// cast puts the actors of a large log on stage; their client numbers follow those of the visitors.
func cast(c Config, kinds []agent) []actor {
	start := c.Start.UnixMilli()
	list := make([]actor, 0, castSize)
	for i := range int64(watchers) {
		a := actor{role: watcher, next: start + 700*i, pace: 300_000, agent: firstOf(kinds, monitor) + int16(i)}
		if i == 0 {
			a.pace = 60_000
		}
		list = append(list, a)
	}
	if c.Heavy > 0 {
		list = append(list, heavies(c, kinds, start)...)
	}
	for i := range list {
		list[i].client = int32(c.visitors()) + int32(i)
	}
	return list
}

// heavies are scrapers and password guessers, whose pauses are such that they come to c.Heavy of the lines.
func heavies(c Config, kinds []agent, start int64) []actor {
	const run = 600_000
	perDay := max(1, c.PerDay*c.Heavy/1000/heavyActors) // lines of each
	list := make([]actor, heavyActors)
	for i := range list {
		a := actor{role: scraper, agent: int16(i % 3), pace: 500 + 150*int64(i), run: run}
		switch i % 4 {
		case 1:
			a.agent = firstOf(kinds, tool) + int16(i)
		case 3:
			a.role, a.agent = passwords, firstOf(kinds, tool)+int16(i)-3
		}
		runsPerDay := max(1, perDay*a.pace/run)
		a.pause = max(1000, 86_400_000/runsPerDay-run)
		a.next = start + a.pause*int64(i)/heavyActors
		a.until = a.next + run
		list[i] = a
	}
	return list
}

func firstOf(kinds []agent, s species) int16 {
	for i, k := range kinds {
		if k.species == s {
			return int16(i)
		}
	}
	panic("samplelogs: no agent of that species")
}
