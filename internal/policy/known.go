package policy

import (
	"strings"

	"shadow/limit"
)

// KnownAs returns what users of libraries and servers call a limit: the presets that stand for exactly it.
func KnownAs(spec limit.Spec) (texts []string) {
	for i := range Presets {
		if text := Presets[i].standsFor(spec); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// standsFor returns how a limit is written by the preset, with the fewest options; "" if it cannot be.
func (p *Preset) standsFor(spec limit.Spec) string {
	for _, options := range p.settings(spec) {
		for i, tick := range []limit.Time{0, limit.Microsecond, limit.Millisecond, limit.Second} { // see closed
			count := spec.Count + int64(i/3) // see modQos
			own := limit.Spec{Algorithm: p.Name, Count: count, Period: spec.Period - tick, Options: options}
			if ours, err := p.inOurWords(own); err == nil && own.Period > 0 && ours == spec {
				return own.String()
			}
		}
	}
	return ""
}

// settings are the ways to set the options of the preset, with the numbers of a limit. A number that it does not have
// leaves an option without a value, which is none.
func (p *Preset) settings(spec limit.Spec) []string {
	_, burst, _ := CutOption(spec, "burst")
	_, cooldown, _ := CutOption(spec, "cooldown")
	all := []string{""}
	for option := range strings.SplitSeq(p.Options, ", ") {
		name, values, _ := strings.Cut(option, "=")
		for _, before := range all {
			for value := range strings.SplitSeq(strings.NewReplacer("PERIOD", cooldown, "N", burst).Replace(values), "|") {
				with := strings.TrimSuffix(name+"="+value, "=")
				all = append(all, strings.TrimPrefix(before+","+with, ","))
			}
		}
	}
	return all
}
