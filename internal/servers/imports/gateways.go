package imports

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Two that are configured in JSON: AspNetCoreRateLimit of ASP.NET Core, and KrakenD.
// Sources: stefanprodan/AspNetCoreRateLimit 0118aa7, Core/RateLimitProcessor.cs (windows that begin with a request, the
// least limit of a period, their order), Middleware/RateLimitMiddleware.cs (asked one after the other),
// CounterKeyBuilders/PathCounterKeyBuilder.cs, Models/RateLimitOptions.cs; krakend/krakend-ratelimit 09e5512,
// router/router.go, router/gin/gin.go (order, capacities), tokenbucket.go (fills when it is empty), proxy/proxy.go.

var (
	aspnetFormat  = format{name: "aspnet", has: isASPNET, take: takeASPNET}
	krakendFormat = format{name: "krakend", has: isKrakenD, take: takeKrakenD}
)

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
					i.lose(d.place(other), "%sRateLimitOptions is not read beside %sRateLimiting", kind, kind)
				}
			} else if special != nil {
				i.lose(d.place(special), "rules of some clients are not read without %sRateLimiting", kind)
			}
		}
	}
}

// aspnet reads a section, whose rules count by address or by the header of a client, and the rules of some clients.
func (i *Import) aspnet(d doc, byIP bool, special *policy.Tree) {
	i.aspnetKnown(d, byIP)
	each := field(d.Tree, "EnableEndpointRateLimiting").Say() == "true"
	if each {
		i.lose(d.place(field(d.Tree, "EnableEndpointRateLimiting")), "methods of one path count apart there, and together here")
	}
	rules := append(i.aspnetRules(d, field(d.Tree, "GeneralRules"), each), i.aspnetSpecial(d, special, each)...)
	stacked := field(d.Tree, "StackBlockedRequests").Say() == "true"
	slices.SortStableFunc(rules, func(a, b aspnetRule) int {
		if stacked {
			a, b = b, a
		}
		return cmp.Compare(a.period, b.period)
	})
	p := Policy{Name: "aspnet", Combine: "in-turn"}
	for n, r := range rules {
		set := r.set.and(i.aspnetExempt(d))
		for m, other := range rules {
			if m != n && other.holds(r, m < n) {
				set = set.and(other.set.except())
			}
		}
		for _, k := range aspnetKeys(d, set, byIP, each) {
			if len(k.set.c.With) > 0 && len(k.set.c.Without) > 0 { // no request has a header and lacks it
				continue
			}
			p.Limits = append(p.Limits, Limit{
				By: k.by, Match: k.set, Count: k.set,
				Text: fmt.Sprintf("fixed:%d/%s,align=first", r.most, limit.FormatPeriod(r.period)),
				Told: []string{fmt.Sprintf("%s rule %s: %d in %s", d.place(r.at), field(r.at, "Endpoint").Say(), r.most, field(r.at, "Period").Say())},
			})
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
				i.tell(d.place(at), "clients are taken from a header: --client-from %s, with --trusted-proxy", strings.ToLower(at.Text))
			}
		default:
			if at.Text != "false" {
				i.lose(d.place(at), "%s is not understood", key)
			}
		}
	}
}

// aspnetSpecial returns the rules of some clients.
func (i *Import) aspnetSpecial(d doc, special *policy.Tree, each bool) (rules []aspnetRule) {
	for _, at := range append(field(special, "IpRules").List(), field(special, "ClientRules").List()...) {
		who, ok := aspnetClient(d, field(at, "ClientId").Say()), true
		if field(at, "ClientId") == nil {
			who, ok = networkSet([]string{field(at, "Ip").Say()})
		}
		if !ok {
			i.lose(d.place(at), "%s is no network: its rules are left out", field(at, "Ip").Say())
			continue
		}
		for _, r := range i.aspnetRules(d, field(at, "Rules"), each) {
			r.set, r.special = r.set.and(who), true
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
	set    Set

	special bool // of some clients
}

// holds reports whether a rule holds in the place of another: of those for one period one for some clients, else the least.
func (r aspnetRule) holds(other aspnetRule, first bool) bool {
	least := r.most < other.most || r.most == other.most && first
	return r.period == other.period && (r.special && !other.special || r.special == other.special && least)
}

func (i *Import) aspnetRules(d doc, all *policy.Tree, each bool) (rules []aspnetRule) {
	for _, at := range all.List() {
		onlyKnown(i.lose, d, at, "endpoint period periodtimespan limit monitormode quotaexceededresponse")
		r := aspnetRule{at: at}
		endpoint := field(at, "Endpoint").Say()
		period, bad := limit.ParsePeriod(field(at, "Period").Say())
		most, err := strconv.ParseInt(strings.TrimSuffix(field(at, "Limit").Say(), ".0"), 10, 64)
		set, ok := endpointSet(endpoint)
		switch {
		case endpoint != "*" && !each:
			i.tell(d.place(at), "rule %s does nothing without EnableEndpointRateLimiting", endpoint)
			continue
		case bad != nil || err != nil || most < 1 || !ok:
			i.lose(d.place(at), "rule %s: %s in %s is not understood: it is left out", endpoint, field(at, "Limit").Say(),
				field(at, "Period").Say())
			continue
		case field(at, "MonitorMode").Say() == "true", field(at, "QuotaExceededResponse") != nil:
			i.tell(d.place(at), "rule %s only watches, or answers in its own way: it is judged like others", endpoint)
		}
		r.most, r.period, r.set = most, period, set
		rules = append(rules, r)
	}
	return rules
}

// endpointSet returns the requests of an endpoint, METHOD:PATH with wildcards in any case.
func endpointSet(text string) (Set, bool) {
	if text == "*" {
		return Set{}, true
	}
	method, path, ok := strings.Cut(text, ":")
	if !ok {
		return none, false
	}
	pattern := "(?i)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(path)) + "$"
	set := within("regexp", pattern)
	if method != "*" {
		set = set.and(within("method", strings.ToUpper(method)))
	}
	return set, true
}

// aspnetExempt returns the requests that no rule judges.
func (i *Import) aspnetExempt(d doc) Set {
	left := Set{}
	var networks []string
	for _, at := range field(d.Tree, "IpWhitelist").List() {
		prefix, err := parseNetwork(at.Text)
		if err != nil {
			i.lose(d.place(at), "IpWhitelist: %s is no network: it is left out", at.Text)
			continue
		}
		networks = append(networks, networkText(prefix))
	}
	if networks != nil {
		left = within("network", networks...).except()
	}
	for _, at := range field(d.Tree, "ClientWhitelist").List() {
		left = left.and(aspnetClient(d, at.Text).except())
	}
	for _, at := range field(d.Tree, "EndpointWhitelist").List() {
		set, ok := endpointSet(at.Text)
		if !ok {
			i.lose(d.place(at), "EndpointWhitelist: %s is not understood: it is left out", at.Text)
			continue
		}
		left = left.and(set.except())
	}
	return left
}

// aspnetHeader returns the key of the header that names a client.
func aspnetHeader(d doc) string {
	return "header:" + cmp.Or(field(d.Tree, "ClientIdHeader").Say(), "X-ClientId")
}

// aspnetClient returns the requests of a client that names itself; those that name none are called anon there.
func aspnetClient(d doc, id string) Set {
	named := within("with", aspnetHeader(d)+"="+id)
	if strings.EqualFold(id, "anon") {
		return union(named, lacking(aspnetHeader(d)))
	}
	return named
}

// aspnetKeys returns what rules count by.
func aspnetKeys(d doc, set Set, byIP, each bool) []keyCase {
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
	return present(set, words, nil, true)
}

const (
	krakendRouter  = "qos/ratelimit/router"
	krakendProxy   = "qos/ratelimit/proxy"
	krakendService = "qos/ratelimit/service"
)

func isKrakenD(d doc) bool {
	return d.Get("endpoints") != nil && (d.Get("version") != nil || d.Get("$schema") != nil)
}

const (
	krakendEndpointWords = "endpoint method backend extraconfig outputencoding timeout cachettl concurrentcalls inputheaders " +
		"inputquerystrings querystringparams headerstopass comment"
	krakendBackendWords = "urlpattern host method encoding extraconfig group target allow deny blacklist whitelist mapping iscollection " +
		"sd sdscheme disablehostsanitize inputheaders inputquerystrings timeout concurrentcalls comment"
)

func takeKrakenD(i *Import, docs []doc) {
	for _, d := range docs {
		p := Policy{Name: "krakend", Combine: "in-turn"}
		if part := d.Get("extra_config", krakendService); part != nil {
			p.Limits = append(p.Limits, i.krakend(d, part, Set{}, "service")...)
		}
		for _, e := range d.List("endpoints") {
			i.krakendEndpoint(&p, d, e)
		}
		d.Walk(func(key string, part *policy.Tree) bool {
			if strings.HasPrefix(key, "qos/ratelimit/") && !slices.Contains([]string{krakendRouter, krakendProxy, krakendService}, key) ||
				strings.HasPrefix(key, "github.com/devopsfaith/krakend-ratelimit/") {
				i.lose(d.place(part), "%s is not read", key)
			}
			return true
		})
		i.Policies = append(i.Policies, p)
	}
}

// krakendEndpoint adds the limits of an endpoint and of its backends.
func (i *Import) krakendEndpoint(p *Policy, d doc, e *policy.Tree) {
	onlyKnown(i.tell, d, e, krakendEndpointWords)
	path := e.Say("endpoint")
	set := krakendPath(path).and(within("method", strings.ToUpper(cmp.Or(e.Say("method"), "GET"))))
	before := len(p.Limits)
	if part := e.Get("extra_config", krakendRouter); part != nil {
		p.Limits = append(p.Limits, i.krakend(d, part, set, "endpoint "+path)...)
	}
	for _, b := range e.List("backend") {
		onlyKnown(i.tell, d, b, krakendBackendWords)
		if part := b.Get("extra_config", krakendProxy); part != nil {
			i.tell(d.place(part), "calls of the backend count, which are requests to %s where it answers each", path)
			if calls := cmp.Or(b.Get("concurrent_calls"), e.Get("concurrent_calls")); calls != nil && calls.Text != "1" {
				i.lose(d.place(calls), "concurrent_calls %s: a request takes as many of the limit of a backend, and here 1", calls.Text)
			}
			p.Limits = append(p.Limits, i.krakend(d, part, set, "a backend of "+path)...)
		}
	}
	if len(p.Limits) > before {
		i.krakendRefusals(d, path, e.Get("extra_config"), d.Get("extra_config"))
	}
}

// krakendRefusing fits parts that decide before the limits of an endpoint.
// Source: krakend/krakend-ce v2.7.0, handler_factory.go (what is added last is asked first).
var krakendRefusing = lazy.Regexp(`^(auth/(validator|api-keys|basic)|modifier/lua-endpoint|security/bot-detector)$`)

// krakendRefusals tells of what may answer requests of an endpoint before its limits.
func (i *Import) krakendRefusals(d doc, path string, configs ...*policy.Tree) {
	for _, config := range configs {
		for _, key := range config.Keys() {
			if krakendRefusing().MatchString(key) {
				i.lose(d.place(config.Get(key)), "%s may answer requests of %s before a limit counts them; here they count", key, path)
			}
		}
	}
}

// krakendPath returns the requests of an endpoint, whose parts in braces stand for any segment.
func krakendPath(path string) Set {
	if !strings.ContainsAny(path, "{*") {
		return exactly(path)
	}
	var b strings.Builder
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		switch {
		case segment == "*":
			b.WriteString("/.*")
		case strings.HasPrefix(segment, "{"):
			b.WriteString("/[^/]+")
		default:
			b.WriteString("/" + regexp.QuoteMeta(segment))
		}
	}
	return within("regexp", "^"+b.String()+"$")
}

// krakend returns the limits of a part: of each client first, and then of all.
func (i *Import) krakend(d doc, part *policy.Tree, set Set, what string) (all []Limit) {
	known := []string{
		"max_rate", "capacity", "client_max_rate", "client_capacity", "strategy", "key", "every", "num_shards",
		"cleanup_period", "cleanup_threads",
	}
	for _, key := range part.Keys() {
		if !slices.Contains(known, key) && !strings.ContainsAny(key[:min(1, len(key))], "@$_#") {
			i.lose(d.place(part.Get(key)), "%s of %s is not understood", key, what)
		}
	}
	b := krakendBuckets{i, d, part, what}
	switch strategy, key := part.Say("strategy"), part.Say("key"); {
	case !b.has("client_"):
	case strategy == "ip":
		if key != "" {
			i.tell(d.place(part), "clients are taken from a header: --client-from %s, with --trusted-proxy", strings.ToLower(key))
		}
		all = b.limits("client_", keyCase{set, request.ByClient})
	case strategy == "header":
		by, err := request.ParseKey("header:" + key)
		if err != nil {
			i.lose(d.place(part), "%v", err)
			break
		}
		i.tell(d.place(part), "who lacks the header is refused there, and not limited here")
		all = b.limits("client_", keyCase{set.having(by.String()), by})
	default:
		i.lose(d.place(part), "strategy %s of %s is not read: its limit of clients is left out", strategy, what)
	}
	if b.has("") {
		all = append(all, b.limits("", keyCase{set, request.BySite})...)
	}
	if all != nil {
		i.lose("", "KrakenD fills a bucket when it is empty, so that up to twice as many pass at once; here it fills all the time")
		i.tell("", "each KrakenD counts for itself; here one counts all requests")
	}
	return all
}

// krakendBuckets hold what a part says: of all clients, and with the prefix client_ of each.
type krakendBuckets struct {
	*Import
	d    doc
	part *policy.Tree
	what string
}

// has reports whether there is one.
func (b krakendBuckets) has(prefix string) bool {
	rate := b.part.Say(prefix + "max_rate")
	return rate != "" && rate != "0"
}

// limits returns the limit of one.
func (b krakendBuckets) limits(prefix string, key keyCase) []Limit {
	rate := b.part.Get(prefix + "max_rate")
	capacity, every := b.part.Say(prefix+"capacity"), cmp.Or(b.part.Say("every"), "1s")
	total, _ := strconv.ParseFloat(b.part.Say("max_rate"), 64)
	if period, err := limit.ParsePeriod(every); prefix != "" && err == nil && total*1e6 < float64(period) {
		capacity = cmp.Or(capacity, "1") // as the rate of all decides, also where there is none
	}
	text, err := bucketText(rate.Say(), capacity, every)
	if err != nil {
		b.lose(b.d.place(rate), "%s of %s: %v", prefix+"max_rate", b.what, err)
		return nil
	}
	return []Limit{{
		Text: text, By: key.by, Match: key.set, Count: key.set,
		Told: []string{fmt.Sprintf("%s %smax_rate %s of %s", b.d.place(rate), prefix, rate.Say(), b.what)},
	}}
}

// bucketText returns the bucket of a rate in a period. Its count is what it holds, and its period as long as that takes.
func bucketText(rate, capacity, every string) (string, error) {
	n, err := strconv.ParseFloat(rate, 64)
	period, bad := limit.ParsePeriod(every)
	if err != nil || bad != nil || n <= 0 {
		return "", fmt.Errorf("%s in %s is not understood", rate, every)
	}
	holds, _ := strconv.ParseFloat(capacity, 64)
	if holds < 1 { // as many as in a second
		holds = max(1, math.Floor(n*1e6/float64(period)))
	}
	fill := math.Round(holds * float64(period) / n)
	return fmt.Sprintf("token:%d/%s", int64(holds), limit.FormatPeriod(limit.Time(fill))), nil
}
