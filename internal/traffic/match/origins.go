package match

import (
	"bytes"
	"hash/crc32"
	"hash/maphash"
	"net/netip"

	"shadow/parse"
)

// A server that stands behind proxies logs their addresses, and finds the client's in a header. It shows in the header,
// which names another address again and again. The client itself may have written entries of its own in front.
//
//	client     header                      origin         leftmost
//	10.0.0.1   192.0.2.7                   192.0.2.7      192.0.2.7, an address
//	10.0.0.1   8.8.8.8, 192.0.2.7          192.0.2.7      8.8.8.8, an address that no proxy has vouched for
//	10.0.0.1   10.9.9.9, 192.0.2.7         192.0.2.7      10.9.9.9, which no public host has
//	10.0.0.1   unknown, 192.0.2.7          192.0.2.7      unknown, which is no address
//	192.0.2.7  192.0.2.7, 198.51.100.1     none: the log has the client's address already
//	192.0.2.7  8.8.8.8, 192.0.2.7          none           8.8.8.8, an address that no proxy has vouched for

// An Entry says what the first entry of a list is.
type Entry uint32

// What an entry may be, in the last two bits of the column Leftmost.
const (
	PublicEntry  Entry = iota // an address that a public host may have
	PrivateEntry              // one of a network that is not on the public internet
	NobodysEntry              // one that no host has: unspecified, multicast, for documents
	NoAddress                 // no address
	EntryCount
)

// EntryOf returns the entry that a value of the column Leftmost says.
func EntryOf(leftmost uint32) Entry { return Entry(leftmost) % EntryCount }

// Origins finds the addresses that headers of proxies name behind clients, for one goroutine.
type Origins struct {
	rule ClientRule
	seen [1 << 10]origin // by hash of the list: the same ones come again and again
}

type origin struct {
	list             uint64 // hash of client and list; 0: none
	origin, leftmost uint32
}

// NewOrigins returns what finds origins beyond the clients of a rule, for one goroutine.
func (r ClientRule) NewOrigins() *Origins { return &Origins{rule: r} }

// Of returns hashes of the address that is named behind the client of a record, and of the first entry of the list; 0,
// 0 if no other address is named. Of a record without a client it returns the address alone. It does not allocate.
func (o *Origins) Of(r *parse.Record) (at, leftmost uint32) {
	if len(r.Forwarded) == 0 && len(o.rule.extra) == 0 {
		return 0, 0
	}
	peer, ok := parse.Addr(r.Client)
	if !ok && len(r.Client) == 0 && !o.rule.forwarded {
		at, _ = originOf(peer, r.Forwarded)
	}
	if !ok {
		return at, 0
	}
	list := r.Forwarded
	if o.rule.forwarded {
		peer, list = o.rule.walk(peer, r)
	}
	if len(list) == 0 || string(list) == "-" {
		return 0, 0
	}
	hash := maphash.Bytes(originSeed, list) ^ uint64(addrHash(peer))<<32 | 1
	s := &o.seen[hash>>(64-10)]
	if s.list != hash {
		*s = origin{list: hash}
		s.origin, s.leftmost = originOf(peer, list)
	}
	return s.origin, s.leftmost
}

// originSeed prevents clients from writing a list that is taken for another.
var originSeed = maphash.MakeSeed()

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// originOf reads a list from the right: the first public address is the origin, or else the first entry that is one.
func originOf(peer netip.Addr, list []byte) (at, leftmost uint32) {
	var found netip.Addr
	own := false // whether the list names the peer: the log has the client's address already
	for rest := list; rest != nil; {
		var entry []byte
		if comma := bytes.LastIndexByte(rest, ','); comma >= 0 {
			entry, rest = rest[comma+1:], rest[:comma]
		} else {
			entry, rest = rest, nil
		}
		addr, ok := parse.Addr(hostOf(entry))
		if ok && addr == peer {
			if own = true; rest == nil {
				return 0, 0
			}
		}
		if ok && (!found.IsValid() || within(privateNetworks, found)) {
			found = addr
		}
		if rest == nil {
			leftmost = leftmostOf(entry, addr, ok)
		}
	}
	if own || !found.IsValid() {
		return 0, leftmost
	}
	return addrHash(found) | 1, leftmost
}

func leftmostOf(entry []byte, addr netip.Addr, ok bool) uint32 {
	what, hash := NoAddress, crc32.Update(0, castagnoli, entry)
	if ok {
		what, hash = entryOf(addr), addrHash(addr)
	}
	return max(uint32(EntryCount), hash)&^uint32(EntryCount-1) | uint32(what)
}

func entryOf(addr netip.Addr) Entry {
	switch {
	case within(privateNetworks, addr):
		return PrivateEntry
	case !addr.IsGlobalUnicast() || within(reservedNetworks, addr):
		return NobodysEntry
	}
	return PublicEntry
}

// reservedNetworks holds the networks that IANA has set aside for no host of the internet: RFC 1122, 2544, 6890.
var reservedNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
}

func addrHash(addr netip.Addr) uint32 {
	b := addr.As16()
	return crc32.Update(0, castagnoli, b[:])
}

// IsPrivate reports whether an address is of a network that is not on the public internet.
func IsPrivate(addr netip.Addr) bool { return within(privateNetworks, addr) }
