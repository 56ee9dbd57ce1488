package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/textfile"
)

// A Verdict says whether who calls itself a crawler is that crawler.
type Verdict uint8

// The verdicts.
const (
	Unverified Verdict = iota // no file tells the addresses of such a crawler
	Verified                  // it sends from one of its addresses
	Forged                    // it does not
)

var verdictNames = [...]string{"unknown", "verified", "forged"}

// String returns the verdict in a word.
func (v Verdict) String() string { return verdictNames[v] }

// Crawlers are the addresses that crawlers send from, by the files that their owners publish. They are immutable; nil knows
// none.
type Crawlers struct {
	named map[string][]netip.Prefix // by how the crawler's name begins, in lower case
}

// ReadCrawlers reads the files; nil for none. Each is a JSON document with prefixes or addresses anywhere in it, as search
// engines and others publish it, and is named NAME=FILE, or by the crawler: googlebot.json is Googlebot's. Several files may
// be those of one crawler.
func ReadCrawlers(files []string) (*Crawlers, error) {
	if len(files) == 0 {
		return nil, nil
	}
	c := &Crawlers{named: map[string][]netip.Prefix{}}
	for _, text := range files {
		name, file, ok := strings.Cut(text, "=")
		if !ok {
			file = text
			base := filepath.Base(file)
			name = strings.TrimSuffix(base, filepath.Ext(base))
		}
		if name == "" {
			return nil, fmt.Errorf("%q: which crawler? want NAME=FILE", text)
		}
		prefixes, err := readRanges(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name = strings.ToLower(name)
		c.named[name] = append(c.named[name], prefixes...)
	}
	return c, nil
}

// Knows reports whether addresses of a crawler with this name are known.
func (c *Crawlers) Knows(name string) bool {
	if c == nil {
		return false
	}
	name = strings.ToLower(name)
	for begin := range c.named {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// readRanges reads all prefixes and addresses of a JSON document.
func readRanges(file string) ([]netip.Prefix, error) {
	text, err := textfile.Read(file, textfile.Most)
	if err != nil {
		return nil, err
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	prefixes := rangesIn(nil, document)
	if len(prefixes) == 0 {
		return nil, errors.New(`it has no addresses; want {"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}]}, as search engines publish it`)
	}
	return prefixes, nil
}

func rangesIn(prefixes []netip.Prefix, of any) []netip.Prefix {
	switch of := of.(type) {
	case string:
		if p, err := netip.ParsePrefix(of); err == nil {
			return append(prefixes, p.Masked())
		}
		if a, err := netip.ParseAddr(of); err == nil && a.Zone() == "" {
			return append(prefixes, netip.PrefixFrom(a, a.BitLen()))
		}
	case []any:
		for _, v := range of {
			prefixes = rangesIn(prefixes, v)
		}
	case map[string]any:
		for _, v := range of {
			prefixes = rangesIn(prefixes, v)
		}
	}
	return prefixes
}

// Check says whether who calls itself by a name, and sends from an address, is that crawler. Googlebot-Image is one of
// Googlebot's; where names of several files begin it, any of them may be.
func (c *Crawlers) Check(name string, addr netip.Addr) Verdict {
	if c == nil || !addr.IsValid() {
		return Unverified
	}
	name, addr = strings.ToLower(name), addr.Unmap().WithZone("")
	verdict := Unverified
	for begin, prefixes := range c.named {
		if !strings.HasPrefix(name, begin) {
			continue
		}
		verdict = Forged
		if slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return Verified
		}
	}
	return verdict
}
