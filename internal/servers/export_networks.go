package servers

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
)

// Networks as servers are told them. Conditions on them are often those of exempt clients: networks that must not fit.

// prefixOf is a network or an address as a network; testsOf has read it.
func prefixOf(text string) netip.Prefix {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked()
	}
	a, _ := netip.ParseAddr(text)
	return netip.PrefixFrom(a, a.BitLen())
}

// lastOf is the last address of a network.
func lastOf(p netip.Prefix) netip.Addr {
	bits := p.Addr().AsSlice()
	for i := p.Bits(); i < 8*len(bits); i++ {
		bits[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(bits)
	return last
}

// families are a test on networks as one for each family; other tests are as they are.
func (t test) families() (all []test) {
	if t.kind != "network" {
		return []test{t}
	}
	for _, v4 := range []bool{true, false} {
		var values []string
		for _, v := range t.values {
			if p := prefixOf(v); p.Addr().Is4() == v4 {
				values = append(values, p.String())
			}
		}
		if values != nil {
			all = append(all, test{t.kind, values, t.not})
		}
	}
	return all
}

// exempted takes the networks that no clause fits out of a setting.
func (s setting) exempted() (rest setting, networks []string) {
	if len(s.when) == 0 {
		return s, nil
	}
	rest = s
	rest.when = nil
	exempt := func(t test) bool {
		return t.kind == "network" && t.not && !slices.ContainsFunc(s.when, func(c clause) bool { return !c.has(t) })
	}
	for _, t := range s.when[0] {
		if exempt(t) {
			networks = append(networks, t.values...)
		}
	}
	for _, c := range s.when {
		if c = slices.DeleteFunc(slices.Clone(c), exempt); len(c) > 0 {
			rest.when = append(rest.when, c)
		}
	}
	slices.Sort(networks)
	return rest, slices.Compact(networks)
}

// awsNetworks are statements that must all fit. A set has addresses of one family.
func (e *Export) awsNetworks(t test) (all []any) {
	forwarded := e.awsForwarded()
	for _, f := range t.families() {
		reference := object{"ARN": e.awsSet(f.values)}
		if forwarded {
			reference["IPSetForwardedIPConfig"] = object{
				"HeaderName": headerText(e.where.ClientFrom), "FallbackBehavior": "NO_MATCH", "Position": "FIRST",
			}
		}
		var one any = object{"IPSetReferenceStatement": reference}
		if t.not {
			one = object{"NotStatement": object{"Statement": one}}
		}
		all = append(all, one)
	}
	if !t.not {
		return []any{joined("OrStatement", all)}
	}
	return all
}

// An arn is that of a set of addresses, by its name.
type arn string

// awsSet returns the set of some networks.
func (e *Export) awsSet(networks []string) arn {
	at := slices.IndexFunc(e.sets, func(s []string) bool { return slices.Equal(s, networks) })
	if at < 0 {
		at, e.sets = len(e.sets), append(e.sets, networks)
	}
	return arn(fmt.Sprintf("shadow_%d", at+1))
}

// MarshalJSON has what to replace by the ARN.
func (a arn) MarshalJSON() ([]byte, error) { return json.Marshal("ARN_OF_" + string(a)) }

// awsFamily is the version of a set.
func awsFamily(networks []string) string {
	return map[bool]string{true: "IPV4", false: "IPV6"}[prefixOf(networks[0]).Addr().Is4()]
}
