package traffic

// A Key is a way to tell whose bucket a request falls into. Package policy, which does not know of batches, calls them
// the same and numbers them alike.
type Key uint8

// The keys.
const (
	ByClient Key = iota
	ByClientAction
	ByAction
	ByHost
	BySite
	KeyCount
)

var keyNames = [KeyCount]string{"client", "client+action", "action", "host", "site"}

// String is the key as --by takes it.
func (k Key) String() string { return keyNames[k] }

// Shared tells whether requests of several clients fall into one bucket.
func (k Key) Shared() bool { return k != ByClient && k != ByClientAction }

// Timelines sort batches by one key.
type Timelines struct {
	Group
	By     Key
	Column []int32 // the key of each row of the batch
	Len    int     // how many keys there are
	pairs  pairs   // for client+action
}

// Take makes the group the timelines of the batch.
func (l *Timelines) Take(b *Batch, t *Tables) {
	l.fill(b, t)
	l.Sort(b, l.Column, l.Len)
}

// fill makes the column of keys.
func (l *Timelines) fill(b *Batch, t *Tables) {
	switch l.By {
	case ByClient:
		l.Column, l.Len = b.Client, t.Clients.Len()
	case ByHost:
		l.Column, l.Len = b.Host, t.Hosts.Len()
	case ByAction:
		l.Column = l.Column[:0]
		for _, action := range b.Action {
			l.Column = append(l.Column, int32(action))
		}
		l.Len = t.Actions.Len()
	case ByClientAction:
		l.Column = l.Column[:0]
		for i, client := range b.Client {
			l.Column = append(l.Column, l.pairs.id(client, b.Action[i]))
		}
		l.Len = len(l.pairs.ids)
	case BySite:
		l.Column = append(l.Column, make([]int32, max(0, b.Len()-len(l.Column)))...)[:b.Len()]
		l.Len = 1
	}
}

// pairs gives each pair of client and action that occurs a dense id.
type pairs struct {
	ids   map[uint64]int32
	order []uint64 // the pairs by id, as far as anybody asked
}

func (p *pairs) id(client int32, action uint16) int32 {
	if p.ids == nil {
		p.ids = map[uint64]int32{}
	}
	pair := uint64(client)<<16 | uint64(action)
	id, ok := p.ids[pair]
	if !ok {
		id = int32(len(p.ids))
		p.ids[pair] = id
	}
	return id
}

// of is the pair with an id.
func (p *pairs) of(id int32) uint64 {
	if len(p.order) < len(p.ids) {
		p.order = make([]uint64, len(p.ids))
		for pair, id := range p.ids {
			p.order[id] = pair
		}
	}
	return p.order[id]
}
