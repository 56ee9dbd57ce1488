package samplelogs

// Visitors come by chance, each according to the species of its agent. A browser views a page, fetches most of what
// it shows within three seconds and often follows a link; what it has in its cache it does not ask for again.

// linesPerVisit is the number of lines of a visit, its further page views and all assets included, in hundredths;
// measured.
const linesPerVisit = 690

// hourly is the daily rhythm: visits in each hour (UTC) as a percentage of the mean.
var hourly = [24]int64{
	45, 35, 28, 25, 27, 38, 60, 85, 108, 122, 128, 130,
	132, 128, 124, 122, 125, 134, 148, 160, 165, 148, 116, 67,
}

// A crowd is all visitors.
type crowd struct {
	site   *site
	ranks  zipf    // which client comes next: few come often
	pages  zipf    // which page is looked at
	agents []int16 // a client's agent is one of these, by weight
	kinds  []agent
}

func newCrowd(s *site, kinds []agent, clients int64) *crowd {
	c := &crowd{site: s, ranks: newZipf(clients, 32), pages: newZipf(int64(s.pages.count), 8), kinds: kinds}
	for i, a := range kinds {
		for range a.weight {
			c.agents = append(c.agents, int16(i))
		}
	}
	return c
}

// begin lets a client begin a visit at a moment.
func (c *crowd) begin(r *random, client int32, at int64) event {
	kind := c.agents[mix(uint64(client)^0xa6e)%uint64(len(c.agents))]
	e := event{at: at, client: client, agent: kind, view: true, referer: none}
	switch c.kinds[e.agent].species {
	case tool:
		e.target = c.site.api.at(r.below(int64(c.site.api.count)))
		return e
	case browser:
		if r.perMille(300) {
			e.referer = outside
		}
	case crawler:
		if r.perMille(40) {
			e.target = c.site.robots
			return e
		}
	}
	e.target = c.page(r)
	return e
}

func (c *crowd) page(r *random) int32 {
	if r.perMille(120) {
		return c.site.home
	}
	return c.site.pages.at(c.pages.draw(r))
}

// view pushes what follows from a page view: the page's own line, its assets, perhaps the next view.
func (c *crowd) view(q *queue, r *random, e event) {
	e.view = false
	q.push(e)
	if c.kinds[e.agent].species == browser {
		c.fetchAssets(q, r, e)
	}
	if r.perMille(550) {
		c.follow(q, r, e)
	}
}

// fetchAssets asks for the page's assets from the first one that is not in the cache.
func (c *crowd) fetchAssets(q *queue, r *random, page event) {
	assets := c.site.targets[page.target].assets
	if len(assets) > 0 {
		switch cached := r.below(100); {
		case cached < 40:
			assets = assets[:0]
		case cached < 94:
			assets = assets[min(4, len(assets)):]
		}
	}
	e := page
	e.referer = page.target
	for _, asset := range assets {
		e.target = asset
		e.at += r.between(20, 380)
		q.push(e)
	}
}

// follow pushes the same client's next view.
func (c *crowd) follow(q *queue, r *random, page event) {
	e := page
	e.view = true
	e.at += r.between(6000, 110000)
	switch c.kinds[page.agent].species {
	case tool:
		e.target = c.site.api.at(r.below(int64(c.site.api.count)))
	case browser:
		e.target, e.referer = c.page(r), page.target
	default:
		e.target = c.page(r)
	}
	q.push(e)
}
