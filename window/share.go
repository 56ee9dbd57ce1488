package window

import (
	"errors"
	"math"
	"math/bits"

	"shadow/limit"
)

// What scripts need to know of the windows. Each one that is made of another says for itself whether it can be shared:
// the script of the other would not do.

// Sharing implements limit.Sharer: the requests in a window, its length, whether refused requests count (0 or 1), and
// whether a request in the last microsecond of the oldest is admitted and not kept (0 or 1).
func (w *Rolling) Sharing() (limit.Sharing, error) { return w.sharing(0, 0) }

// Sharing implements limit.Sharer.
func (w *Attempts) Sharing() (limit.Sharing, error) { return w.sharing(1, 0) }

// Sharing implements limit.Sharer.
func (c *Caddy) Sharing() (limit.Sharing, error) { return c.sharing(0, 1) }

func (w *Rolling) sharing(all, edge int64) (limit.Sharing, error) {
	numbers := []int64{int64(w.count), int64(w.length), all, edge}
	return limit.Sharing{Script: "window", Numbers: numbers, Most: uint64(w.length)}, nil
}

// Sharing implements limit.Sharer: the requests in a window, its length, and whether the first one opens it (0 or 1).
func (w *Fixed) Sharing() (limit.Sharing, error) {
	s := limit.Sharing{
		Script:  "fixed",
		Numbers: []int64{w.count, int64(w.grid.step), limit.Bit(w.first)},
		Most:    max(uint64(w.count), uint64(w.grid.step)),
	}
	if !w.first {
		s.Step = w.grid.step
	}
	return s, nil
}

// Sharing implements limit.Sharer: the requests in a window, its length, and whether refused requests count (0 or 1).
// There is no telling how many refused requests come, but the script multiplies with nothing larger than the count.
func (w *Counter) Sharing() (limit.Sharing, error) {
	if w.strict != 0 {
		return limit.Sharing{}, errors.New("a rounded estimate has no script; one without round can be")
	}
	most, low := bits.Mul64(uint64(w.count), uint64(w.grid.step))
	if most != 0 {
		low = math.MaxUint64
	}
	return limit.Sharing{
		Script:  "counter",
		Numbers: []int64{w.count, int64(w.grid.step), limit.Bit(w.all)},
		Step:    w.grid.step,
		Most:    low,
	}, nil
}

// Sharing implements limit.Sharer: the requests in a period, the period in milliseconds, whether only admitted requests
// count (0 or 1), and for how many milliseconds a key is kept (0: for all).
func (h *HAProxy) Sharing() (limit.Sharing, error) { return h.sharing(0) }

// Sharing implements limit.Sharer.
func (h *HAProxyAdmitted) Sharing() (limit.Sharing, error) { return h.sharing(1) }

func (h *HAProxy) sharing(admitted int64) (limit.Sharing, error) {
	return limit.Sharing{
		Script: "haproxy", Numbers: []int64{h.count, h.period, admitted, int64(h.expire / limit.Millisecond)}, Step: twoMillis, Level: true,
		Most: uint64(mostCounted) * uint64(h.period),
	}, nil
}

// Why approximations are not shared, and what comes nearest.
const approximates = "it only approximates what a service does, by several limits side by side; the nearest that can be is "

// Sharing implements limit.Sharer.
func (w Cloudflare) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New(approximates + "counter")
}

// Sharing implements limit.Sharer.
func (w AWS) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New(approximates + "window with charge=all")
}

// Sharing implements limit.Sharer.
func (w *Stepped) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New("a window in steps has no script; one without step can be")
}
