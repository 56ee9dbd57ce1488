package policy

import (
	"fmt"
	"net/netip"
	"strconv"

	"shadow/request"
)

// Further names that no tier of the file may have.
const (
	exemptTier = "exempt"
	anyValue   = "any" // of any condition: there is none
)

var (
	memberKeys = []string{"addresses", "users", "field", "file"}
	fieldKeys  = []string{"name", "values"}
)

// readTiers reads the mapping from names of tiers to their members.
func (r *configReader) readTiers(at node) {
	tiers, ok := r.mapping(at, "the section tiers", nil)
	if !ok {
		return
	}
	for _, f := range tiers.order {
		switch f.key {
		case "":
			r.fail(f.at, "a tier needs a name")
		case request.DefaultTier, exemptTier, anyValue:
			r.fail(f.at, "no tier can be called %q", f.key)
		default:
			r.config.Tiers = append(r.config.Tiers, r.readMembers(f.key, f.value))
		}
	}
}

// readMembers reads who is in a tier.
func (r *configReader) readMembers(name string, at node) request.Tier {
	t, before := request.Tier{Name: name}, r.found()
	f, ok := r.mapping(at, "a tier", memberKeys)
	if !ok {
		return t
	}
	for _, v := range r.valuesOf(f, "addresses") {
		r.checkPattern(v, networkProblem)
		r.checkPattern(v, r.joins(&t, anAddress))
		line := beginning(v.at).Line
		for _, text := range r.bulk[line] {
			if problem := r.joins(&t, anAddress)(text); problem != "" {
				r.fail(v.at, "%s", problem)
			}
		}
		delete(r.bulk, line)
	}
	if twice := r.nets.twice; twice != "" && r.bulk != nil {
		r.fail(f.at, "%q stands here twice", twice)
	}
	for _, v := range r.valuesOf(f, "users") {
		r.checkPattern(v, r.joins(&t, aUser))
	}
	if f.values["field"] != nil {
		r.readField(&t, f.values["field"])
	}
	if f.values["file"] != nil {
		r.readMemberFile(&t, f.values["file"])
	}
	if t.Len() == 0 && r.found() == before {
		r.fail(f.at, "nobody is in the tier %q; want addresses, users, or values of a field", name)
	}
	return t
}

// readField reads by which field of the line clients are told, and which values are meant.
func (r *configReader) readField(t *request.Tier, at node) {
	f, ok := r.mapping(at, "a field", fieldKeys)
	if !ok {
		return
	}
	if t.Field = r.field(f, "name"); f.lacks("name") {
		r.fail(f.at, "a field needs its name, such as http_x_api_key")
	}
	for _, v := range r.valuesOf(f, "values") {
		r.checkPattern(v, r.joins(t, aValue))
	}
}

// valuesOf are the texts of a field, none if it is not there.
func (r *configReader) valuesOf(f fields, key string) []value {
	if f.values[key] == nil {
		return nil
	}
	return r.values(f.values[key])
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

// joins takes an entry into a tier. It complains of what another tier names already, since there it would never count.
func (r *configReader) joins(t *request.Tier, kind memberKind) func(text string) (problem string) {
	return func(text string) string {
		m, list := member{kind: kind, text: text}, &t.Users
		switch kind {
		case anAddress:
			if p, ok := parseNetwork(text); ok {
				return r.joinsNetwork(t, text, p)
			}
			list = &t.Networks
		case aValue:
			m.field, list = t.Field, &t.Values
		}
		switch owner, named := r.owners[m]; {
		case !named:
			r.owners[m] = t.Name
			*list = append(*list, text)
		case owner != t.Name:
			return inTwo(text, owner)
		}
		return ""
	}
}

// joinsNetwork is joins for a network.
func (r *configReader) joinsNetwork(t *request.Tier, text string, p netip.Prefix) (problem string) {
	switch owner, named := r.nets.claim(p, t.Name); {
	case !named:
		t.Networks = append(t.Networks, text)
	case owner != t.Name:
		return inTwo(text, owner)
	default:
		r.nets.twice = text
	}
	return ""
}

func inTwo(text, owner string) string {
	return fmt.Sprintf("%q is in the tier %q already; the first one counts", text, owner)
}

func quoted(text string) string { return strconv.Quote(text) }
