package store

import "shadow/replay"

// Names of clients and agents are joined and grouped, which DuckDB cannot do on disk alone: 200,000 addresses at once were too
// many for 64 MB. So it may take as much memory more as it needs for each name, with something to spare.
const (
	nameBytes  = 384 // bytes, whatever its length
	nameCopies = 3
)

// RoomFor are the options with which a database has room for some batches.
func RoomFor(batches []*replay.Addition) Options {
	bytes := 0
	add := func(name string) { bytes += nameBytes + nameCopies*len(encodeText(name)) }
	for _, a := range batches {
		for i := range a.Clients {
			add(a.Clients[i].Name)
		}
		for i := range a.Agents {
			add(a.Agents[i].Name)
		}
	}
	return Options{MemoryMB: defaultMemoryMB + bytes>>20}
}
