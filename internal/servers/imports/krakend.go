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
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

// KrakenD, in JSON.
// Source: krakend/krakend-ratelimit 09e5512, router/router.go, router/gin/gin.go (order, capacities), tokenbucket.go
// (fills when it is empty), proxy/proxy.go.

var krakendFormat = format{name: "krakend", has: isKrakenD, take: takeKrakenD}

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
		p := neutral.Policy{Name: "krakend", Combine: "in-turn"}
		if part := d.Get("extra_config", krakendService); part != nil {
			i.krakend(&p, d, part, neutral.Set{}, "service")
		}
		for _, e := range d.List("endpoints") {
			i.krakendEndpoint(&p, d, e)
		}
		d.Walk(func(key string, part *policy.Tree) bool {
			if strings.HasPrefix(key, "qos/ratelimit/") && !slices.Contains([]string{krakendRouter, krakendProxy, krakendService}, key) ||
				strings.HasPrefix(key, "github.com/devopsfaith/krakend-ratelimit/") {
				i.Lose(d.place(part), "%s is not read", key)
			}
			return true
		})
		i.Policies = append(i.Policies, p)
	}
}

// krakendEndpoint adds the limits of an endpoint and of its backends.
func (i *Import) krakendEndpoint(p *neutral.Policy, d doc, e *policy.Tree) {
	onlyKnown(i.Tell, d, e, krakendEndpointWords)
	path := e.Say("endpoint")
	set := krakendPath(path).And(neutral.Within("method", strings.ToUpper(cmp.Or(e.Say("method"), "GET"))))
	before := len(p.Limits)
	if part := e.Get("extra_config", krakendRouter); part != nil {
		i.krakend(p, d, part, set, "endpoint "+path)
	}
	for _, b := range e.List("backend") {
		onlyKnown(i.Tell, d, b, krakendBackendWords)
		if part := b.Get("extra_config", krakendProxy); part != nil {
			i.Tell(d.place(part), "calls of the backend count, which are requests to %s where it answers each", path)
			if calls := cmp.Or(b.Get("concurrent_calls"), e.Get("concurrent_calls")); calls != nil && calls.Text != "1" {
				i.Lose(d.place(calls), "concurrent_calls %s: a request takes as many of the limit of a backend, and here 1", calls.Text)
			}
			i.krakend(p, d, part, set, "a backend of "+path)
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
				i.Lose(d.place(config.Get(key)), "%s may answer requests of %s before a limit counts them; here they count", key, path)
			}
		}
	}
}

// krakendPath returns the requests of an endpoint, whose parts in braces stand for any segment.
func krakendPath(path string) neutral.Set {
	if !strings.ContainsAny(path, "{*") {
		return neutral.Exactly(path)
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
	return neutral.Within("regexp", "^"+b.String()+"$")
}

// krakend adds the limits of a part: of each client first, and then of all.
func (i *Import) krakend(p *neutral.Policy, d doc, part *policy.Tree, set neutral.Set, what string) {
	known := []string{
		"max_rate", "capacity", "client_max_rate", "client_capacity", "strategy", "key", "every", "num_shards",
		"cleanup_period", "cleanup_threads",
	}
	for _, key := range part.Keys() {
		if !slices.Contains(known, key) && !strings.ContainsAny(key[:min(1, len(key))], "@$_#") {
			i.Lose(d.place(part.Get(key)), "%s of %s is not understood", key, what)
		}
	}
	b, before := krakendBuckets{i, d, part, what}, len(p.Limits)
	switch strategy, key := part.Say("strategy"), part.Say("key"); {
	case !b.has("client_"):
	case strategy == "ip":
		if key != "" {
			i.Tell(d.place(part), "clients are taken from a header: --client-from %s, with --trusted-proxy", strings.ToLower(key))
		}
		b.limit(p, "client_", neutral.KeyCase{Set: set, By: request.ByClient})
	case strategy == "header":
		by, err := request.ParseKey("header:" + key)
		if err != nil {
			i.Lose(d.place(part), "%v", err)
			break
		}
		i.Tell(d.place(part), "who lacks the header is refused there, and not limited here")
		b.limit(p, "client_", neutral.KeyCase{Set: set.Having(by.String()), By: by})
	default:
		i.Lose(d.place(part), "strategy %s of %s is not read: its limit of clients is left out", strategy, what)
	}
	if b.has("") {
		b.limit(p, "", neutral.KeyCase{Set: set, By: request.BySite})
	}
	if len(p.Limits) > before {
		i.Lose("", "KrakenD fills a bucket when it is empty, so that up to twice as many pass at once; here it fills all the time")
		i.Tell("", "each KrakenD counts for itself; here one counts all requests")
	}
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

// limit adds the limit of one.
func (b krakendBuckets) limit(p *neutral.Policy, prefix string, key neutral.KeyCase) {
	rate := b.part.Get(prefix + "max_rate")
	capacity, every := b.part.Say(prefix+"capacity"), cmp.Or(b.part.Say("every"), "1s")
	total, _ := strconv.ParseFloat(b.part.Say("max_rate"), 64)
	if period, err := limit.ParsePeriod(every); prefix != "" && err == nil && total*1e6 < float64(period) {
		capacity = cmp.Or(capacity, "1") // as the rate of all decides, also where there is none
	}
	text, err := bucketText(rate.Say(), capacity, every)
	if err != nil {
		b.Lose(b.d.place(rate), "%s of %s: %v", prefix+"max_rate", b.what, err)
		return
	}
	p.Add(text, fmt.Sprintf("%s %smax_rate %s of %s", b.d.place(rate), prefix, rate.Say(), b.what), key)
}

// bucketText returns the bucket of a rate in a period. Its count is what it holds, and its period as long as that takes.
func bucketText(rate, capacity, every string) (string, error) {
	n, err := strconv.ParseFloat(rate, 64)
	period, bad := limit.ParsePeriod(every)
	period = max(period, limit.Second) // less is not taken there
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
