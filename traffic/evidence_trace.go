package traffic

import (
	"bytes"
	"hash/crc32"

	"shadow/parse"
)

// A Tracer finds the traces of requests. It is immutable; any number of goroutines may use it.
type Tracer struct {
	beacon     []glob
	background []glob
	hosts      [][]byte // of this site, as bareHost has them
	robots     *Robots
}

// TraceRules say what a Tracer goes by. All may be left out.
type TraceRules struct {
	Beacon     string   // pattern for the path of what only browsers load, as Rule.Glob
	Background []string // patterns for paths that pages ask for by themselves
	Hosts      []string // names of this site, where the log does not tell them; without any they are learned from its beginning
	Robots     *Robots  // what robots.txt says
}

// NewTracer compiles the rules.
func NewTracer(rules TraceRules) (*Tracer, error) {
	t := &Tracer{robots: rules.Robots}
	if rules.Beacon != "" {
		if err := addGlob(&t.beacon, newGlob, rules.Beacon); err != nil {
			return nil, err
		}
	}
	for _, pattern := range rules.Background {
		if err := addGlob(&t.background, newGlob, pattern); err != nil {
			return nil, err
		}
	}
	for _, host := range rules.Hosts {
		t.hosts = append(t.hosts, bareHost([]byte(host)))
	}
	return t, nil
}

// Hosts returns the names of this site, as far as they are known.
func (t *Tracer) Hosts() [][]byte { return t.hosts }

// trace appends the traces of records.
func (t *Tracer) trace(traces []Trace, records []parse.Record) {
	for i := range records {
		traces[i] = t.of(&records[i])
	}
}

// of is the trace of one request. What is not HTTP leaves none.
func (t *Tracer) of(r *parse.Record) (trace Trace) {
	if !isHTTP(r.Method, r.Path) {
		return Trace{}
	}
	path := pathOf(r.Path)
	switch {
	case anyFits(t.beacon, path):
		return Trace{Traits: LoadedBeacon}
	case anyFits(t.background, path):
		return Trace{}
	case string(path) == "/robots.txt":
		return Trace{Traits: FetchedRobots}
	case isStatic(path):
		trace.Traits = FetchedAsset
		t.refer(&trace, r)
		return trace
	}
	trace.Traits = Stepped
	if r.Method == nil || string(r.Method) == "GET" {
		trace.Traits |= Asked
		trace.Page = pageOf(afterHost(r.Path))
	}
	if t.robots != nil && t.robots.forbids(r.Path) {
		trace.Traits |= Trespassed
	}
	t.refer(&trace, r)
	return trace
}

// refer notes where a request comes from.
func (t *Tracer) refer(trace *Trace, r *parse.Record) {
	if len(r.Referer) == 0 {
		return
	}
	trace.Traits |= Referred
	host, target, ok := splitReferer(r.Referer)
	if ok && t.owns(host, r.Host) {
		trace.From = pageOf(target)
	}
}

// owns tells whether a host is this site. Where neither the line nor anything else tells the site's names, any may be.
func (t *Tracer) owns(host, site []byte) bool {
	host = bareHost(host)
	if len(site) > 0 {
		return bytes.EqualFold(host, bareHost(site))
	}
	for _, own := range t.hosts {
		if bytes.EqualFold(host, own) {
			return true
		}
	}
	return len(t.hosts) == 0
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pageOf is a hash of a target without its fragment, never 0.
func pageOf(target []byte) uint16 {
	if i := bytes.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	h := crc32.Update(0, castagnoli, target)
	return max(1, uint16(h>>16^h))
}
