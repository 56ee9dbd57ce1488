package policy

import (
	"regexp"
	"strings"

	"shadow/request"
)

var (
	actionKeys  = []string{"name", "method", "prefix", "glob", "regexp"}
	patternKeys = []string{"prefix", "glob", "regexp"}
)

// readAction reads a rule.
func (r *configReader) readAction(at node) {
	f, ok := r.mapping(at, "an action", actionKeys)
	if !ok {
		return
	}
	rule := request.Rule{Name: r.field(f, "name"), Methods: r.methods(f.values["method"])}
	if f.lacks("name") {
		r.fail(f.at, "an action needs a name")
	}
	if rule.Name == anyValue {
		r.fail(f.values["name"], "no action can be called %q, which stands for every one", anyValue)
	}
	patterns := 0
	for _, key := range patternKeys {
		if _, given := f.values[key]; given {
			patterns++
		}
	}
	if patterns > 1 || patterns == 0 && !f.misfit {
		r.fail(f.at, "action %q has %d of prefix, glob and regexp; want exactly one", rule.Name, patterns)
	}
	rule.Prefix, rule.Glob, rule.Regexp = r.field(f, "prefix"), r.field(f, "glob"), r.field(f, "regexp")
	r.checkPattern(value{rule.Prefix, f.values["prefix"]}, prefixProblem)
	r.checkPattern(value{rule.Glob, f.values["glob"]}, globProblem)
	r.checkPattern(value{rule.Regexp, f.values["regexp"]}, regexpProblem)
	r.config.Actions = append(r.config.Actions, rule)
}

// field is the text of a field, "" if it is not there.
func (r *configReader) field(f fields, key string) string {
	if f.values[key] == nil {
		return ""
	}
	text, _ := r.text(f.values[key])
	return text
}

// methods reads one method or a list of them.
func (r *configReader) methods(at node) (methods []string) {
	if at == nil {
		return nil
	}
	for _, m := range r.values(at) {
		r.checkPattern(m, methodProblem)
		methods = append(methods, strings.ToUpper(m.text))
	}
	return methods
}

// checkPattern complains about a text, if there is one, with what problem says of it.
func (r *configReader) checkPattern(v value, problem func(string) string) {
	if v.text == "" {
		return
	}
	if text := problem(v.text); text != "" {
		r.fail(v.at, "%s", text)
	}
}

func methodProblem(text string) string {
	if strings.Trim(strings.ToUpper(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") != "" {
		return quoted(text) + " is no method; want one such as POST"
	}
	return ""
}

func prefixProblem(text string) string {
	if text[0] != '/' {
		return quoted(text) + " fits no path; want a slash at its beginning"
	}
	return ""
}

func globProblem(text string) string {
	if text[0] != '/' && !strings.HasPrefix(text, "**") {
		return quoted(text) + " fits no path; want a slash at its beginning"
	}
	return ""
}

func regexpProblem(text string) string {
	if _, err := regexp.Compile(text); err != nil {
		return err.Error()
	}
	return ""
}
