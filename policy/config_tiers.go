package policy

import (
	"fmt"
	"net/netip"

	"github.com/goccy/go-yaml/ast"

	"shadow/request"
)

// exemptTier is the name of the tier that no policy judges.
const exemptTier = "exempt"

// tierEntries are the tiers of the file, in its order.
type tierEntries []struct {
	name string
	located[memberEntry]
}

type memberEntry struct {
	Addresses, Users list[text]
	Field            struct {
		Name   text
		Values list[text]
	}
	File located[text]
}

// UnmarshalYAML keeps the order of the tiers.
func (t *tierEntries) UnmarshalYAML(at node) error {
	m, ok := at.(*ast.MappingNode)
	if !ok {
		return nil
	}
	*t = make(tierEntries, len(m.Values))
	for i, entry := range m.Values {
		(*t)[i].name = keyOf(entry)
		if err := (*t)[i].located.UnmarshalYAML(entry.Value); err != nil {
			return err
		}
	}
	return nil
}

// readMembers reads who is in a tier.
func (r *configReader) readMembers(name string, m located[memberEntry]) request.Tier {
	t, before := request.Tier{Name: name, Field: string(m.value.Field.Name)}, len(r.problems)
	join := func(kind memberKind, v located[text]) {
		if err := r.join(&t, kind, string(v.value)); err != nil {
			r.fail(v.at, "%v", err)
		}
	}
	for _, v := range m.value.Addresses {
		join(anAddress, v)
		at := r.beginning(v.at)
		for i, text := range r.bulk[at.Line] {
			if err := r.join(&t, anAddress, text); err != nil {
				r.add(Problem{r.name, r.line(at.Line) + 1 + i, at.Column, err.Error()})
			}
		}
		delete(r.bulk, at.Line)
	}
	for _, v := range m.value.Users {
		join(aUser, v)
	}
	for _, v := range m.value.Field.Values {
		join(aValue, v)
	}
	if m.value.File.at != nil {
		r.readMemberFile(&t, m.value.File)
	}
	if t.Len() == 0 && len(r.problems) == before && r.damaged[m.at] == nil && m.value.Field.Name != "" {
		r.fail(m.at, "the tier %q is empty; want addresses, users, or values of its field", name)
	}
	return t
}

// A memberKind is by what clients are in a tier.
type memberKind uint8

const (
	anAddress memberKind = iota
	aUser
	aValue // of the tier's field
)

// A member is what one entry of a tier stands for; two texts of a network are the same one.
type member struct {
	kind        memberKind
	field, text string
}

// join takes an entry into a tier. It complains about what another tier names already, since there it would never
// count.
func (r *configReader) join(t *request.Tier, kind memberKind, text string) error {
	m, list := member{kind: kind, text: text}, &t.Users
	switch kind {
	case anAddress:
		if p, ok := parseNetwork(text); ok {
			return r.joinNetwork(t, text, p)
		}
		list = &t.Networks
	case aValue:
		m.field, list = t.Field, &t.Values
	}
	owner, named := r.owners[m]
	if !named {
		r.owners[m] = t.Name
		*list = append(*list, text)
	}
	return joined(text, t.Name, owner, named)
}

// joinNetwork is join for a network.
func (r *configReader) joinNetwork(t *request.Tier, text string, p netip.Prefix) error {
	owner, named := r.nets.claim(p, t.Name)
	if !named {
		t.Networks = append(t.Networks, text)
	}
	return joined(text, t.Name, owner, named)
}

// joined is the error of an entry of a tier that one has already, perhaps in another spelling.
func joined(text, tier, owner string, named bool) error {
	switch {
	case !named:
		return nil
	case owner == tier:
		return fmt.Errorf("%q stands in this tier twice", text)
	}
	return fmt.Errorf("%q is in the tier %q already; the first one counts", text, owner)
}
