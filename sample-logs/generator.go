package samplelogs

import (
	"bufio"
	"io"
	"math"
)

// A Generator writes one log, second by second of its time: everything that begins in a second is filed, the second
// is sorted and written, and of some lines the writing is put off.
type Generator struct {
	config  Config
	random  random
	site    *site
	crowd   *crowd
	actors  []actor
	queue   queue
	writer  lineWriter
	next    int64 // the next visit, microseconds since the Unix epoch
	every   int64 // mean time between visits, microseconds
	known   int64 // clients introduced so far
	end     int64 // second at which the log ends even if lines are missing
	written int64 // lines
}

// New returns a generator of the log that c describes.
func New(c Config) *Generator {
	c = c.withDefaults()
	kinds, shop := agents(), newSite()
	return &Generator{
		config: c,
		random: random{c.Seed},
		site:   shop,
		crowd:  newCrowd(shop, kinds, c.visitors()),
		writer: lineWriter{format: c.Format, site: shop, agents: kinds, address: appendAddress, second: -1},
		next:   c.Start.UnixMicro(),
		every:  c.visitInterval(),
		end:    math.MaxInt64,
		actors: cast(c, kinds),
	}
}

// WriteTo writes the whole log.
func (g *Generator) WriteTo(w io.Writer) (size int64, err error) {
	out := bufio.NewWriterSize(w, 1<<20)
	for second := g.next / 1_000_000; g.written < g.config.Lines && second < g.end; second++ {
		g.fill(second)
		n, err := g.write(out, second)
		size += n
		if err != nil {
			return size, err
		}
	}
	return size, out.Flush()
}

// fill files everything that begins in a second.
func (g *Generator) fill(second int64) {
	end := (second + 1) * 1000
	for i := range g.actors {
		g.actors[i].act(&g.queue, &g.random, g.site, end)
	}
	mean := g.every * 100 / hourly[second/3600%24]
	for ; g.next < end*1000; g.next += 1 + g.random.below(2*mean) {
		g.queue.push(g.crowd.begin(&g.random, int32(g.crowd.ranks.draw(&g.random)), g.next/1000)) // the client of the rank
	}
	g.introduce(second)
	g.queue.expand(second, func(e event) { g.crowd.view(&g.queue, &g.random, e) })
}

// introduce lets clients ask for one page each, in step with the lines, so that all of them appear in the log:
// by rank alone, many of the last would never come.
func (g *Generator) introduce(second int64) {
	all := g.config.visitors()
	due := min(all, (g.written+1)*all/max(1, g.config.Lines*98/100))
	for ; g.known < due; g.known++ {
		e := g.crowd.begin(&g.random, int32(g.known), second*1000+g.random.below(1000))
		e.view = false
		g.queue.push(e)
	}
}

// write takes a second's events out and writes their lines, apart from those that will be late.
func (g *Generator) write(out *bufio.Writer, second int64) (size int64, err error) {
	for _, e := range g.queue.take(second) {
		if g.written == g.config.Lines {
			break
		}
		if e.stamp == 0 {
			e.stamp = e.at
			if g.random.below(10_000) < g.config.Late { // it is logged later, with this stamp
				e.at += g.random.between(1000, 3000)
				g.queue.push(e)
				continue
			}
		}
		n, err := out.Write(g.writer.line(&g.random, &e))
		size += int64(n)
		if err != nil {
			return size, err
		}
		g.written++
	}
	return size, nil
}
