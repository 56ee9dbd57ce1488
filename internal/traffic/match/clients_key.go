package match

import (
	"bytes"
	"net/netip"

	"shadow/parse"
)

// absent is the client that does not say who it is.
var absent = []byte("-")

// An Extractor finds the client of records, for one goroutine.
type Extractor struct {
	rule  ClientRule
	plain bool   // the address as logged
	buf   []byte // room for a key that is not part of the line
}

// NewExtractor returns an extractor for one goroutine.
func (r ClientRule) NewExtractor() *Extractor {
	return &Extractor{rule: r, plain: r.plain(), buf: make([]byte, 0, 64)}
}

// Key returns the client's name, "-" if the record does not tell it. It is valid until the next call of Key, and no
// longer than the record. It does not allocate.
func (e *Extractor) Key(r *parse.Record) []byte {
	if key := r.Client; e.plain && len(key) > 0 && key[0] != ':' {
		return key
	}
	if key := e.key(r); len(key) > 0 {
		return key
	}
	return absent
}

// key works as Key for all rules but the plain address, and for addresses that may be IPv4 in their IPv6 form. So write
// servers that take both on one socket (nginx: listen [::]:80 ipv6only=off): ::ffff:192.0.2.7 is who elsewhere is
// 192.0.2.7.
func (e *Extractor) key(r *parse.Record) []byte {
	switch e.rule.source {
	case fromUser:
		return r.User
	case fromHost:
		return r.Host
	case fromAgent:
		return r.Agent
	case fromReferer:
		return r.Referer
	case fromExtra:
		return r.Extra[0]
	}
	addr, ok := e.rule.address(r)
	if !ok || e.plain && !addr.Is4() {
		return r.Client // a host name, or an address as logged
	}
	return e.text(addr)
}

// address returns the client's address; false if it has none. A rule for something else takes the peer's.
func (r *ClientRule) address(record *parse.Record) (netip.Addr, bool) {
	addr, ok := parse.Addr(record.Client)
	if r.forwarded && (ok || len(record.Client) == 0) {
		addr, _ = r.walk(addr, record)
	}
	return addr, addr.IsValid()
}

// walk follows the proxies' list from the right, beginning with the peer, to the first address that is not trusted. A
// peer that was not logged is trusted: another one could not have reached a server that asks for such a rule.
// What cannot be read was not written by a proxy we trust: the walk ends at the last address that could be. Left is what
// of the list lies beyond.
func (r *ClientRule) walk(addr netip.Addr, record *parse.Record) (client netip.Addr, left []byte) {
	list := record.Forwarded
	if r.extra != "" {
		list = record.Extra[0]
	}
	for len(list) > 0 && (!addr.IsValid() || within(r.trusted, addr)) {
		comma := bytes.LastIndexByte(list, ',')
		next, ok := parse.Addr(hostOf(list[comma+1:]))
		if !ok {
			break
		}
		addr, list = next, list[:max(comma, 0)]
	}
	return addr, list
}

// text writes an address, or the prefix that it belongs to.
func (e *Extractor) text(addr netip.Addr) []byte {
	if !e.rule.prefix {
		e.buf = addr.AppendTo(e.buf[:0])
		return e.buf
	}
	bits := e.rule.v4
	if addr.Is6() {
		bits = e.rule.v6
	}
	if bits == addr.BitLen() {
		e.buf = addr.AppendTo(e.buf[:0])
		return e.buf
	}
	p, _ := addr.Prefix(bits) // bits are in range
	e.buf = p.AppendTo(e.buf[:0])
	return e.buf
}
