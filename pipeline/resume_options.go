package pipeline

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
	"shadow/policy"
)

// What a replay was told has to be the same for its limits to go on: else what they remember was reached by other
// rules. Each of these options says what a change of it makes useless.

// A resumeOption is one of them, as text.
type resumeOption struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type resumeOptions []resumeOption

// What an option is about.
const (
	ofLimits   = "limits"   // what limits remember is found by the limit: others begin with nothing
	ofLines    = "lines"    // which lines are requests, and of when
	ofRequests = "requests" // what is known of a request that is held back
	ofClients  = "clients"  // who a client is, and with it what all limits remember
)

// resumeSubjects say what each option is about.
var resumeSubjects = map[string][]string{
	"limits": {ofLimits}, "--lateness": {ofLines}, "--format": {ofLines}, "--nginx-conf": {ofLines}, "--log-name": {ofLines}, "--field": {ofLines},
	"--timezone": {ofLines}, "--exclude": {ofLines}, "--exclude-status": {ofLines}, "--not-http": {ofLines},
	"--client": {ofRequests, ofClients}, "--client-from": {ofRequests, ofClients}, "--trusted-proxy": {ofRequests, ofClients},
	"actions": {ofRequests}, "scopes": {ofRequests}, "columns": {ofRequests},
}

// resumeOptions are the options of this replay. Who is in a tier may change from night to night, as with a server: it
// does not count among them. What an action is matters where limits go by actions.
func (r *Replay) resumeOptions() resumeOptions {
	columns := fmt.Sprintf("hosts %t, users %t", r.Read.Hosts, r.Read.Users)
	if r.Read.Paths { // named only where they are, as they came later
		columns += ", paths true"
	}
	actions := ""
	if slices.ContainsFunc(r.Policies, func(p policy.Policy) bool {
		return slices.ContainsFunc(p.Parts, func(part policy.Part) bool {
			return part.Match > 0 || part.Count > 0 || strings.Contains(part.By.String(), "action")
		})
	}) {
		actions = fingerprint(r.Config.Actions)
	}
	return resumeOptions{
		{"limits", strings.Join(policyTexts(r.Policies), "; ")},
		{"--client", r.Client},
		{"--client-from", r.ClientFrom},
		{"--trusted-proxy", strings.Join(r.Trusted, ",")},
		{"--exclude", strings.Join(r.Exclude, " ")},
		{"--exclude-status", strings.Join(r.ExcludeStatus, ",")},
		{"--not-http", NotHTTPWords[r.NotHTTP]},
		{"--lateness", limit.FormatPeriod(r.Lateness)},
		{"--format", r.Format},
		{"--nginx-conf", r.NginxConf},
		{"--log-name", r.LogName},
		{"--field", r.Fields},
		{"--timezone", r.Timezone.String()},
		{"actions", actions},
		{"scopes", fingerprint(r.Config.Scopes)},
		{"columns", columns},
	}
}

// policyTexts say what each policy is.
func policyTexts(policies []policy.Policy) (texts []string) {
	for _, p := range policies {
		var parts []string
		for _, part := range p.Parts {
			text := part.Spec.String() + " by " + part.By.String()
			if part.MatchText != "" {
				text += " for " + part.MatchText
			}
			if part.CountText != "" {
				text += " counting " + part.CountText
			}
			parts = append(parts, text)
		}
		text := strings.Join(parts, " + ")
		if p.Combine != policy.Together {
			text = p.Combine.String() + ": " + text
		}
		texts = append(texts, text)
	}
	return texts
}

// fingerprint is a short text that is another one when things are.
func fingerprint(thing any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", thing))
	return fmt.Sprintf("%x", sum[:8])
}

// A resumeChange is an option that is not as it was.
type resumeChange struct{ name, before, now string }

type resumeChanges []resumeChange

// changes are the options that were others before.
func (o resumeOptions) changes(before resumeOptions) (all resumeChanges) {
	for _, now := range o {
		was := ""
		if i := slices.IndexFunc(before, func(b resumeOption) bool { return b.Name == now.Name }); i >= 0 {
			was = before[i].Value
		}
		if was != now.Value {
			all = append(all, resumeChange{now.Name, was, now.Value})
		}
	}
	return all
}

// touch reports whether a change is about something.
func (c resumeChanges) touch(subject string) bool {
	return slices.ContainsFunc(c, func(x resumeChange) bool { return slices.Contains(resumeSubjects[x.name], subject) })
}

// text says what is not as it was, a line each.
func (c resumeChanges) text() string {
	var lines strings.Builder
	for _, x := range c {
		switch x.name {
		case "actions", "scopes":
			fmt.Fprintf(&lines, "  %s of the configuration: changed\n", x.name)
		case "columns": // follows from the limits
		default:
			fmt.Fprintf(&lines, "  %s: %s, now %s\n", x.name, cmp.Or(x.before, "(none)"), cmp.Or(x.now, "(none)"))
		}
	}
	return lines.String()
}
