package match

import (
	"hash/maphash"

	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/parse"
)

// A Marker finds the marks of requests, for one goroutine. It goes through the requests of a tile once for each
// condition that any scope has. What depends on a name with an id is found once for each id; what depends on a path is
// remembered in a table of fixed size, as a Matcher does.
type Marker struct {
	scopes  *Scopes
	tables  *traffic.Tables
	tiers   *tierFinder
	network *networkFinder
	actions []uint64 // by action id
	hosts   []uint64 // by host id
	agents  []uint64 // by agent id
	paths   []markPlace
}

// A markPlace remembers the bits of one path.
type markPlace struct {
	hash uint64
	bits uint64
	used bool
}

// NewMarker returns a marker for one goroutine, nil for no scopes.
func (s *Scopes) NewMarker(tables *traffic.Tables, clients ClientRule) *Marker {
	if s == nil {
		return nil
	}
	m := &Marker{scopes: s, tables: tables}
	if s.tiers != nil {
		of := s.membership
		m.tiers = &tierFinder{tiers: of, clients: clients, none: uint8(len(of.tiers)), lasting: clients.lasting()}
	}
	if s.networks.asked {
		m.network = &networkFinder{bits: &s.networks, clients: clients}
	}
	if s.byPath() {
		m.paths = make([]markPlace, matcherPlaces)
	}
	return m
}

// Mark fills in the marks of the last rows of b, which are those of the records.
func (m *Marker) Mark(marks []uint64, b *traffic.Batch, records []parse.Record) {
	s, from := m.scopes, len(b.Action)-len(marks)
	for i := range marks {
		marks[i] = s.all
	}
	m.markNames(marks, b, records, from)
	m.markClients(marks, b, records, from)
	m.markRecords(marks, records)
	if s.byStatus {
		for i, status := range b.Status[from:] {
			marks[i] &= s.statuses[min(status, maxStatus)]
		}
	}
	if len(s.groups) > 0 {
		s.combine(marks)
	}
}

// markNames marks what is known by the id of a name: the action, the class, the agent and the host.
func (m *Marker) markNames(marks []uint64, b *traffic.Batch, records []parse.Record, from int) {
	s := m.scopes
	if s.actions.asked() {
		for i, id := range b.Action[from:] {
			marks[i] &= bitsOf(&m.actions, int(id), m.tables.Actions, &s.actions)
		}
	}
	if s.byClass {
		for i, id := range b.Agent[from:] {
			marks[i] &= s.classes[m.tables.Agents.Class(int32(id))]
		}
	}
	if s.agents.asked() {
		for i, id := range b.Agent[from:] {
			marks[i] &= bitsOf(&m.agents, int(id), m.tables.Agents.Names(), &s.agents)
		}
	}
	if s.ByHost() {
		for i, id := range b.Host[from:] {
			if s.upstreamAt >= 0 && logged(records[i].Host) == nil {
				marks[i] &= s.hosts.of(records[i].Extra[s.upstreamAt])
				continue
			}
			marks[i] &= bitsOf(&m.hosts, int(id), m.tables.Hosts, &s.hosts)
		}
	}
}

// markClients marks what depends on who the client is: its tier and its network.
func (m *Marker) markClients(marks []uint64, b *traffic.Batch, records []parse.Record, from int) {
	if m.tiers != nil {
		for i, id := range b.Client[from:] {
			marks[i] &= m.scopes.tiers[m.tiers.find(id, &records[i])]
		}
	}
	if m.network != nil {
		for i, id := range b.Client[from:] {
			marks[i] &= m.network.find(id, &records[i])
		}
	}
}

// markRecords marks what only the records tell: the port, the missing fields, the method and the path.
func (m *Marker) markRecords(marks []uint64, records []parse.Record) {
	s := m.scopes
	if s.ports.asked() {
		for i := range records {
			marks[i] &= s.ports.of(logged(records[i].Extra[s.portAt]))
		}
	}
	if s.values.user != 0 || s.values.values != nil {
		s.values.mark(marks, records)
	}
	if s.methods.asked() {
		for i := range records {
			marks[i] &= s.methods.of(records[i].Method)
		}
	}
	if m.paths != nil {
		for i := range records {
			marks[i] &= m.path(&records[i])
		}
	}
}

// combine takes the marks of scopes away whose groups do not fit, and of those that are a part of groups only.
func (s *Scopes) combine(marks []uint64) {
	for _, g := range s.groups {
		for i, bits := range marks {
			if bits&g.Not != 0 || g.Any != 0 && bits&g.Any == 0 {
				marks[i] &^= 1 << g.Scope
			}
		}
	}
	for i := range marks {
		marks[i] &= s.stated
	}
}

// Fields returns the fields that tiers go by and that some request had since the last call.
func (m *Marker) Fields() (seen uint64) {
	if m.tiers != nil {
		seen, m.tiers.seen = m.tiers.seen, 0
	}
	return seen
}

// bitsOf returns the bits of a name, and remembers those of all ids up to its own.
func bitsOf(known *[]uint64, id int, names *intern.Dict, table interface{ of(name []byte) uint64 }) uint64 {
	for id >= len(*known) {
		*known = append(*known, table.of([]byte(names.Name(int32(len(*known))))))
	}
	return (*known)[id]
}

// path returns the bits of a request's path. What is not HTTP has none, and fits only scopes that do not ask.
func (m *Marker) path(r *parse.Record) uint64 {
	s := m.scopes
	if !IsHTTP(r.Method, r.Path) {
		return s.paths.rest & s.prefixes.rest & s.regexps.rest
	}
	path := URIOf(r, s.nginxPaths)
	h := maphash.Bytes(pathSeed, path)
	p := &m.paths[h%matcherPlaces]
	if p.hash != h || !p.used {
		*p = markPlace{h, s.paths.of(path) & s.prefixes.of(path) & s.regexps.of(path), true}
	}
	return p.bits
}
