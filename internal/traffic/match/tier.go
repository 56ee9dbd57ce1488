package match

import (
	"fmt"
	"slices"

	"shadow/internal/request"
	"shadow/parse"
)

const maxTiers = 200

// Tiers tell the tier of requests: the first that fits. They are immutable.
type Tiers struct {
	tiers    []request.Tier
	networks networkTable
	users    map[string]uint8
	fields   []tierField
	extra    []string // what to ask of the parser
}

// A tierField is a field of the line that tiers go by.
type tierField struct {
	name   string
	at     int // in Record.Extra
	values map[string]uint8
}

// NewTiers compiles the tiers. extra is what the client rule asks of the parser: a field that both go by is read once.
func NewTiers(tiers []request.Tier, extra []string) (*Tiers, error) {
	if len(tiers) > maxTiers {
		return nil, fmt.Errorf("%d tiers: at most %d", len(tiers), maxTiers)
	}
	n := 0
	for i := range tiers {
		n += len(tiers[i].Networks)
	}
	t := &Tiers{
		tiers: tiers, networks: networkTable{entries: make([]networkTier, 0, n)},
		users: map[string]uint8{}, extra: slices.Clone(extra),
	}
	for i := range tiers {
		if err := t.add(&tiers[i], uint8(i)); err != nil {
			return nil, fmt.Errorf("tier %q: %w", tiers[i].Name, err)
		}
	}
	t.networks.sort()
	return t, tooMany(t.extra)
}

// tooMany returns the error of asking too much of the parser.
func tooMany(extra []string) error {
	if len(extra) <= parse.MaxExtra {
		return nil
	}
	return fmt.Errorf("clients, tiers and keys go by %d fields beyond the usual ones (%q): at most %d can be read",
		len(extra), extra, parse.MaxExtra)
}

// add enters a tier into the tables, where the first that names something stays.
func (t *Tiers) add(tier *request.Tier, id uint8) error {
	for _, text := range tier.Networks {
		networks, err := parseNetworks(text)
		if err != nil {
			return err
		}
		for _, p := range networks {
			t.networks.add(p, id)
		}
	}
	addNames(t.users, tier.Users, id)
	if tier.Field == "" {
		return nil
	}
	field, err := t.field(tier.Field)
	if err == nil {
		addNames(field.values, tier.Values, id)
	}
	return err
}

func addNames(to map[string]uint8, names []string, id uint8) {
	for _, name := range names {
		if _, named := to[name]; !named {
			to[name] = id
		}
	}
}

// field returns the table of a field, which is asked of the parser.
func (t *Tiers) field(name string) (*tierField, error) {
	for i := range t.fields {
		if t.fields[i].name == name {
			return &t.fields[i], nil
		}
	}
	extra, ok := fieldName(name)
	if !ok {
		return nil, fmt.Errorf("%q is no name of a field of the line; want one such as http_x_api_key or header:X-Api-Key", name)
	}
	f := tierField{name: name, values: map[string]uint8{}}
	f.at, t.extra = placeOf(extra, t.extra)
	t.fields = append(t.fields, f)
	return &t.fields[len(t.fields)-1], nil
}

// placeOf returns the place of a name in what is asked of the parser, to which it is added if it is new.
func placeOf(name string, extra []string) (int, []string) {
	if at := slices.Index(extra, name); at >= 0 {
		return at, extra
	}
	return len(extra), append(extra, name)
}

// Extra returns the names that must stand at the beginning of parse.Options.Extra, those of the client rule first.
func (t *Tiers) Extra() []string { return t.extra }

// has reports whether a tier has this name. There are none in nil Tiers.
func (t *Tiers) has(name string) bool {
	return t != nil && slices.ContainsFunc(t.tiers, func(tier request.Tier) bool { return tier.Name == name && !tier.Exempt })
}

// lacks returns warnings about what tiers go by and a format does not have.
func (t *Tiers) lacks(f *parse.Format) (texts []string) {
	lack := func(name string) { texts = append(texts, notLogged(name)) }
	if len(t.networks.entries) > 0 && !f.Has(parse.FieldClient) {
		lack("the address")
	}
	if len(t.users) > 0 && !f.Has(parse.FieldUser) {
		lack("the user")
	}
	for i := range t.fields {
		if !f.HasExtra(t.fields[i].at) {
			lack(t.fields[i].name)
		}
	}
	return texts
}

func notLogged(name string) string { return name + " is not logged: no client is in a tier by it" }

// unseen returns the same about fields that a format may have and no request had: any line of JSON may have any key.
func (t *Tiers) unseen(f *parse.Format, seen uint64) (texts []string) {
	for i := range t.fields {
		if f.HasExtra(t.fields[i].at) && seen>>i&1 == 0 {
			texts = append(texts, notLogged(t.fields[i].name))
		}
	}
	return texts
}

// A tierFinder finds the tier of requests, for one goroutine. Where a client is an address, the networks are searched
// once for each client.
type tierFinder struct {
	tiers   *Tiers
	clients ClientRule
	known   []uint8 // by client id: the tier of its address + 1, 0 is not yet known; nil: it says nothing of addresses
	lasting bool    // whether a client has one address
	none    uint8   // the default tier
	seen    uint64  // the fields that some request had, by their place in Tiers.fields
}

// find returns the tier of a request of the client with this id.
func (f *tierFinder) find(client int32, r *parse.Record) uint8 {
	tier := f.none
	if len(f.tiers.networks.entries) > 0 {
		if !f.lasting {
			tier = f.search(r)
		} else {
			f.known = append(f.known, make([]uint8, max(0, int(client)+1-len(f.known)))...)
			if f.known[client] == 0 {
				f.known[client] = f.search(r) + 1
			}
			tier = f.known[client] - 1
		}
	}
	if len(f.tiers.users) > 0 && len(r.User) > 0 {
		tier = lower(tier, f.tiers.users, r.User)
	}
	for i := range f.tiers.fields {
		field := &f.tiers.fields[i]
		if value := r.Extra[field.at]; value != nil {
			f.seen |= 1 << i
			tier = lower(tier, field.values, value)
		}
	}
	return tier
}

// lower returns the tier of a name, if it has one that comes before tier.
func lower(tier uint8, tiers map[string]uint8, name []byte) uint8 {
	if other, ok := tiers[string(name)]; ok {
		return min(tier, other)
	}
	return tier
}

// search looks for the networks that hold the address, of every length that there is.
func (f *tierFinder) search(r *parse.Record) uint8 {
	addr, ok := f.clients.address(r)
	if !ok {
		return f.none
	}
	return f.tiers.networks.of(addr, f.none)
}
