package evidence

import (
	"bytes"
	"iter"
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/parse"
)

// Which referers are pages of this site? Few formats tell the site's name. But the files of pages are asked for by
// pages, so the hosts in their referers are the site's, apart from a few that show its images on theirs.

const ownPercent = 10 // of the files asked for at the beginning of the logs: a host with so many is this site's

// splitReferer takes a referer apart: https://shop.example/a?b is shop.example and /a?b.
func splitReferer(referer []byte) (host, target []byte, ok bool) {
	i := bytes.IndexByte(referer, ':')
	if i < 0 || len(referer) < i+3 || string(referer[i:i+3]) != "://" || !match.IsScheme(referer[:i]) {
		return nil, nil, false
	}
	host = referer[i+3:]
	end := bytes.IndexByte(host, '/')
	if end < 0 {
		end = len(host)
	}
	if i := bytes.IndexAny(host[:end], "?#"); i >= 0 {
		end = i
	}
	host, target = host[:end], host[end:]
	if len(target) == 0 || target[0] != '/' {
		target = []byte("/")
	}
	return host, target, true
}

// bareHost returns a host without "www." and port.
func bareHost(host []byte) []byte {
	if i := bytes.LastIndexByte(host, ':'); i >= 0 && !bytes.HasSuffix(host, []byte("]")) {
		host = host[:i]
	}
	if len(host) > 4 && bytes.EqualFold(host[:4], []byte("www.")) {
		host = host[4:]
	}
	return host
}

// OwnHosts counts the hosts in the referers of files at the beginning of an input. A nil ClueFinder counts nothing.
func (t *ClueFinder) OwnHosts(records iter.Seq[*parse.Record]) map[string]int {
	if t == nil || len(t.hosts) > 0 {
		return nil
	}
	counts := map[string]int{}
	for record := range records {
		if host, _, ok := splitReferer(record.Referer); ok && match.IsStatic(match.PathOf(record.Path)) {
			counts[string(intern.LowerASCII(nil, bareHost(host)))]++
		}
	}
	return counts
}

// Learned returns the finder that knows the names of the site, as ownHosts has counted them in each input.
func (t *ClueFinder) Learned(inputs []map[string]int) *ClueFinder {
	if t == nil || len(t.hosts) > 0 {
		return t
	}
	counts, all := map[string]int{}, 0
	for _, hosts := range inputs {
		for host, n := range hosts {
			counts[host] += n
			all += n
		}
	}
	knowing := *t
	for host, n := range counts {
		if 100*n >= ownPercent*all {
			knowing.hosts = append(knowing.hosts, []byte(host))
		}
	}
	slices.SortFunc(knowing.hosts, bytes.Compare)
	return &knowing
}
