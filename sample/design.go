package sample

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"shadow/request"
	"shadow/traffic"
)

// DefaultSeed is the seed unless somebody states one.
const DefaultSeed = "shadow"

// Options say how large a sample is to be.
type Options struct {
	Share float64 // of the units, in percent; 0: no sample
	Seed  string  // of the hash that draws
	Even  bool    // whether all units have the same probability
}

// ParseShare reads a percentage above 0 and below 100. The sign may be left out.
func ParseShare(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v >= 1e-6 && v < 100) {
		return 0, errors.New("want a share of the clients above 0% and below 100%, such as 1%")
	}
	return v, nil
}

// FormatShare is the text that ParseShare reads; "" for no sample.
func FormatShare(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + "%"
}

// A Design says with which probability each unit is in the sample, and which are. What is expected is Share of the units:
//
//	p(u) = max(Share/2, min(1, requests(u)/z))
//
// with the z that makes it so. Half of the sample is drawn alike, so that it has small units too. The other half goes to
// units by how many requests they sent, and the largest are in every sample: this is threshold sampling as Duffield, Lund
// and Thorup (2005) have it. So no unit adds more than z to an estimate of requests, however heavy the tail is.
type Design struct {
	Options
	By      request.Part // what is in or out as a whole: a client, or a network
	Units   int64        // with a counted request
	Judged  int64        // of these, in the sample
	Certain int64        // of these, in every sample
	Clients int64        // in the sample

	Requests int64 // of the sample

	census *Census
	of     []int32   // the unit of each client; nil: each is one
	p      []float64 // by unit; 0: it sent no request that counts
	taken  []bool    // by unit: whether it is in the sample
}

// ByClient is the unit that is a client.
var ByClient = request.Part{}

// Unit is what is in or out as a whole where policies count by some keys: the client if all of them count by it, or the
// network if they count by that. Others cannot be judged by a sample of clients.
func Unit(policies []request.Key) (request.Part, error) {
	unit := request.Part{}
	for _, key := range policies {
		if key.Has(request.PartClient) {
			continue
		}
		part := key.Parts()[0]
		if part.Kind != request.PartNetwork {
			return unit, fmt.Errorf("a limit by %s counts requests of many clients together, and a sample has only some of "+
				"these: leave out the sample, or count by client or by client and more, such as client+action", key)
		}
		switch {
		case unit == part || unit.Kind != request.PartNetwork:
			unit = part
		default:
			return unit, fmt.Errorf("limits by %s and by %s need different samples, of whole networks each: replay them apart",
				unit, part)
		}
	}
	return unit, nil
}

// Draw decides which units are in the sample, once all requests have been counted.
func (c *Census) Draw(o Options, by request.Part) *Design {
	d := &Design{Options: o, By: by, census: c}
	c.Grow(c.Tables)
	var names []string
	d.of, names = c.units(by)
	n := len(names)
	if d.of == nil {
		n = c.Clients.Len()
	}
	sizes := make([]int64, n)
	for id := range int32(c.Clients.Len()) {
		sizes[d.unit(id)] += c.Clients.At(id).Requests()
	}
	for _, n := range sizes {
		if n > 0 {
			d.Units++
		}
	}
	least := o.Share / 200
	z := threshold(sizes, least, float64(d.Units)*o.Share/100)
	if o.Even {
		least, z = o.Share/100, math.Inf(1)
	}
	d.p, d.taken = make([]float64, n), make([]bool, n)
	draw := newLot(o.Seed)
	for u, n := range sizes {
		if n == 0 {
			continue
		}
		name := d.name(int32(u), names)
		d.p[u] = max(least, min(1, float64(n)/z))
		if d.taken[u] = d.p[u] >= 1 || draw.of(name) < d.p[u]; d.taken[u] {
			d.Judged++
			d.Requests += n
			if d.p[u] >= 1 {
				d.Certain++
			}
		}
	}
	for id := range int32(c.Clients.Len()) {
		if d.Has(id) && c.Clients.At(id).Requests() > 0 {
			d.Clients++
		}
	}
	return d
}

// Join takes into a sample of clients some of another one. Their probability is that of the other one then.
func (d *Design) Join(other *Design, some func(client int32) bool) {
	for id := range int32(len(d.p)) {
		if !some(id) || d.p[id] == 0 {
			continue
		}
		d.p[id] = other.p[id]
		if d.taken[id] == other.taken[id] {
			continue
		}
		n, requests := int64(1), d.census.Clients.At(id).Requests()
		if d.taken[id] {
			n, requests = -1, -requests
		}
		d.taken[id] = other.taken[id]
		d.Judged, d.Clients, d.Requests = d.Judged+n, d.Clients+n, d.Requests+requests
	}
}

// unit is that of a client.
func (d *Design) unit(client int32) int32 {
	if d.of == nil {
		return client
	}
	return d.of[client]
}

// threshold is the z with which so many units are expected.
func threshold(sizes []int64, least, units float64) float64 {
	var largest int64
	for _, n := range sizes {
		largest = max(largest, n)
	}
	expected := func(z float64) (sum float64) {
		for _, n := range sizes {
			if n > 0 {
				sum += max(least, min(1, float64(n)/z))
			}
		}
		return sum
	}
	return math.Exp(bisect(0, math.Log(2+float64(largest)/least), func(log float64) bool {
		return expected(math.Exp(log)) <= units
	}))
}

// A lot gives each name a number from 0 to 1 that nobody can choose without the seed.
type lot struct{ text []byte }

func newLot(seed string) lot {
	key := sha256.Sum256([]byte(seed))
	return lot{key[:]}
}

func (l *lot) of(name string) float64 {
	l.text = append(l.text[:sha256.Size], name...)
	sum := sha256.Sum256(l.text)
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// name is that of a unit.
func (d *Design) name(unit int32, networks []string) string {
	if d.of == nil {
		return d.census.Tables.Clients.Name(unit)
	}
	return networks[unit]
}

// Probability is that with which a client is in the sample.
func (d *Design) Probability(client int32) float64 { return d.p[d.unit(client)] }

// Has reports whether a client is in the sample.
func (d *Design) Has(client int32) bool { return d.taken[d.unit(client)] }

// Bound is how large a figure can be, given how large it can be of each client.
func (d *Design) Bound(most func(client int32) int64) (b Bound) {
	var sums []int64
	if d.of != nil {
		sums = make([]int64, len(d.p))
		for id, unit := range d.of {
			sums[unit] += most(int32(id))
		}
	}
	for unit := range d.p {
		n := sumOf(sums, int32(unit), most)
		if p := d.p[unit]; p < 1 && n > 0 {
			b.Largest = max(b.Largest, float64(n)/p)
			if !d.taken[unit] {
				b.Unseen += n
			}
		}
	}
	return b
}

// sumOf is how large a figure can be of a unit, which is a client if there are no sums.
func sumOf(sums []int64, unit int32, most func(client int32) int64) int64 {
	if sums == nil {
		return most(unit)
	}
	return sums[unit]
}

// BytesBound is that of the bytes that requests were answered with.
func (d *Design) BytesBound() Bound {
	return d.Bound(func(client int32) int64 { return *d.census.bytes.At(client) })
}

// UpstreamBound is that of the time that upstreams spent on requests.
func (d *Design) UpstreamBound() Bound {
	if !d.census.timed {
		return Bound{}
	}
	d.census.upstream.Grow(d.census.Clients.Len())
	return d.Bound(func(client int32) int64 { return *d.census.upstream.At(client) })
}

// A Source hands out the requests of some clients.
type Source struct {
	From interface {
		Next() (*traffic.Batch, error)
	}
	Has func(client int32) bool

	batch traffic.Batch
	rows  []int32
}

// Next returns the next batch that has requests of the sample, or io.EOF. It is valid until the next call of Next.
func (s *Source) Next() (*traffic.Batch, error) {
	for {
		b, err := s.From.Next()
		if err != nil {
			return nil, err
		}
		if some := s.Of(b); some.Len() > 0 {
			return some, nil
		}
	}
}

// Of is what a batch has of the sample. It is valid until the next call.
func (s *Source) Of(b *traffic.Batch) *traffic.Batch {
	s.rows = s.rows[:0]
	for row, client := range b.Client {
		if s.Has(client) {
			s.rows = append(s.rows, int32(row))
		}
	}
	s.batch.Reset()
	s.batch.Append(b, s.rows)
	s.batch.Warm, s.batch.Stamps = b.Warm, b.Stamps
	return &s.batch
}
