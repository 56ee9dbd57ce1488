package network

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/oschwald/maxminddb-golang/v2"
)

// An Owner describes who runs the network that an address lies in. The zero Owner is unknown.
type Owner struct {
	ASN     uint32 // the number of its autonomous system (RFC 6793); 0: not known
	Name    string // of the organization that runs it; "": not known
	Country string // two letters as in ISO 3166, upper case; "": not known
}

// ASNText returns the number as people write it: AS64500; "" if it is not known.
func (o Owner) ASNText() string {
	if o.ASN == 0 {
		return ""
	}
	return "AS" + strconv.FormatUint(uint64(o.ASN), 10)
}

// String returns all that is known: "AS64500 Example Hosting, DE"; "" for nothing.
func (o Owner) String() string {
	text := strings.TrimSpace(o.ASNText() + " " + o.Name)
	if text != "" && o.Country != "" {
		text += ", "
	}
	return text + o.Country
}

// ParseASN reads the number of an autonomous system: 64500, AS64500, as64500.
func ParseASN(text string) (uint32, error) {
	digits := text
	if len(text) > 2 && strings.EqualFold(text[:2], "AS") {
		digits = text[2:]
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is no number of an autonomous system; want one such as AS64500", text)
	}
	return uint32(n), nil
}

// ParseCountry reads the two letters of a country, as ISO 3166 has them.
func ParseCountry(text string) (string, error) {
	upper := strings.ToUpper(text)
	if len(upper) != 2 || upper[0] < 'A' || upper[0] > 'Z' || upper[1] < 'A' || upper[1] > 'Z' {
		return "", fmt.Errorf("%q is no country; want two letters such as DE", text)
	}
	return upper, nil
}

// A Database finds the owners of addresses in MMDB files. Any number of goroutines may use it. A nil one knows no
// owner.
type Database struct {
	files []*file

	mu     sync.Mutex
	failed error // the first that went wrong after opening
}

// A file remembers what it has decoded: many addresses share one record.
type file struct {
	name   string
	reader *maxminddb.Reader
	mu     sync.Mutex
	owners map[uintptr]Owner // by offset of the record
}

// Open opens MMDB files; nil for none. What several know of one address, the first of them tells.
func Open(names []string) (*Database, error) {
	if len(names) == 0 {
		return nil, nil
	}
	d := &Database{}
	for _, name := range names {
		reader, err := maxminddb.Open(name)
		if err == nil {
			d.files = append(d.files, &file{name: name, reader: reader, owners: map[uintptr]Owner{}})
			err = d.files[len(d.files)-1].check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, explain(err))
		}
	}
	return d, nil
}

// explain says what to do about a file that is not what it should be.
func explain(err error) error {
	if errors.As(err, new(maxminddb.InvalidDatabaseError)) {
		return fmt.Errorf("no MMDB file, or a damaged one (%w); want one such as GeoLite2-ASN.mmdb", err)
	}
	return err
}

// checked is the number of records that are looked at to see what a file knows.
const checked = 1000

// check reports whether a file has anything that an Owner tells: there are MMDB files about much else.
func (f *file) check() error {
	n := 0
	for found := range f.reader.Networks() {
		owner, err := f.decode(found)
		if err != nil {
			return err
		}
		if owner != (Owner{}) {
			return nil
		}
		if n++; n == checked {
			break
		}
	}
	return fmt.Errorf("a database of type %q: it has no ASN, no name and no country of networks", f.reader.Metadata.DatabaseType)
}

// Err returns the first error of reading a record: what was told of its addresses, namely nothing, is then not true.
func (d *Database) Err() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// Of tells the owner of an address.
func (d *Database) Of(addr netip.Addr) (owner Owner) {
	if d == nil || !addr.IsValid() {
		return owner
	}
	for _, f := range d.files {
		more, err := f.of(addr.WithZone(""))
		if err != nil {
			d.mu.Lock()
			if d.failed == nil {
				d.failed = fmt.Errorf("%s: %w", f.name, explain(err))
			}
			d.mu.Unlock()
		}
		owner.ASN = cmp.Or(owner.ASN, more.ASN)
		owner.Name = cmp.Or(owner.Name, more.Name)
		owner.Country = cmp.Or(owner.Country, more.Country)
	}
	return owner
}

func (f *file) of(addr netip.Addr) (Owner, error) {
	if addr.Is6() && !addr.Is4In6() && f.reader.Metadata.IPVersion == 4 {
		return Owner{}, nil
	}
	found := f.reader.Lookup(addr)
	if err := found.Err(); err != nil || !found.Found() {
		return Owner{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	owner, known := f.owners[found.Offset()]
	if !known {
		var err error
		if owner, err = f.decode(found); err != nil {
			return Owner{}, err
		}
		f.owners[found.Offset()] = owner
	}
	return owner, nil
}

// A place says where one of the publishers of such files has something.
type place []string

// The places, the first that has something goes. MaxMind and DB-IP have the first of each, with countries as maps; IPinfo
// and IPLocate have texts on top, the ASN as "AS64500".
var (
	asnPlaces = []place{{"autonomous_system_number"}, {"asn"}, {"as_number"}, {"traits", "autonomous_system_number"}}

	namePlaces = []place{
		{"autonomous_system_organization"}, {"as_name"}, {"organization"}, {"org"}, {"name"}, {"traits", "autonomous_system_organization"},
	}
	countryPlaces = []place{{"country", "iso_code"}, {"country_code"}, {"country"}, {"registered_country", "iso_code"}}
)

// longestName is the most bytes of a name that stay.
const longestName = 100

func (f *file) decode(found maxminddb.Result) (o Owner, err error) {
	var record any
	if err := found.Decode(&record); err != nil {
		return o, err
	}
	for _, p := range asnPlaces {
		if o.ASN == 0 {
			o.ASN, _ = ParseASN(fmt.Sprint(p.in(record)))
		}
	}
	for _, p := range namePlaces {
		if name, ok := p.in(record).(string); ok && o.Name == "" {
			o.Name = strings.ToValidUTF8(name[:min(len(name), longestName)], "")
		}
	}
	for _, p := range countryPlaces {
		if text, ok := p.in(record).(string); ok && o.Country == "" {
			o.Country, _ = ParseCountry(text)
		}
	}
	return o, nil
}

// in returns the value of a record at a place; nil for nothing.
func (p place) in(record any) any {
	for _, key := range p {
		fields, ok := record.(map[string]any)
		if !ok {
			return nil
		}
		record = fields[key]
	}
	return record
}
