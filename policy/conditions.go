package policy

import (
	"fmt"
	"slices"
	"strings"

	"shadow/request"

	"github.com/goccy/go-yaml/ast"
)

// conditionProblems say of each condition, by its key, what can be wrong with a value.
var conditionProblems = map[string]func(r *configReader, text string) string{
	"action":  (*configReader).actionProblem,
	"method":  plainly(methodProblem),
	"path":    plainly(globProblem),
	"prefix":  plainly(prefixProblem),
	"regexp":  plainly(regexpProblem),
	"host":    plainly(hostProblem),
	"class":   plainly(classProblem),
	"tier":    (*configReader).tierProblem,
	statusKey: plainly(statusProblem),
}

// statusKey is the condition that says what is counted and cannot say what is refused: nobody knows the answer before.
const statusKey = "status"

// conditionKeys are the keys of what may be refused, and of what is counted.
func conditionKeys(counted bool) (keys []string) {
	new(request.Conditions).Each(func(key string, _ *[]string) {
		if counted || key != statusKey {
			keys = append(keys, key)
		}
	})
	return keys
}

// plainly is a check that needs to know nothing of the configuration.
func plainly(problem func(string) string) func(*configReader, string) string {
	return func(_ *configReader, text string) string { return problem(text) }
}

// readConditions reads what may be refused, or what is counted. A condition that is stated here takes the place of that
// in from; the others stay.
func (r *configReader) readConditions(at node, from request.Conditions, counted bool) request.Conditions {
	what := "match"
	if counted {
		what = "count"
	}
	f, ok := r.mapping(at, what, conditionKeys(counted))
	if !ok {
		return from
	}
	if len(f.at.(*ast.MappingNode).Values) == 0 {
		r.fail(at, "%s states no condition; leave it out", what)
	}
	from.Each(func(key string, values *[]string) {
		if f.values[key] != nil {
			*values = r.readCondition(key, f.values[key])
		}
	})
	return from
}

// readCondition reads the values of a condition; none stands for any.
func (r *configReader) readCondition(key string, at node) (texts []string) {
	values := r.values(at)
	for _, v := range values {
		if v.text == anyValue {
			if len(values) > 1 {
				r.fail(v.at, "%q stands alone", anyValue)
			}
			return nil
		}
		if problem := conditionProblems[key](r, v.text); problem != "" {
			r.fail(v.at, "%s", problem)
		}
		if key == "method" {
			v.text = strings.ToUpper(v.text)
		}
		texts = append(texts, v.text)
	}
	return texts
}

func classProblem(text string) string {
	if slices.Contains(request.Classes(), text) {
		return ""
	}
	return fmt.Sprintf("unknown class %q%s; there are %s", text, meantOf(text, request.Classes()), strings.Join(request.Classes(), ", "))
}

func hostProblem(text string) string {
	if strings.ContainsAny(text, "/ \t") || strings.Count(text, ":") == 1 {
		return quoted(text) + " is no name of a host; want one without scheme and port, such as shop.example or *.example"
	}
	return ""
}

func statusProblem(text string) string {
	digits := text
	if head, ok := strings.CutSuffix(strings.ToLower(text), "xx"); ok {
		digits = head + "00"
	}
	if len(digits) != 3 || digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
		return quoted(text) + " is not a status such as 401 or 4xx"
	}
	if digits[0] > '5' {
		return quoted(text) + " is no status of HTTP; want one from 100 to 599, such as 401 or 4xx"
	}
	return ""
}

// tierProblem says what is wrong with the name of a tier.
func (r *configReader) tierProblem(name string) string {
	names := []string{}
	for _, t := range r.config.Tiers {
		names = append(names, t.Name)
	}
	names = append(names, request.DefaultTier)
	switch {
	case slices.Contains(names, name):
		return ""
	case name == exemptTier:
		return "no policy judges the clients that are exempt"
	}
	return fmt.Sprintf("unknown tier %q%s; there are %s", name, meantOf(name, names), strings.Join(names, ", "))
}

// Actions that take their names from paths: /, /about, and /product/… for all below /product.
const below = "/…"

// actionProblem says why no request can have an action of this name. Which paths the log has is not known here.
func (r *configReader) actionProblem(name string) string {
	names := []string{"static", "(no path)", "(not http)", "(other)"}
	for _, rule := range r.config.Actions {
		names = append(names, rule.Name)
	}
	if slices.Contains(names, name) {
		return ""
	}
	if name[0] == '/' {
		segment := strings.TrimSuffix(name[1:], below)
		if first, _, deeper := strings.Cut(segment, "/"); deeper {
			return fmt.Sprintf("no action is called %q: those without a rule go by the first segment, such as /%s and /%s%s; "+
				"for a path, want path: %s", name, first, first, below, name)
		}
		return ""
	}
	return fmt.Sprintf("no rule names the action %q%s, and actions without a rule begin with a slash", name, meantOf(name, names))
}
