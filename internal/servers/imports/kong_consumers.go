package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/neutral"
)

// consumers finds the plugins of consumers.
func (r *kongReader) consumers() {
	for _, c := range r.d.List("consumers") {
		for _, p := range c.List("plugins") {
			r.consumer(c, p)
		}
		for _, p := range r.d.List("plugins") {
			if ofConsumer(p, c) {
				r.consumer(c, p)
			}
		}
	}
	for _, p := range r.d.List("plugins") {
		if p.Get("consumer") != nil && kongOther().MatchString(p.Say("name")) &&
			!slices.ContainsFunc(r.d.List("consumers"), func(c *policy.Tree) bool { return ofConsumer(p, c) }) {
			r.Lose(r.d.place(p), "the consumer of this plugin is not here: its limit is not read")
		}
	}
	r.otherConsumers()
}

// ofConsumer reports whether a plugin names a consumer.
func ofConsumer(p, c *policy.Tree) bool {
	of := cmp.Or(p.Say("consumer"), p.Say("consumer", "username"), p.Say("consumer", "id"))
	return of != "" && (of == c.Say("username") || of == c.Say("id"))
}

// keyHeader is the header that has the API key of a consumer.
func keyHeader(d doc) (header string) {
	header = "apikey"
	d.Walk(func(_ string, p *policy.Tree) bool {
		if names := p.List("config", "key_names"); p.Say("name") == "key-auth" && len(names) > 0 {
			header = names[0].Text
		}
		return true
	})
	return header
}

// consumer takes the plugin of a consumer. An API key that is a text of the configuration tells a consumer, where the
// log has its header.
// Source: Kong/kong 22246ef, kong/runloop/plugins_iterator.lua (of a consumer, at a route, a service or anywhere, comes
// before any other), kong/plugins/key-auth/schema.lua (key_names, apikey by default).
func (r *kongReader) consumer(c, p *policy.Tree) {
	name, place := cmp.Or(c.Say("username"), c.Say("custom_id"), c.Say("id")), r.d.place(p)
	if p.Say("enabled") == "false" || p.Say("name") != "rate-limiting" {
		if strings.HasPrefix(p.Say("name"), "rate-limiting") {
			r.Lose(place, "the plugin %s of consumer %s is not read", p.Say("name"), name)
		}
		return
	}
	places, rank := kongPlaces(p)
	set := neutral.Set{}
	for _, of := range places {
		var ok bool
		if set, ok = r.places[of]; !ok {
			r.Tell(place, "no route leads to the %s", of)
			return
		}
	}
	keys := mapped.Add(nil, c.List("keyauth_credentials"), func(k *policy.Tree) string { return "header:" + r.header + "=" + k.Say("key") })
	if keys == nil {
		r.Lose(place, "consumer %s has no API key here, so nothing tells its requests: its limit is not read", name)
		return
	}
	r.Lose(place, "consumer %s is told by its API key: only a log with the header %s shows it", name, r.header)
	r.all = append(r.all, plugged{d: r.d, at: p, name: p.Say("name"), set: set.And(neutral.Within("with", keys...)), rank: 3 + rank, one: true})
}

// otherConsumers tells of limits for consumers that are not read.
func (r *kongReader) otherConsumers() {
	r.d.Walk(func(key string, part *policy.Tree) bool {
		if key == "consumers" {
			return false
		}
		if strings.HasPrefix(part.Say("name"), "rate-limiting") && (part.Get("consumer") != nil && part.Get("service") == nil &&
			!slices.Contains(r.d.List("plugins"), part) || part.Get("consumer_group") != nil) {
			r.Lose(r.d.place(part), "a limit for some consumers is not read")
		}
		if key == "consumer_groups" && strings.Contains(fmt.Sprint(policyNames(part)), "rate-limiting") {
			r.Lose(r.d.place(part), "a limit of a consumer group is not read")
			return false
		}
		return true
	})
}
