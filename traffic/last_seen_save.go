package traffic

import (
	"math"
	"slices"

	"shadow/limit"
	"shadow/request"
)

// What is remembered of keys can be written to a checkpoint, and the keys that were idle for longest can be forgotten
// before their time when there are too many.

// Live are the keys that are known and not to be forgotten by now.
func (s *LastSeen) Live(now limit.Time) (keys []int32) {
	for key := range int32(s.keys.Len()) {
		if at := s.keys.At(key); at.seq != 0 && !s.forgotten(at, now) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Save writes when a key was seen.
func (s *LastSeen) Save(key int32, to *Encoder) {
	at := s.keys.At(key)
	to.Int(int64(at.latest))
	to.Uint(at.seq)
}

// Restore reads it, for a key that is below keys.
func (s *LastSeen) Restore(key int32, keys int, from *Decoder) {
	s.keys.Grow(keys)
	*s.keys.At(key) = keySeen{latest: Bounded(from.Int()), seq: from.Uint()}
}

// Trim forgets those of the live keys that were idle for longest, but for so many as most, and names them.
func (s *LastSeen) Trim(live []int32, most int, release func(key int32)) {
	if len(live) <= most {
		return
	}
	seqs := make([]uint64, len(live))
	for i, key := range live {
		seqs[i] = s.keys.At(key).seq
	}
	slices.Sort(seqs)
	least := uint64(math.MaxUint64) // the keys from this time on stay
	if most > 0 {
		least = seqs[len(seqs)-most]
	}
	for _, key := range live {
		if at := s.keys.At(key); at.seq < least {
			at.seq = 0
			release(key)
		}
	}
}

// Save writes the key as names.
func (l *Timelines) Save(key int32, to *Encoder) {
	who := l.By.Who()
	if who == l.By {
		l.saveWho(who, key, to)
		return
	}
	sender, action := l.actions.of(key)
	l.saveWho(who, sender, to)
	to.Action(uint16(action))
}

// saveWho writes a key that has no action beside it.
func (l *Timelines) saveWho(who request.Key, key int32, to *Encoder) {
	switch who {
	case request.ByClient:
		to.Client(key)
	case request.ByAction:
		to.Action(uint16(key))
	case request.ByHost:
		to.Host(key)
	case request.ByClientAgent:
		client, agent := l.senders.of(key)
		to.Client(client)
		to.Agent(uint16(agent))
	case request.ByClientPath:
		client, path := l.senders.of(key)
		to.Client(client)
		to.Path(path)
	case request.ByUser:
		id, kind := l.senders.of(key)
		to.Uint(uint64(kind))
		if kind == userSender {
			to.User(id)
		} else {
			to.Client(id)
		}
	case request.ByClient24, request.ByClient64:
		to.Client(l.networks.members[key])
	}
}

// Restore reads a key.
func (l *Timelines) Restore(from *Decoder) (key int32) {
	who := l.By.Who()
	key = l.restoreWho(who, from)
	if who != l.By {
		key = l.actions.id(key, int32(from.Action()))
	}
	return key
}

func (l *Timelines) restoreWho(who request.Key, from *Decoder) int32 {
	switch who {
	case request.ByClient:
		return from.Client()
	case request.ByAction:
		return int32(from.Action())
	case request.ByHost:
		return from.Host()
	case request.ByClientAgent:
		client := from.Client()
		return l.senders.id(client, int32(from.Agent()))
	case request.ByClientPath:
		client := from.Client()
		return l.senders.id(client, from.Path())
	case request.ByUser:
		if from.Uint() == userSender {
			return l.senders.id(from.User(), userSender)
		}
		return l.senders.id(from.Client(), clientSender)
	case request.ByClient24, request.ByClient64:
		client := from.Client()
		l.networks.take(who, from.tables.Clients)
		if from.err == nil {
			return l.networks.of[client]
		}
	}
	return 0
}

// Count is how many keys the tables know.
func (l *Timelines) Count(t *Tables) int {
	switch l.By {
	case request.ByClient:
		return t.Clients.Len()
	case request.ByAction:
		return t.Actions.Len()
	case request.ByHost:
		return t.Hosts.Len()
	case request.BySite:
		return 1
	case request.ByClientAgent, request.ByClientPath, request.ByUser:
		return len(l.senders.ids)
	case request.ByClient24, request.ByClient64:
		return l.networks.n
	}
	return len(l.actions.ids)
}
