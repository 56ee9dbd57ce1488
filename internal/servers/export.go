package servers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Export writes limits of any kind for a server: each is rounded to the nearest limit that the server has, and its
// requests and its key are said in the server's words. A limit of which the server cannot say all is left out, and that
// is said: it would hold for others than was wanted.

// A Wanted is a limit to export.
type Wanted struct {
	Spec   limit.Spec
	Shape  limit.Shape
	By     request.Key
	Match  request.Conditions // without actions and tiers
	Text   string             // it in words
	Broken string             // why no server has it; "": some may
}

// A Target is a server that limits are exported to.
type Target struct {
	Name, Title string
	Enforce     string // how to enforce, once the count is right. A sentence without its end
	Beside      string // what must not be there already, or what to do with it. A sentence without its end
	Comment     string // what begins a comment; "": the format has none
	Combine     policy.Combine
	Ending      string // of a file
	Grid        string // in words

	nearest func(limit.Spec, limit.Shape) (near limit.Spec, deviation string)
	up      func(s limit.Spec, n int64) int64 // the least number of the grid that is n or more; nil: n
	most    func(Where) int                   // how many limits there can be; nil: any number
	write   func(e *Export, all []setting) error
	own     func(limit.Spec) bool              // whether a limit is one of its own
	cools   []limit.Time                       // how long a cooldown can be; nil: it has none
	around  func(e *Export, dir string) string // a minimal configuration around the lines; nil: nothing judges one
	judge   string                             // the command that judges it, with FILE and DIR

	judgedBy string // the flag that has them judged in a configuration that limits already
}

// Targets are all servers that limits are exported to, in the order in which they are shown.
var Targets = []*Target{
	&nginxTarget, &ingressTarget, &haproxyTarget, &envoyTarget, &envoyLocalTarget, &gatewayTarget, &traefikTarget, &caddyTarget,
	&kongTarget, &apisixTarget, &awsTarget, &awsTerraformTarget, &cloudflareTarget, &luaTarget,
}

// TargetNames are their names.
func TargetNames() []string { return mapped.Of(Targets, func(t *Target) string { return t.Name }) }

// TargetNamed returns a target by its name.
func TargetNamed(name string) (*Target, error) {
	for _, t := range Targets {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("nothing is exported to %q%s; want one of %s", name, limit.Hint(name, TargetNames()),
		strings.Join(TargetNames(), ", "))
}

// algorithm reports whether limits are of an algorithm.
func algorithm(name string) func(limit.Spec) bool {
	return func(s limit.Spec) bool { return s.Algorithm == name }
}

// An Export is limits as a server is told them.
type Export struct {
	Target *Target
	Limits []Exported
	Lost   []string // what is not as wanted
	Notes  []string // what else is to be known
	Blocks []Block

	where Where
	sets  [][]string // of addresses, which AWS has apart
}

// An Exported is what became of a limit.
type Exported struct {
	Wanted    string `json:"wanted"`
	Set       string `json:"set"`       // as --limit takes it; "": it is left out
	Deviation string `json:"deviation"` // from what was wanted; "": in no way
	Problem   string `json:"problem"`   // why it is left out; "": it is not
}

// A setting is a limit of the server, for some requests.
type setting struct {
	name string
	spec limit.Spec
	when []clause // one of them must fit; none: all requests
	by   []request.Part
	of   int // which of the limits it is
}

// Nearest is the limit of the target that is nearest to one, as --limit takes it; "" and the reason if none is.
func (t *Target) Nearest(spec limit.Spec, shape limit.Shape) (text, deviation string) {
	spec, cooldown, cools := policy.CutOption(spec, "cooldown")
	spec, hosts := policy.CutOptions(spec, policy.HostOptions...)
	if cools || hosts != "" {
		if plain, err := policy.New(spec, request.ByClient); err == nil {
			if d, ok := plain.Parts[0].Limiter.(limit.Describer); ok {
				shape = d.Shape()
			}
		}
	}
	switch {
	case t.own(spec):
	case spec.UnderWay():
		return "", "no limit on requests under way is written for it here"
	default:
		if spec, deviation = t.nearest(spec, shape); spec.Count == 0 {
			return "", cmp.Or(deviation, "none of its limits comes near")
		}
	}
	if text = spec.String(); cools && t.cools != nil {
		length, off := nearestCooldown(cooldown, t.cools)
		text, deviation = text+",cooldown="+length, strings.TrimPrefix(deviation+off, "; ")
	}
	parsed, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil || len(parsed) != 1 {
		return "", "its numbers have no room for this"
	}
	return parsed[0].Parts[0].Spec.String(), deviation
}

// Up is the least number of the target's grid that a limit can have in the place of n.
func (t *Target) Up(spec limit.Spec, n int64) int64 {
	if t.up == nil {
		return n
	}
	return t.up(spec, n)
}

// Export writes limits for the target.
func (t *Target) Export(all []Wanted, w Where) *Export {
	specs := make([]string, len(all))
	return t.ExportAs(all, specs, w)
}

// ExportAs is Export with limits of the target in the place of the nearest ones; "": the nearest.
func (t *Target) ExportAs(all []Wanted, as []string, w Where) *Export {
	e := &Export{Target: t, where: w}
	var settings []setting
	for i, want := range all {
		x := Exported{Wanted: want.Text}
		name := "shadow"
		if len(all) > 1 {
			name = fmt.Sprintf("shadow_%d", i+1)
		}
		s, err := t.setting(want, as[i], &x)
		if s.of, s.name = i, name; err == nil {
			err = t.write(&Export{Target: t, where: w}, []setting{s}) // alone, to see whether it can be written
		}
		if err == nil && t.most != nil && len(settings) == t.most(w) {
			err = fmt.Errorf("there can be %d only", t.most(w))
		}
		if err != nil {
			x.Problem, x.Set, x.Deviation = err.Error(), "", ""
			e.Lost = append(e.Lost, fmt.Sprintf("%s is left out: %v", want.Text, err))
		} else {
			settings = append(settings, s)
			e.loseOptions(want, s.spec)
		}
		e.Limits = append(e.Limits, x)
	}
	e.where = w
	if len(settings) > 0 {
		if err := t.write(e, settings); err != nil { // each has been tried
			e.lose("%v", err)
		}
		e.note("%s", t.Beside)
	}
	return e
}

// loseOptions says which options that go with every limit are not in that of the target.
func (e *Export) loseOptions(want Wanted, has limit.Spec) {
	if _, hosts := policy.CutOptions(want.Spec, policy.HostOptions...); hosts != "" {
		e.lose("%s: %s is left out: it is of several hosts, and these lines are for one", want.Text, hosts)
	}
	_, length, wanted := policy.CutOption(want.Spec, "cooldown")
	if _, _, there := policy.CutOption(has, "cooldown"); wanted && !there {
		e.lose("%s: its cooldown of %s is left out: there is none there", want.Text, length)
	}
}

// setting rounds a limit, and takes apart for which requests it is.
func (t *Target) setting(want Wanted, as string, x *Exported) (s setting, err error) {
	if want.Broken != "" {
		return s, fmt.Errorf("%s", want.Broken)
	}
	if as == "" {
		as, x.Deviation = t.Nearest(want.Spec, want.Shape)
	}
	if as == "" {
		return s, fmt.Errorf("%s", x.Deviation)
	}
	if s.spec, err = limit.Parse(as); err != nil {
		return s, err
	}
	x.Set = s.spec.String()
	if s.when, err = clausesOf(want.Match); err != nil {
		return s, err
	}
	s.by = want.By.Parts()
	return s, nil
}

func (e *Export) lose(text string, args ...any) {
	if text = fmt.Sprintf(text, args...); !slices.Contains(e.Lost, text) {
		e.Lost = append(e.Lost, text)
	}
}

func (e *Export) note(text string, args ...any) {
	if text = fmt.Sprintf(text, args...); text != "" && !slices.Contains(e.Notes, text) {
		e.Notes = append(e.Notes, text)
	}
}

func (e *Export) block(place string, lines ...string) {
	if n := len(e.Blocks) - 1; n >= 0 && e.Blocks[n].Place == place {
		e.Blocks[n].Lines = append(e.Blocks[n].Lines, lines...)
		return
	}
	e.Blocks = append(e.Blocks, Block{Place: place, Lines: lines})
}

// Text returns what to paste, with what is to be known in comments.
func (e *Export) Text() string {
	var b strings.Builder
	comment := func(text string) {
		if e.Target.Comment != "" {
			b.WriteString(strings.TrimSpace(e.Target.Comment+" "+escape.Visible(text)) + "\n")
		}
	}
	for _, text := range e.Said() {
		comment(text)
	}
	for _, block := range e.Blocks {
		if comment(""); block.Place != "" {
			comment(block.Place + ":")
		}
		for _, line := range block.Lines {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// Said returns what is to be known of an export, one a line.
func (e *Export) Said() (all []string) {
	for _, x := range e.Limits {
		switch {
		case x.Set == "":
		case x.Deviation == "":
			all = append(all, fmt.Sprintf("%s: %s", x.Wanted, x.Set))
		default:
			all = append(all, fmt.Sprintf("%s: %s (%s)", x.Wanted, x.Set, x.Deviation))
		}
	}
	all = mapped.Add(all, e.Lost, func(text string) string { return "NOT AS WANTED: " + text })
	if all = append(all, e.Notes...); len(e.Blocks) > 0 {
		all = append(all, e.Target.Enforce)
	}
	return all
}
