package who

import (
	"math"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/useragent"
	"shadow/limit"
)

// Options say what is observed, and by which rules it is judged.
type Options struct {
	Tables *traffic.Tables
	Rules  *evidence.Rules // of what browsers do; nil: evidence.DefaultRules
	// Addresses says that clients are whole addresses.
	Addresses bool
	Known     network.Known // what files of the user tell of addresses
}

// An Observer takes in the batches of a log, in order, and tells at the end who the clients are.
type Observer struct {
	Options
	records  intern.PagedSlice[record]
	browsing intern.PagedSlice[evidence.Summary] // of what each client did as a browser
	agents   []agentFacts                        // by agent id
	spoils   map[spoil]int64                     // what was given away, in requests
	welcomes map[uint32]*welcome                 // by the bytes of the answer
	askers   []askers                            // by action id
	total    int64
}

// askers are the requests of an action that are no files, by who asks.
type askers struct {
	readers  int64 // browsers that fetch files
	idlers   int64 // browsers that fetched none so far
	programs int64 // tools and apps that name themselves
	installs int64 // of these, what fetches packages, which scrapes no pages
	given    sizes // what must not be public apart
}

// sizes are the least and the most bytes of some answers; the zero one is that of none.
type sizes struct{ least, most uint32 }

func (s *sizes) add(bytes uint32) {
	if bytes == 0 {
		return
	}
	if s.most == 0 || bytes < s.least {
		s.least = bytes
	}
	s.most = max(s.most, bytes)
}

// add counts a request of an agent, of a client that has fetched files or not.
func (by *askers) add(a *agentFacts, files bool) {
	switch {
	case a.kind != 0 && files:
		by.readers++
	case a.kind != 0:
		by.idlers++
	case a.class == request.Tool, a.class == request.Unknown && a.nameless == 0:
		by.programs++
		if a.installs {
			by.installs++
		}
	}
}

// sameFor reports whether all answers are one page, as an answer of so many bytes is: some of these change with what was
// asked for.
func (s *sizes) sameFor(bytes uint32) bool {
	return s.most > 0 && nearly(s.least, s.most) && (nearly(bytes, s.least) || nearly(bytes, s.most))
}

// nearly reports whether two sizes differ by a fiftieth or less, or by the length of a path.
func nearly(x, y uint32) bool {
	least, most := min(x, y), max(x, y)
	return most-least <= max(16, least/50)
}

// A spoil is something that must not be public and was given to a client.
type spoil struct {
	client int32
	action uint16
	target int32 // Tables.Paths
	bytes  uint32
}

// mostSpoils is the most that are remembered: a log must not make memory grow by answers of ever other sizes.
const mostSpoils = 1 << 16

// agentFacts holds what is asked of an agent for each request.
type agentFacts struct {
	kind     uint64 // as a set; 0: no browser
	set      uint16 // for evidence
	class    request.Class
	says     bool   // whether one of the following is 1
	nameless uint32 // 1: it says nothing
	own      uint32 // 1: it says that it is the site's own
	scans    uint32 // 1: it says that it scans
	delivers uint32 // 1: it says that it is a delivery network
	app      bool   // whether it says that it is the browser within an app or a device, which need not show pages
	installs bool   // whether it says that it fetches packages
	clones   bool   // whether it says that it is git, which reads public repositories as files
	mails    bool   // whether it says that it fetches the pictures of mails for those who read them
	crawler  string // what it calls itself; "" of what does not say that it is one
}

// New returns an Observer that has seen nothing.
func New(o Options) *Observer {
	if o.Rules == nil {
		o.Rules = &evidence.DefaultRules
	}
	return &Observer{Options: o, spoils: map[spoil]int64{}, welcomes: map[uint32]*welcome{}}
}

// Take takes in a batch with clues, of which clients are the timelines by client. Requests that only warm limits do
// not count.
func (o *Observer) Take(b *traffic.Batch, clients *traffic.Group) {
	if b.Warm || b.Clues == nil {
		return
	}
	o.learn()
	o.total += int64(b.Len())
	clients.Each(func(client, row int32, at limit.Time) {
		agent := b.Agent[row]
		a, t, status := &o.agents[agent], b.Clues[row], b.Status[row]
		if a.clones {
			t.Traits &^= traffic.Pried | traffic.Probed
		}
		r := o.records.At(client)
		if t.Traits.Has(traffic.Told) && t.From <= uint16(Count) {
			r.told, t.From = Identity(t.From), 0
		}
		r.add(at, status, agent, b.Action[row], a, t)
		if t.From != 0 && t.From == t.Page {
			t.From, t.Traits = 0, t.Traits&^traffic.Referred // who names the page itself as its referer follows from nowhere
		}
		if a.kind != 0 {
			o.browsing.At(client).Add(at, status, a.set, t)
		}
		if t.Traits.Has(traffic.Stepped) {
			o.askers[b.Action[row]].add(a, r.files > 0)
		}
		if status/100 == 2 && t.Traits&(traffic.Stepped|traffic.Peeked) == traffic.Stepped && (r.probes > 0 || t.Page == evidence.FrontPage) {
			o.spoil(client, b, row, t.Traits)
		}
		if status/100 == 2 && t.Traits&(traffic.Stepped|traffic.Peeked|traffic.Pried) == traffic.Stepped && b.Bytes[row] > 0 {
			o.askers[b.Action[row]].given.add(uint32(b.Bytes[row]))
		}
	})
}

// spoil remembers what a client was given, if it must not be public, and that whatever scanners ask for may have that size.
func (o *Observer) spoil(client int32, b *traffic.Batch, row int32, traits traffic.Trait) {
	bytes, clue, pried := uint32(b.Bytes[row]), b.Clues[row], traits.Has(traffic.Pried)
	if pried {
		s := spoil{client, b.Action[row], o.Tables.Target(clue.Page, int32(b.Action[row])), bytes}
		if _, known := o.spoils[s]; known || len(o.spoils) < mostSpoils {
			o.spoils[s]++
		}
	}
	w := o.welcome(bytes)
	switch {
	case w == nil:
	case clue.Page == evidence.FrontPage && bytes > 0: // no secret looks like it
		w.pages = math.MaxUint64
	default:
		w.pages |= hashed(clue.Page)
		if !pried {
			w.public |= hashed(clue.Page)
		}
	}
}

// welcome returns the answer of a size, nil if there are too many.
func (o *Observer) welcome(bytes uint32) *welcome {
	w := o.welcomes[bytes]
	if w == nil && len(o.welcomes) < mostSpoils {
		w = new(welcome)
		o.welcomes[bytes] = w
	}
	return w
}

// A welcome is an answer of one size to the first page, or to what scanners ask for.
type welcome struct {
	pages  uint64 // a set of hashes
	public uint64 // of these, what may be public: a repository that was given away has files of alike sizes
}

// learn makes room for all that the tables know.
func (o *Observer) learn() {
	t := o.Tables
	o.records.Grow(t.Clients.Len())
	o.browsing.Grow(t.Clients.Len())
	o.askers = append(o.askers, make([]askers, max(0, t.Actions.Len()-len(o.askers)))...)
	for id := int32(len(o.agents)); int(id) < t.Agents.Len(); id++ {
		name := t.Agents.Name(id)
		a := agentFacts{class: t.Agents.Class(id), set: t.Agents.BrowserSet(id)}
		if kind := t.Agents.Kind(id); kind >= 0 {
			a.kind = 1 << kind
		}
		if a.class == request.Crawler {
			a.crawler = useragent.CrawlerName(name)
		}
		if SaysNothing(name) {
			a.nameless = 1
		}
		low := strings.ToLower(name)
		if holdsAny(low, ownAgents) {
			a.own = 1
		} else if holdsAny(low, scanners) {
			a.scans = 1
		} else if holdsAny(low, deliverers) {
			a.delivers = 1
		}
		a.mails = holdsAny(low, mailers)
		a.app = isWebView(name) || a.mails || holdsAny(low, devices)
		a.installs = holdsAny(low, installers)
		a.clones = strings.HasPrefix(low, "git/")
		a.says = a.nameless+a.own+a.scans+a.delivers > 0
		o.agents = append(o.agents, a)
	}
}

// isWebView reports whether an agent is that of the browser within an app: on Android and on desktops it says so, on iOS it is
// no Safari, and of Gecko it names no Firefox, but a product of its own.
func isWebView(agent string) bool {
	_, product, gecko := strings.Cut(agent, " Gecko/")
	ofGecko := gecko && strings.Contains(product, "/") && !strings.Contains(product, "Firefox/")
	onIOS := strings.Contains(agent, "AppleWebKit/") && strings.Contains(agent, " Mobile/") && !strings.Contains(agent, " Safari/")
	return ofGecko || onIOS || strings.Contains(agent, "; wv)") || strings.Contains(agent, " Electron/")
}

// crawlerName returns what an agent calls itself as a crawler.
func (o *Observer) crawlerName(agent uint16) string {
	if name := o.agents[agent].crawler; name != "" {
		return name
	}
	return useragent.CrawlerName(o.Tables.Agents.Name(int32(agent)))
}

// SaysNothing reports whether an agent is missing, or a URL is in its place.
func SaysNothing(agent string) bool {
	return agent == "-" || strings.HasPrefix(agent, "http://") || strings.HasPrefix(agent, "https://")
}

// ownAgents are parts of the agents of what works for a site on its own server.
var ownAgents = []string{
	"internal dummy connection", "mod_pagespeed", "ngx_pagespeed", "lscache_runner", "lscache_walker", "cache-warmer", "cachewarmer",
	"wp rocket/preload", "wp super cache", "w3 total cache", "wp-optimize", "preload", "wp_cron", "wp-cron", "sitemap-walker", "hummingbird-cache",
}

// scanners are parts of the agents of programs that look for what is weak.
var scanners = []string{
	"sqlmap", "nikto", "nmap", "masscan", "zgrab", "dirbuster", "gobuster", "wpscan", "nuclei", "hydra", "openvas", "acunetix", "w3af", "dirb/",
	"feroxbuster", "ffuf", "wfuzz", "zmeu", "morfeus", "jorgee", "l9explore", "whatweb", "arachni", "netsparker", "fimap", "havij", "brutus",
}

// mailers are parts of the agents with which services fetch pictures of mails, or pages to translate, for those who read them.
var mailers = []string{"googleimageproxy", "yahoomailproxy", ",gzip(gfe)"}

// devices are parts of the agents of televisions, set-top boxes and consoles. What is made for these asks for data alone.
var devices = []string{
	"smart-tv", "smarttv", "smart tv", " tv safari/", "hbbtv", "web0s", "webos", "netcast", "tizen", "googletv", "google tv", "android tv", "crkey/",
	"bravia", "viera", "aquos", "nettv", "roku", "stbapp", "set-top", "settop", "qtembedded", "playstation", "nintendo", "xbox",
}

// deliverers are parts of the agents with which delivery networks ask a site for what others want.
var deliverers = []string{"amazon cloudfront", "bunnycdn", "keycdn", "fastly", "cdn77", "gcore"}

func holdsAny(agent string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(agent, part) })
}

// namesHost reports whether an agent names one of the hosts of this site by its address.
func namesHost(agent string, hosts [][]byte) bool {
	_, rest, found := strings.Cut(agent, "://")
	if !found {
		return false
	}
	end := strings.IndexAny(rest, "/;,) ")
	if end < 0 {
		end = len(rest)
	}
	name := strings.TrimPrefix(strings.ToLower(rest[:end]), "www.")
	return slices.ContainsFunc(hosts, func(host []byte) bool { return name == string(host) })
}

// address returns the address of a client; the zero one if it is none.
func (o *Observer) address(client int32) netip.Addr {
	if !o.Addresses {
		return netip.Addr{}
	}
	a, err := netip.ParseAddr(o.Tables.Clients.Name(client))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap()
}

// isPrivate reports whether a client has an address that is not on the public internet.
func (o *Observer) isPrivate(client int32) bool {
	a := o.address(client)
	return a.IsValid() && match.IsPrivate(a)
}
