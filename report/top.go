package report

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"
	"strings"
)

// The n best of millions are found with room for 2n: whatever beats the n-th best so far is put aside, and when the
// room is full, its better half stays. That is one comparison for nearly every item, and log n for the rest.

// Top returns the n first of items in the order of compare, sorted.
func Top[T any](items iter.Seq[T], n int, compare func(a, b T) int) []T {
	if n <= 0 {
		return nil
	}
	var best []T
	var last T // the n-th of best, once full
	full := false
	for item := range items {
		if full && compare(item, last) >= 0 {
			continue
		}
		if best = append(best, item); len(best)/2 >= n {
			slices.SortFunc(best, compare)
			best, last, full = best[:n], best[n-1], true
		}
	}
	slices.SortFunc(best, compare)
	return best[:min(n, len(best))]
}

// Sorts are the values of --sort: by what tables of clients and actions are ordered.
func Sorts() []string { return []string{"refused", "requests", "client"} }

// A ranked is what clients and actions are ranked by.
type ranked struct {
	index             int32 // into Hits or Actions
	refused, requests int64
}

// ranking orders by refused or by requests, most first, then by the other of the two, then by name. It never asks for
// an id, which depends on the goroutine that met the name first.
func ranking(sort string, name func(index int32) string) func(a, b ranked) int {
	return func(a, b ranked) int {
		refused, requests := cmp.Compare(b.refused, a.refused), cmp.Compare(b.requests, a.requests)
		if sort == "requests" {
			refused, requests = requests, refused
		}
		if refused != 0 || requests != 0 {
			return cmp.Or(refused, requests)
		}
		return strings.Compare(name(a.index), name(b.index))
	}
}

// compareNames orders addresses by number and before all other names.
func compareNames(a, b string) int {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(x.Compare(y), strings.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}
