package traffic

import (
	"cmp"
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
	latest, seqs := restoreNumbers[limit.Time](from, nil, len(keys)), restoreNumbers[uint64](from, nil, len(keys))
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

// Save writes keys as names: what they are made of, in one column or two, and in another one the action beside it.
func (l *Timelines) Save(keys []int32, to *Encoder) {
	who, actions := l.By.Who(), []int32(nil)
	if who != l.By {
		keys, actions = l.actions.split(keys)
	}
	switch who {
	case request.ByClient:
		saveNames(to, clientName, keys)
	case request.ByAction:
		saveNames(to, actionName, keys)
	case request.ByHost:
		saveNames(to, hostName, keys)
	case request.ByClientAgent, request.ByClientPath:
		clients, others := l.senders.split(keys)
		saveNames(to, clientName, clients)
		saveNames(to, besideClient(who), others)
	case request.ByUser:
		ids, kinds := l.senders.split(keys)
		saveNumbers(to, kinds)
		for i, kind := range kinds {
			saveNames(to, senderNames[kind], ids[i:i+1])
		}
	case request.ByClient24, request.ByClient64:
		members := make([]int32, len(keys))
		for i, key := range keys {
			members[i] = l.networks.members[key]
		}
		saveNames(to, clientName, members)
	}
	saveNames(to, actionName, actions)
}

// besideClient is what is beside the client in a key of two.
func besideClient(who request.Key) nameKind {
	if who == request.ByClientAgent {
		return agentName
	}
	return pathName
}

// senderNames are what senders are, see userSender.
var senderNames = [...]nameKind{userSender: userName, clientSender: clientName}

// Restore reads n keys. They are fewer if there are not so many.
func (l *Timelines) Restore(n int, from *Decoder) (keys []int32) {
	who := l.By.Who()
	switch who {
	case request.ByClient:
		keys = restoreNames(from, clientName, keys, n)
	case request.ByAction:
		keys = restoreNames(from, actionName, keys, n)
	case request.ByHost:
		keys = restoreNames(from, hostName, keys, n)
	case request.BySite:
		keys = make([]int32, n)
	case request.ByClientAgent, request.ByClientPath:
		clients := restoreNames[int32](from, clientName, nil, n)
		keys = l.senders.join(clients, restoreNames[int32](from, besideClient(who), nil, n))
	case request.ByUser:
		kinds, ids := restoreNumbers[int32](from, nil, n), []int32(nil)
		for i, kind := range kinds {
			if kind != userSender {
				kinds[i] = clientSender
			}
			ids = restoreNames(from, senderNames[kinds[i]], ids, 1)
		}
		if slices.Contains(ids, NoUser) {
			from.Fail(errNoName)
		}
		keys = l.senders.join(ids, kinds)
	case request.ByClient24, request.ByClient64:
		keys = restoreNames(from, clientName, keys, n)
		l.networks.take(who, from.tables.Clients)
		for i, client := range keys {
			keys[i] = l.networks.of[client]
		}
	}
	if who != l.By {
		keys = l.actions.join(keys, restoreNames[int32](from, actionName, nil, n))
	}
	return keys
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
		return l.senders.n
	case request.ByClient24, request.ByClient64:
		return len(l.networks.members)
	}
	return l.actions.n
}
