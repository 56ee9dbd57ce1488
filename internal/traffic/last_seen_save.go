package traffic

import (
	"cmp"
	"slices"

	"shadow/internal/request"
	"shadow/limit"
)

// What is remembered of keys can be written to a checkpoint, and the keys that were idle for longest can be forgotten
// before their time when there are too many.

// Live returns the keys that are known and not to be forgotten by now.
func (s *LastSeen) Live(now limit.Time) (keys []int32) {
	for key := range int32(s.keys.Len()) {
		if at := s.keys.At(key); at.seq != 0 && !s.forgotten(at, now) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Save writes when keys were seen.
func (s *LastSeen) Save(keys []int32, to *Encoder) {
	latest, seqs := make([]limit.Time, len(keys)), make([]uint64, len(keys))
	for i, key := range keys {
		at := s.keys.At(key)
		latest[i], seqs[i] = at.latest, at.seq
	}
	saveNumbers(to, latest)
	saveNumbers(to, seqs)
}

// Restore reads it, for keys that are below n.
func (s *LastSeen) Restore(keys []int32, n int, from *Decoder) {
	latest, seqs := restoreNumbers[limit.Time](from, len(keys)), restoreNumbers[uint64](from, len(keys))
	if from.err != nil {
		return
	}
	s.keys.Grow(n)
	for i, key := range keys {
		*s.keys.At(key) = keySeen{latest: Bounded(int64(latest[i])), seq: seqs[i]}
	}
}

// Trim forgets those of the live keys that were idle for longest, but for so many as most, and names them.
func (s *LastSeen) Trim(live []int32, most int, release func(key int32)) {
	if len(live) <= most {
		return
	}
	slices.SortStableFunc(live, func(x, y int32) int { return cmp.Compare(s.keys.At(x).seq, s.keys.At(y).seq) })
	for _, key := range live[:len(live)-most] { // of those that were seen at the same time, too
		s.keys.At(key).seq = 0
		release(key)
	}
}

// Save writes keys as names, in a column for each part of what they are made of.
func (l *Timelines) Save(keys []int32, to *Encoder) {
	columns := make([][]int32, len(l.each()))
	for i := len(columns) - 1; i > 0; i-- {
		keys, columns[i] = l.parts[i].joined.split(keys)
	}
	columns[0] = keys
	for i, ids := range columns {
		l.parts[i].save(ids, to)
	}
}

// Restore reads n keys. They are fewer if there are not so many.
func (l *Timelines) Restore(n int, from *Decoder) (keys []int32) {
	for i := range l.each() {
		ids := l.parts[i].restore(n, from)
		if i == 0 {
			keys = ids
		} else {
			keys = l.parts[i].joined.join(keys, ids)
		}
	}
	return keys
}

// plainNames holds the kind of names of each part whose ids are the ids of a table.
var plainNames = map[request.PartKind]NameKind{
	request.PartClient: ClientName, request.PartHost: hostName, request.PartAgent: AgentName, request.PartPath: PathName,
	request.PartAction: ActionName,
}

// senderNames returns the kinds of names that senders have, see valueSender.
func (p *keyPart) senderNames() [2]NameKind {
	if p.Kind == request.PartUser {
		return [...]NameKind{valueSender: userName, clientSender: ClientName}
	}
	return [...]NameKind{valueSender: valueName, clientSender: ClientName}
}

func (p *keyPart) save(ids []int32, to *Encoder) {
	if kind, plain := plainNames[p.Kind]; plain {
		to.saveIDs(kind, ids)
		return
	}
	switch p.Kind {
	case request.PartSite:
	case request.PartNetwork, request.PartASN, request.PartCountry, request.PartOwner:
		members := make([]int32, len(ids))
		for i, id := range ids {
			members[i] = p.networks.members[id]
		}
		to.saveIDs(ClientName, members)
	default:
		ids, kinds := p.senders.split(ids)
		saveNumbers(to, kinds)
		var of [2][]int32
		for i, kind := range kinds {
			of[kind] = append(of[kind], ids[i])
		}
		for kind, names := range p.senderNames() {
			to.saveIDs(names, of[kind])
		}
	}
}

func (p *keyPart) restore(n int, from *Decoder) (ids []int32) {
	if kind, plain := plainNames[p.Kind]; plain {
		return from.restoreIDs(kind, n)
	}
	switch p.Kind {
	case request.PartSite:
		return make([]int32, n)
	case request.PartNetwork, request.PartASN, request.PartCountry, request.PartOwner:
		ids = from.restoreIDs(ClientName, n)
		p.networks = from.tables.networksOf(p.Part)
		for i, client := range ids {
			ids[i] = p.networks.of[client]
		}
		return ids
	}
	kinds := restoreNumbers[int32](from, n)
	var count [2]int
	for i, kind := range kinds {
		if kind != valueSender {
			kinds[i] = clientSender
		}
		count[kinds[i]]++
	}
	var of [2][]int32
	for kind, names := range p.senderNames() {
		of[kind] = from.restoreIDs(names, count[kind])
	}
	for _, kind := range kinds {
		ids, of[kind] = append(ids, of[kind][0]), of[kind][1:]
	}
	return p.senders.join(ids, kinds)
}
