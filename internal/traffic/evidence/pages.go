package evidence

import (
	"bytes"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FrontPage is the first page of a site.
var FrontPage = pageOf([]byte("/"))

// pageOf returns a hash of a target without its fragment, never 0. What only keeps caches from answering is no part of a page, and
// what says from where on a poll wants to know more neither:
//
//	/stock?of=7&_=1772533557999    /stock?of=7
//	/chat?room=7&since=4711        /chat?room=7
func pageOf(target []byte) uint16 {
	if i := bytes.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	path, query, _ := bytes.Cut(target, []byte("?"))
	h, before := crc32.Update(0, castagnoli, path), []byte("?")
	for more := len(query) > 0; more; {
		var parameter []byte
		if parameter, query, more = bytes.Cut(query, []byte("&")); !passesCaches(parameter) {
			h = crc32.Update(crc32.Update(h, castagnoli, before), castagnoli, parameter)
			before = []byte("&")
		}
	}
	return max(1, uint16(h>>16^h))
}

// passesCaches reports whether a parameter is one that scripts add so that no cache answers, or a cursor: by its name, or a time.
func passesCaches(parameter []byte) bool {
	name, value, _ := bytes.Cut(parameter, []byte("="))
	return passes[string(name)] && len(value) > 0 ||
		times[string(name)] && len(value) >= len("1772533557") && len(bytes.Trim(value, "0123456789.")) == 0
}

var (
	passes = setOf("_", "_t", "_ts", "cb", "rand", "rnd", "random", "nocache", "cachebust", "cachebuster", "ord",
		"since", "since_id", "sinceId", "cursor", "after", "after_id", "afterId", "min_id", "from_id", "fromId", "seq", "next_batch",
		"last", "last_id", "lastId", "lastid", "lastEventId", "last_event_id", "lastMessageId", "last_message_id", "lastUpdate", "last_update")
	times = setOf("t", "ts", "time", "timestamp", "now", "v") // a short number may be that of a topic
)

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}
