package calibrate

import (
	"math"
	"slices"

	"shadow/limit"
)

// Clients that take turns: a job begins when another is done and a pause is over, as by the workers of a queue.
//
//	lane 1   ├──✗──✗──✓ pause ├──✓ pause ├──✗
//	lane 2      ├──✓ pause ├──✗──✗──✗──✓
//
// Others want things at their time.

// An overlap counts jobs that wait while others begin. Where they do not take turns, as many wait when one begins as do
// at any time, in numbers of a Poisson distribution. Where they do, fewer, and no more than some.
type overlap struct {
	clients  float64
	jobs     float64
	lanes    float64 // jobs at a time, at most
	began    float64 // jobs that others waited at the beginning of, once for each of these
	expected float64 // so many would have if they did not wait for one another
	more     float64 // jobs that would have begun while as many waited as lanes
	together float64 // jobs that began much sooner after the one before than on average
}

func (o *overlap) add(p overlap) {
	if p.clients == 0 { // none of its jobs waited
		return
	}
	o.clients += p.clients
	o.jobs += p.jobs
	o.lanes += p.lanes
	o.began += p.began
	o.expected += p.expected
	o.more += p.more
	o.together += p.together
}

// known reports whether enough was seen to say.
func (o *overlap) known() bool { return o.expected >= few }

// inTurn reports whether jobs wait for one another.
func (o *overlap) inTurn() bool {
	if o.began < o.expected/4 {
		return true
	}
	// Of n that take turns, each finds n-1 others, so a share of 1-1/n of what it would find.
	share := 1 - o.clients/o.lanes/2
	return o.began < share*o.expected && o.more >= few*o.clients && o.together < 0.4*o.jobs
}

// pauses finds for each job the one that made way for it: of those that had ended, the one that ended first.
func (c *client) pauses(r *Requests) {
	var ended []limit.Time // of jobs that nothing came after, in order
	starts := make([]limit.Time, len(c.jobs))
	for i := range c.jobs {
		j := &c.jobs[i]
		starts[i] = r.At[j.row]
		if len(ended) > 0 && ended[0] <= starts[i] {
			j.pause = starts[i] - ended[0]
			ended = ended[1:]
		} else {
			j.opens = true
			c.overlap.lanes++
		}
		place, _ := slices.BinarySearch(ended, j.end)
		ended = slices.Insert(ended, place, j.end)
	}
	last := starts[len(starts)-1]
	length := float64(last - starts[0])
	o, waiting := &c.overlap, 0.0
	for i := range c.jobs {
		if end := c.jobs[i].end; end > starts[i] {
			waiting += float64(min(end, last) - starts[i])
			n, _ := slices.BinarySearch(starts, end)
			o.began += float64(n - i - 1)
		}
		if i > 0 && float64(starts[i]-starts[i-1])*float64(len(starts)) < length/10 {
			o.together++
		}
	}
	if waiting == 0 {
		*o = overlap{lanes: o.lanes}
		return
	}
	mean := waiting / length
	o.clients, o.jobs = 1, float64(len(c.jobs))
	o.expected, o.more = mean*o.jobs, o.jobs*poissonAbove(mean, int(o.lanes)-1)
}

// poissonAbove returns the chance of more than n events where some are expected; 0 where they are too many to say.
func poissonAbove(expected float64, n int) float64 {
	if expected > 500 {
		return 0
	}
	p := math.Exp(-expected)
	rest := 1 - p
	for k := 1; k <= n; k++ {
		p *= expected / float64(k)
		rest -= p
	}
	return max(0, rest)
}
