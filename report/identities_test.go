package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/internal/traffic/who"
	"shadow/report/reporttest"
)

// What is counted of each identity is what is listed of its clients, and adds up to the totals of the policy.
func TestIdentitiesAreCountedAsListed(t *testing.T) {
	o := townOptions
	o.Top = 100
	m := New(reporttest.Witnessed(), o)
	for is, want := range map[who.Identity]int64{
		who.Person: 1, who.Attacker: 1, who.Office: 1,
		who.Undecided: m.Input.Clients - 3,
	} {
		if n := m.Input.Identities[is].Clients; n != want {
			t.Errorf("%d %s, want %d", n, is, want)
		}
	}
	for i := range m.Policies {
		p := &m.Policies[i]
		var listed PerIdentity[ClassFigures]
		for _, c := range p.TopClients {
			is, ok := who.Parse(c.Identity.Identity)
			if !ok {
				t.Fatalf("%s is %q", c.Client, c.Identity.Identity)
			}
			listed[is].Refused += c.Refused
			listed[is].ClientsHit++
		}
		if len(p.TopClients) != int(p.ClientsHit) {
			t.Fatalf("%s: lists %d of %d clients", p.Policy, len(p.TopClients), p.ClientsHit)
		}
		for is, of := range p.ByIdentity {
			in := m.Input.Identities[is]
			want := ClassFigures{in.Requests, listed[is].Refused, in.Clients, listed[is].ClientsHit}
			if of != want {
				t.Errorf("%s: of %s %+v, want %+v", p.Policy, who.Identity(is), of, want)
			}
		}
		if sum := sumOf(p.ByIdentity); sum != p.all().ClassFigures {
			t.Errorf("%s: identities sum up to %+v, all clients to %+v", p.Policy, sum, p.all().ClassFigures)
		}
	}
}

// Each client is counted once, as whatever it is known.
func TestIdentitiesAddUp(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		res := anyResult().Draw(t, "result")
		known := make(who.Identities, rapid.IntRange(0, res.Clients.Len()).Draw(t, "known")) // the others are undecided
		for id := range known {
			known[id] = who.Identity(rapid.IntRange(0, int(who.Count)-1).Draw(t, "identity"))
		}
		res.Who = &who.Register{Identities: known, Reasons: func(int32) []string { return nil }}
		m := New(res, anyOptions().Draw(t, "options"))
		all := ClassFigures{Requests: m.Input.Requests, Clients: m.Input.Clients}
		var sum ClassTotal
		for _, n := range m.Input.Identities {
			sum.Requests += n.Requests
			sum.Clients += n.Clients
		}
		if sum != (ClassTotal{all.Requests, all.Clients}) {
			t.Fatalf("identities sum up to %+v, all clients are %+v", sum, all)
		}
		for i := range m.Policies {
			var want ClassFigures
			for hit := range res.Policies[i].Hits.All() {
				want.Refused += hit.Refused
				want.ClientsHit++
			}
			want.Requests, want.Clients = all.Requests, all.Clients
			if sum := sumOf(m.Policies[i].ByIdentity); sum != want {
				t.Fatalf("identities sum up to %+v, want %+v", sum, want)
			}
		}
	})
}

// What is known is always in JSON; people read it only if they asked, and first of all.
func TestWhoReadsIdentities(t *testing.T) {
	read := func(unasked bool, known bool) (table, json string) {
		o, res := townOptions, reporttest.Witnessed()
		if o.Identities = !unasked; !known {
			res.Who = nil
		}
		m := New(res, o)
		return write(t, m, "table"), write(t, m, "json")
	}
	asked, json := read(false, true)
	hits := strings.Index(asked, "1 client that behaves like a person: 14 of 1,200")
	limits := strings.Index(asked, "clients hit")
	if hits < 0 || hits > limits {
		t.Errorf("does not begin with the clients that it hits: %s", asked)
	}
	if !strings.Contains(asked, "  identity   class") || strings.Contains(asked, "  browser  crawler") {
		t.Errorf("tables do not tell who is hit: %s", asked)
	}
	if !strings.Contains(json, `"identity": "person"`) {
		t.Errorf("%s", json)
	}
	plain, json := read(true, true)
	if strings.Contains(plain, "behaves like") || strings.Contains(plain, "identity") ||
		!strings.Contains(json, `"identity": "person"`) {
		t.Errorf("%s\n%s", plain, json)
	}
	if unknown, json := read(true, false); strings.Contains(unknown, "clients are") ||
		!strings.Contains(json, `"by_identity": null`) || !strings.Contains(json, `"identity": null`) {
		t.Errorf("%s\n%s", unknown, json)
	}
}

// Conditions name the clients of each identity, where it is known who they are; words that are classes stay classes.
func TestConditionsOnIdentities(t *testing.T) {
	known, unknown := New(reporttest.Witnessed(), townOptions), New(reporttest.Town(), townOptions)
	known.History = townWithHistory().History
	unknown.History = known.History
	known.History.Policies[0].NewlyHit.ByIdentity[who.Attacker] = 1
	all := len(known.Policies)
	for text, want := range map[string]int{
		"people == 1": all, "attackers_hit + offices_hit + people_hit + undecided_hit == clients_hit": all, "people_hit > 0": 1,
		"attackers_refused_share > 0.3": all, "people_hit_share > 1": 0, "newly_hit_attackers > 0": 1, "newly_hit_people > 0": 0,
	} {
		c, err := ParseCondition(text, WithIdentities, WithHistory)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if policies, err := c.Holds(known); err != nil || len(policies) != want {
			t.Errorf("%s: holds for %q (%v), want %d policies", text, policies, err, want)
		}
		if policies, err := c.Holds(unknown); err == nil {
			t.Errorf("%s: of clients that are not known it holds for %q", text, policies)
		}
	}
	c, err := ParseCondition("crawlers == 1 and monitors_hit == 0", WithIdentities)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Model{known, unknown} {
		if policies, err := c.Holds(m); err != nil || len(policies) != all {
			t.Errorf("crawlers are those that claim it: %q, %v", policies, err)
		}
	}
	if _, err := ParseCondition("people_hit > 0"); err == nil || !strings.Contains(err.Error(), whereKnown[WithIdentities]) {
		t.Errorf("where no identity is ever known: %v", err)
	}
}

// sumOf adds up the figures of all identities.
func sumOf(p *PerIdentity[ClassFigures]) (sum ClassFigures) {
	for _, f := range p {
		sum.Requests += f.Requests
		sum.Refused += f.Refused
		sum.Clients += f.Clients
		sum.ClientsHit += f.ClientsHit
	}
	return sum
}
