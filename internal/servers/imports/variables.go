package imports

import (
	"cmp"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
)

// Terraform names variables, and CloudFormation parameters, whose defaults stand in the document.
// Sources: https://developer.hashicorp.com/terraform/language/expressions/references (var., local.),
// https://developer.hashicorp.com/terraform/language/expressions/strings (${ … }),
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference-sub.html

var (
	reference = lazy.Regexp(`^(var|local|data|module|each|count|path|terraform)\.[\w.\[\]"*-]+$`)
	inText    = lazy.Regexp(`\$?\$\{\s*([\w.:-]+)\s*\}`) // two dollars stand for one
)

// ofVariables reports whether a text is made of what the document does not say.
func ofVariables(text string) bool {
	return strings.Contains(text, "${") || reference().MatchString(text)
}

// ofValues reports whether a file gives Terraform's variables their values, before which defaults give way.
func ofValues(file string) bool { return strings.HasSuffix(file, ".tfvars") }

// resolve puts values and defaults in the place of the variables, locals and parameters that name them. Those of Terraform
// may stand in another file of the module.
func resolve(docs ...doc) {
	named := map[string]*policy.Tree{}
	for _, d := range docs {
		for _, v := range d.List("variable") {
			if name := "var." + v.Text; named[name] == nil {
				named[name] = v.Get("default")
			}
		}
		for _, locals := range d.List("locals") {
			for _, key := range locals.Keys() {
				named["local."+key] = locals.Get(key)
			}
		}
		for _, key := range d.Get("Parameters").Keys() {
			named[key] = d.Get("Parameters", key, "Default")
		}
		for _, key := range d.Keys() {
			if ofValues(d.file) {
				named["var."+key] = d.Get(key)
			}
		}
	}
	for _, d := range docs {
		d.substitute(named)
	}
}

// substitute puts what is named in the place of its names.
func (d doc) substitute(named map[string]*policy.Tree) {
	d.Walk(func(key string, part *policy.Tree) bool {
		if sub := part.Say("Fn::Sub"); sub != "" {
			*part = policy.Tree{Line: part.Line, Text: sub}
		}
		value := named[cmp.Or(part.Say("Ref"), part.Text)] // !Ref leaves but the name
		if value != nil && value != part && key != "Name" {
			line := part.Line
			*part = *value
			part.Line = line
		}
		part.Text = inText().ReplaceAllStringFunc(part.Text, func(at string) string {
			if value := named[inText().FindStringSubmatch(at)[1]]; value != nil && value.Text != "" {
				return value.Text
			}
			return at
		})
		return true
	})
}
