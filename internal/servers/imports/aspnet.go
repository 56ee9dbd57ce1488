package imports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

// AspNetCoreRateLimit of ASP.NET Core, in JSON.
// Source: stefanprodan/AspNetCoreRateLimit 0118aa7, Core/RateLimitProcessor.cs (windows that begin with a request, the
// least limit of a period, their order), Middleware/RateLimitMiddleware.cs (asked one after the other),
// CounterKeyBuilders/PathCounterKeyBuilder.cs, Models/RateLimitOptions.cs.

var aspnetFormat = format{name: "aspnet", has: isASPNET, take: takeASPNET}

// aspnetSection returns the section for addresses or clients; its name is free, and these two are what it is called.
func aspnetSection(d doc, kind string) *policy.Tree {
	return cmp.Or(d.Get(kind+"RateLimiting"), d.Get(kind+"RateLimitOptions"))
}

func isASPNET(d doc) bool { return cmp.Or(aspnetSection(d, "Ip"), aspnetSection(d, "Client")) != nil }

func takeASPNET(i *Import, docs []doc) {
	for _, d := range docs {
		for _, kind := range []string{"Ip", "Client"} {
			special := d.Get(kind + "RateLimitPolicies")
			if part := aspnetSection(d, kind); part != nil {
				i.aspnet(doc{part, d.file}, kind == "Ip", special)
				if other := d.Get(kind + "RateLimitOptions"); other != nil && other != part {
					i.Lose(d.place(other), "%sRateLimitOptions is not read beside %sRateLimiting", kind, kind)
				}
			} else if special != nil {
				i.Lose(d.place(special), "rules of some clients are not read without %sRateLimiting", kind)
			}
		}
	}
}

// aspnet reads a section, whose rules count by address or by the header of a client, and the rules of some clients.
func (i *Import) aspnet(d doc, byIP bool, special *policy.Tree) {
	i.aspnetKnown(d, byIP)
	each := field(d.Tree, "EnableEndpointRateLimiting").Say() == "true"
	if each {
		i.Lose(d.place(field(d.Tree, "EnableEndpointRateLimiting")), "methods of one path count apart there, and together here")
	}
	rules := append(i.aspnetRules(d, field(d.Tree, "GeneralRules"), each), i.aspnetSpecial(d, special, each)...)
	stacked := field(d.Tree, "StackBlockedRequests").Say() == "true"
	slices.SortStableFunc(rules, func(a, b aspnetRule) int {
		if stacked {
			a, b = b, a
		}
		return cmp.Compare(a.period, b.period)
	})
	p := neutral.Policy{Name: "aspnet", Combine: "in-turn"}
	for n, r := range rules {
		set := r.set.And(i.aspnetExempt(d))
		for m, other := range rules {
			if m != n && other.holds(r, m < n) {
				set = set.And(other.set.Except())
			}
		}
		for _, k := range aspnetKeys(d, set, byIP, each) {
			if len(k.Set.Conditions.With) > 0 && len(k.Set.Conditions.Without) > 0 { // no request has a header and lacks it
				continue
			}
			p.Add(fmt.Sprintf("fixed:%d/%s,align=first", r.most, limit.FormatPeriod(r.period)),
				fmt.Sprintf("%s rule %s: %d in %s", d.place(r.at), field(r.at, "Endpoint").Say(), r.most, field(r.at, "Period").Say()), k)
		}
	}
	i.Policies = append(i.Policies, p)
}

// aspnetKnown tells of words of a section that are not understood.
func (i *Import) aspnetKnown(d doc, byIP bool) {
	for _, key := range d.Keys() {
		at := d.Get(key)
		switch strings.ToLower(key) {
		case "generalrules", "ipwhitelist", "clientwhitelist", "endpointwhitelist", "stackblockedrequests", "enableendpointratelimiting", "clientidheader":
		case "httpstatuscode", "quotaexceededmessage", "quotaexceededresponse", "ratelimitcounterprefix", "disableratelimitheaders",
			"ippolicyprefix", "clientpolicyprefix":
		case "realipheader":
			if byIP && at.Text != "" {
				i.Tell(d.place(at), "clients are taken from a header: --client-from %s, with --trusted-proxy", strings.ToLower(at.Text))
			}
		default:
			if at.Text != "false" {
				i.Lose(d.place(at), "%s is not understood", key)
			}
		}
	}
}

// aspnetSpecial returns the rules of some clients.
func (i *Import) aspnetSpecial(d doc, special *policy.Tree, each bool) (rules []aspnetRule) {
	for _, at := range append(field(special, "IpRules").List(), field(special, "ClientRules").List()...) {
		who, ok := aspnetClient(d, field(at, "ClientId").Say()), true
		if field(at, "ClientId") == nil {
			who, ok = neutral.NetworkSet([]string{field(at, "Ip").Say()})
		}
		if !ok {
			i.Lose(d.place(at), "%s is no network: its rules are left out", field(at, "Ip").Say())
			continue
		}
		for _, r := range i.aspnetRules(d, field(at, "Rules"), each) {
			r.set, r.special = r.set.And(who), true
			rules = append(rules, r)
		}
	}
	return rules
}

// An aspnetRule is one of the rules.
type aspnetRule struct {
	at     *policy.Tree
	most   int64
	period limit.Time
	set    neutral.Set

	special bool // of some clients
}

// holds reports whether a rule holds in the place of another: of those for one period one for some clients, else the least.
func (r aspnetRule) holds(other aspnetRule, first bool) bool {
	least := r.most < other.most || r.most == other.most && first
	return r.period == other.period && (r.special && !other.special || r.special == other.special && least)
}

func (i *Import) aspnetRules(d doc, all *policy.Tree, each bool) (rules []aspnetRule) {
	for _, at := range all.List() {
		onlyKnown(i.Lose, d, at, "endpoint period periodtimespan limit monitormode quotaexceededresponse")
		r := aspnetRule{at: at}
		endpoint := field(at, "Endpoint").Say()
		period, bad := limit.ParsePeriod(field(at, "Period").Say())
		most, err := strconv.ParseInt(strings.TrimSuffix(field(at, "Limit").Say(), ".0"), 10, 64)
		set, ok := endpointSet(endpoint)
		switch {
		case endpoint != "*" && !each:
			i.Tell(d.place(at), "rule %s does nothing without EnableEndpointRateLimiting", endpoint)
			continue
		case bad != nil || err != nil || most < 1 || !ok:
			i.Lose(d.place(at), "rule %s: %s in %s is not understood: it is left out", endpoint, field(at, "Limit").Say(),
				field(at, "Period").Say())
			continue
		case field(at, "MonitorMode").Say() == "true", field(at, "QuotaExceededResponse") != nil:
			i.Tell(d.place(at), "rule %s only watches, or answers in its own way: it is judged like others", endpoint)
		}
		r.most, r.period, r.set = most, period, set
		rules = append(rules, r)
	}
	return rules
}

// endpointSet returns the requests of an endpoint, METHOD:PATH with wildcards in any case.
func endpointSet(text string) (neutral.Set, bool) {
	if text == "*" {
		return neutral.Set{}, true
	}
	method, path, ok := strings.Cut(text, ":")
	if !ok {
		return neutral.None, false
	}
	pattern := "(?i)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(path)) + "$"
	set := neutral.Within("regexp", pattern)
	if method != "*" {
		set = set.And(neutral.Within("method", strings.ToUpper(method)))
	}
	return set, true
}

// aspnetExempt returns the requests that no rule judges.
func (i *Import) aspnetExempt(d doc) neutral.Set {
	left := neutral.Set{}
	var networks []string
	for _, at := range field(d.Tree, "IpWhitelist").List() {
		prefix, err := neutral.ParseNetwork(at.Text)
		if err != nil {
			i.Lose(d.place(at), "IpWhitelist: %s is no network: it is left out", at.Text)
			continue
		}
		networks = append(networks, neutral.NetworkText(prefix))
	}
	if networks != nil {
		left = neutral.Within("network", networks...).Except()
	}
	for _, at := range field(d.Tree, "ClientWhitelist").List() {
		left = left.And(aspnetClient(d, at.Text).Except())
	}
	for _, at := range field(d.Tree, "EndpointWhitelist").List() {
		set, ok := endpointSet(at.Text)
		if !ok {
			i.Lose(d.place(at), "EndpointWhitelist: %s is not understood: it is left out", at.Text)
			continue
		}
		left = left.And(set.Except())
	}
	return left
}

// aspnetHeader returns the key of the header that names a client.
func aspnetHeader(d doc) string {
	return "header:" + cmp.Or(field(d.Tree, "ClientIdHeader").Say(), "X-ClientId")
}

// aspnetClient returns the requests of a client that names itself; those that name none are called anon there.
func aspnetClient(d doc, id string) neutral.Set {
	named := neutral.Within("with", aspnetHeader(d)+"="+id)
	if strings.EqualFold(id, "anon") {
		return neutral.Union(named, neutral.Lacking(aspnetHeader(d)))
	}
	return named
}

// aspnetKeys returns what rules count by.
func aspnetKeys(d doc, set neutral.Set, byIP, each bool) []neutral.KeyCase {
	word := "client"
	if !byIP {
		key, err := request.ParseKey(aspnetHeader(d))
		if err == nil {
			word = key.String()
		}
	}
	words := []string{word}
	if each {
		words = append(words, "path")
	}
	return neutral.Present(set, words, nil, true)
}
