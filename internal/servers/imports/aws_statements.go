package imports

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/neutral"
)

// awsStatements make sets of statements.
type awsStatements struct {
	*Import
	d       doc
	unknown int // statements that no condition says
}

// set are the requests that a statement fits. What is not known is taken to fit.
func (a *awsStatements) set(s *policy.Tree) neutral.Set {
	if len(s.Keys()) == 0 {
		return neutral.Set{}
	}
	kind, before := s.Keys()[0], a.unknown
	part := s.Get(kind)
	switch plainKey(kind) {
	case "andstatement":
		all := neutral.Set{}
		for _, one := range a.inner(part) {
			all = all.And(one)
		}
		return all
	case "orstatement":
		return neutral.Union(a.inner(part)...)
	case "notstatement":
		if sets := a.inner(part); len(sets) == 1 && a.unknown == before {
			return sets[0].Except()
		}
		return neutral.Set{}
	case "bytematchstatement", "regexmatchstatement":
		onlyKnown(a.Lose, a.d, part, awsTextWords)
		if set, ok := textStatement(part); ok {
			return set
		}
	case "ipsetreferencestatement":
		a.forwarded(part)
		if set, ok := a.networks(field(part, "Arn")); ok {
			return set
		}
	case "geomatchstatement":
		a.forwarded(part)
		if codes := plainTexts(field(part, "CountryCodes").List()); len(codes) > 0 && !slices.ContainsFunc(codes, ofVariables) {
			return neutral.Within("country", codes...)
		}
	case "asnmatchstatement":
		a.forwarded(part)
		return neutral.Within("asn", mapped.Add(nil, field(part, "AsnList").List(), func(n *policy.Tree) string { return "AS" + n.Text })...)
	}
	a.Lose(a.d.place(part), "no condition says %s: it is taken to fit", kind)
	a.unknown++
	return neutral.Set{}
}

// forwarded tells of a statement on the address that a header names.
func (a *awsStatements) forwarded(part *policy.Tree) {
	if at := cmp.Or(field(part, "ForwardedIPConfig"), field(part, "IPSetForwardedIPConfig")); at != nil {
		a.Lose(a.d.place(at), "it goes by the address that a header names there, and by that of the client here")
	}
}

// inner are the sets of the statements within one, which stand in it as they are in modules.
func (a *awsStatements) inner(part *policy.Tree) []neutral.Set {
	all := slices.Concat(field(part, "Statements").List(), field(part, "Statement").List())
	if len(all) == 0 {
		all = append(all, part)
	}
	return mapped.Add(nil, all, a.set)
}

// networks are the addresses of a set that the document has too; false if they are not known.
func (a *awsStatements) networks(arn *policy.Tree) (neutral.Set, bool) {
	name := cmp.Or(arn.Say("Fn::GetAtt"), arn.Say())
	if list := arn.List("Fn::GetAtt"); len(list) > 0 {
		name = list[0].Text
	}
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "aws_wafv2_ip_set."), ".arn"), ".Arn")
	addresses := a.d.Get("Resources", name, "Properties", "Addresses")
	for _, r := range a.d.List("resource") {
		if r.Text == "aws_wafv2_ip_set "+name {
			addresses = r.Get("addresses")
		}
	}
	var words []string
	for _, item := range addresses.List() {
		words = append(words, texts([]*policy.Tree{item})...)
	}
	return neutral.NetworkSet(words)
}

// capital matches texts with a letter in upper case, which is no class of an expression.
var capital = lazy.Regexp(`(^|[^\\])[A-Z]`)

// textStatement is a statement on the path, the method, the host or the agent.
func textStatement(s *policy.Tree) (neutral.Set, bool) {
	text, pattern := field(s, "SearchString").Say(), field(s, "RegexString").Say()
	fold := false
	for _, kind := range transformations(s) {
		if fold = kind == "LOWERCASE"; !fold {
			return neutral.None, false
		}
	}
	how := map[string]string{"EXACTLY": "", "STARTS_WITH": "beg", "ENDS_WITH": "end", "CONTAINS": "sub"}
	place := strings.ToUpper(field(s, "PositionalConstraint").Say())
	kind, known := how[place]
	if pattern != "" {
		text, kind, known = pattern, "reg", true
	}
	if !known || text == "" || ofVariables(text) {
		return neutral.None, false
	}
	on := field(s, "FieldToMatch")
	if path, err := base64.StdEncoding.DecodeString(text); err == nil && field(on, "UriPath") != nil && strings.HasPrefix(string(path), "/") {
		text = string(path) // as the API writes it
	}
	if fold && capital().MatchString(text) { // what no text in lower case has
		return neutral.None, pattern == ""
	}
	header := strings.ToLower(field(on, "SingleHeader", "Name").Say())
	switch {
	case field(on, "UriPath") != nil:
		return neutral.TextSet("regexp", kind, []string{text}, fold)
	case header == "user-agent":
		return neutral.TextSet("agent", kind, []string{text}, fold)
	case header == "host" && kind != "reg":
		return neutral.HostSet(kind, []string{text})
	case field(on, "Method") != nil && kind == "":
		return neutral.Within("method", strings.ToUpper(text)), true
	case field(on, "Method") != nil && kind == "reg" && neutral.MethodsIn(text) != nil:
		return neutral.Within("method", neutral.MethodsIn(text)...), true
	}
	return neutral.None, false
}
