package shard

import (
	"slices"

	"shadow/internal/traffic"
	"shadow/limit"
)

// Slices are shards by time instead of by key, for limits whose keys cannot be divided: those of the whole site. They
// are packed side by side as others are, but judged one after the other, and each hands on to the next what the limits
// remember, and the requests that are let in behind its end:
//
//	slice 1 ──▶ judge ──▶ what limits remember, late requests ──▶ judge ◀── slice 2
//
// A request is in the slice of its own time, since who packs it does not know how far its log had come by then. A late
// one can be let in behind the end of its slice.

// slice finds the rows of each shard by their times.
func (p *packing) slice(b *traffic.Batch) {
	for row, at := range b.At {
		i, _ := slices.BinarySearch(p.o.Bounds, at+1)
		p.rows[i] = append(p.rows[i], int32(row))
	}
}

// EndAt has the source end before what was let in from a moment on. It must be called before the first Next.
func (c *Source) EndAt(until limit.Time) { c.until = until }

// Held returns the requests that were read and lie behind the end, once Next has returned io.EOF.
func (c *Source) Held() *traffic.Batch { return c.wait }

// HoldRoom returns an empty batch with the columns of those that are held.
func (c *Source) HoldRoom() *traffic.Batch {
	columns := c.columns
	columns.Lines = true
	return traffic.NewBatch(0, columns)
}

// Hold takes in the requests that another source of the same logs held. It must be called before the first Next.
func (c *Source) Hold(b *traffic.Batch) {
	rows := make([]int32, b.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	c.wait.Append(b, rows)
}
