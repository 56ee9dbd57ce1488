package findings

import (
	"fmt"
	"math/bits"

	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report/format"
)

// partial looks at whether requests are missing. The files of a page name it as their referer, so that the client has
// asked for it as well, in any order. Of each client two small sets of pages are kept:
//
//	whole log            every fifth line
//	GET /a               ·
//	GET /a.css  from /a  GET /a.css  from /a     its page is missing
//
// Files that a style sheet asks for, and pages that caches have, make a third of the pages in whole logs missing. A site
// may have browsers name its first page only, so that one counts for nothing.
type partial struct{ *seen }

// Of so many pages of files, in an hour or longer, so many percent must be missing, and of so many percent of the clients
// all of them: where scripts change the address, the page that was asked for is among them.
const (
	leastReferers  = 100
	missingPages   = 70
	missingClients = 40
)

func (l *partial) take(b *traffic.Batch, from, to int) {
	if b.Clues == nil {
		return
	}
	for row := from; row < to; row++ {
		clue, c := &b.Clues[row], l.all.At(b.Client[row])
		c.pages |= setOf(clue.Page)
		if clue.Traits&(traffic.FetchedAsset|traffic.Told) == traffic.FetchedAsset && clue.From != evidence.FrontPage {
			c.referers |= setOf(clue.From)
		}
	}
}

// setOf returns a set that holds a page; of none the empty one.
func setOf(page uint16) uint32 { return uint32(min(page, 1)) << (page % 32) }

func (l *partial) find(s *ingest.Stats) []Finding {
	if l.proxied { // a page and its files may come through different edges
		return nil
	}
	var pages, missing, clients, without int64
	for id := range int32(l.all.Len()) {
		c := l.all.At(id)
		if c.referers == 0 {
			continue
		}
		pages += int64(bits.OnesCount32(c.referers))
		missing += int64(bits.OnesCount32(c.referers &^ c.pages))
		clients++
		if c.referers&c.pages == 0 {
			without++
		}
	}
	if pages < leastReferers || logged(s) < fairSpan || 100*missing < missingPages*pages || 100*without < missingClients*clients {
		return nil
	}
	return []Finding{{
		Code: "partial", Severity: Warn, Share: NoShare,
		Evidence: fmt.Sprintf("clients asked for files of %s, and for %s of these not at all: the log holds a sample of the requests, "+
			"or pages are logged elsewhere, and limits come out too strict", format.Count(pages, "page"), format.Thousands(missing)),
	}}
}

// fileless tells that people read pages and load no file: a server that does not log files counts them in a limit for all.
func (l *clients) fileless() []Finding {
	var readers, pages int64
	for id := range int32(l.all.Len()) {
		if c := l.all.At(id); c.kinds != 0 && who.Browsers.Has(l.is(id)) {
			if c.files > 0 {
				return nil
			}
			readers++
			pages += c.requests()
		}
	}
	if l.kind != People || readers < shouldClients {
		return nil
	}
	return []Finding{{
		Code: "partial", Severity: Warn, Share: NoShare, Evidence: fmt.Sprintf(
			"%s of browsers, and not one file of a page: where the server sends these unlogged, its limit counts them, and is too strict",
			format.Count(pages, "request")),
	}}
}

// logged returns how long a log goes on. A request that took hours began before the others, whose pages are in it.
func logged(s *ingest.Stats) limit.Time {
	from, to := traffic.MaxTime, traffic.MinTime
	for i := range s.Inputs {
		if in := &s.Inputs[i]; in.Parsed > 0 {
			from, to = min(from, in.SeenFrom), max(to, in.SeenTo)
		}
	}
	return max(from, to) - from
}
