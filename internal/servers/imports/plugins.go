package imports

import (
	"cmp"
	"slices"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/neutral"
)

// Kong and APISIX limit by plugins, which stand at a route, a service, a consumer or everywhere.

// A plugged limit is a plugin at a place.
type plugged struct {
	d    doc
	at   *policy.Tree // its settings
	name string
	set  neutral.Set
	rank int  // how close it is to a route; those of consumers are closer than all
	one  bool // of one consumer: its requests count together
}

// closest takes from each set what closer plugins of the same name have.
func closest(all []plugged) []plugged {
	slices.SortStableFunc(all, func(a, b plugged) int { return cmp.Compare(b.rank, a.rank) })
	for n := range all {
		for _, before := range all[:n] {
			if before.name == all[n].name && before.rank > all[n].rank {
				all[n].set = all[n].set.Minus([]neutral.Set{before.set})
			}
		}
	}
	return all
}

// ownSets takes from the requests of each route those that a weightier one gets: of more kinds of conditions, else with a
// longer path.
func ownSets(
	all []*policy.Tree, whole map[*policy.Tree]neutral.Set, weight func(*policy.Tree) (kinds, length int),
) map[*policy.Tree]neutral.Set {
	own := map[*policy.Tree]neutral.Set{}
	for _, r := range all {
		set := whole[r]
		kinds, length := weight(r)
		for _, other := range all {
			more, longer := weight(other)
			if (more > kinds || more == kinds && longer > length) && neutral.Meet(whole[other], whole[r]) {
				set = set.And(whole[other].Except())
			}
		}
		own[r] = set
	}
	return own
}

// refusing plugins of Kong and APISIX come before those that limit.
var refusing = lazy.Regexp(`^(.*-auth(-.*)?|jwt.*|wolf-rbac|oauth2.*|openid-connect|.*-restriction|bot-detection|acl|authz-.*|opa|csrf|` +
	`uri-blocker|request-(validat|size-limit).*|client-control|cors|saml.*|fault-injection|mocking|(serverless-)?pre-function)$`)

// passing plugins refuse nothing before that, and limiting ones are told where they are read.
var passing = lazy.Regexp(`^$|^((request|response|route|exit|body)-(transform|rewrite).*|.*-log(ger|ging)?|loggly|syslog|datadog|statsd.*|` +
	`prometheus|zipkin|skywalking.*|opentelemetry|correlation-id|request-id|real-ip|proxy-.*|redirect|echo|gzip|brotli|(.*-)?post-.*|` +
	`request-termination|aws-lambda|azure-functions|openwhisk|openfunction|grpc-.*|traffic-split|canary.*|forward-proxy.*|session|` +
	`degraphql|attach-.*|upstream-timeout|kafka-.*|api-breaker|ai-proxy.*)$|limit|throttl|workflow|service-protection`)

// refusals tells of plugins that refuse requests before limits count them.
func (i *Import) refusals(all, limits []plugged) {
	for _, at := range all {
		switch refuses := refusing().MatchString(at.name); {
		case !refuses && passing().MatchString(at.name), !slices.ContainsFunc(limits, func(l plugged) bool {
			return slices.Contains([]string{"rate-limiting", "limit-count", "limit-req"}, l.name) && neutral.Meet(at.set, l.set)
		}):
		case refuses:
			i.Lose(at.d.place(at.at), "the plugin %s may answer requests before a limit counts them; here they count", at.name)
		default:
			i.Tell(at.d.place(at.at), "the plugin %s is not known: it is taken to refuse nothing", at.name)
		}
	}
}
