package nginx

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/neutral"
	"shadow/parse/nginxconf"
)

// A zone of limit_req, or of limit_conn, which has no rate.
type zone struct {
	*nginxconf.Directive
	name, rate string
}

// user is the name of the directives that use the zone.
func (z *zone) user() string { return strings.TrimSuffix(z.Name, "_zone") }

// A usage is a limit_req that judges some requests: those lines that say the same of the same zone.
type usage struct {
	zone    *zone
	burst   string
	options string // with the burst
	from    []*nginxconf.Directive
	sets    []keyed
	about   []string
}

// size returns the burst as a number, 0 of one that is none.
func (u *usage) size() int64 {
	n, _ := strconv.ParseInt(u.burst, 10, 64)
	return n
}

// A keyed set is requests with the same cases of a key.
type keyed struct {
	neutral.Set
	keys []zoneKey
}

// declareZone reads limit_req_zone KEY zone=NAME:SIZE rate=RATE.
func (r *reader) declareZone(d *nginxconf.Directive) {
	z := &zone{Directive: d, rate: "1r/s"}
	requests := d.Name == "limit_req_zone"
	for _, word := range d.Args[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "zone":
			of, size, _ := strings.Cut(value, ":")
			if z.name = of; tooSmall(size) {
				r.Lose(d.Place(), "zone=%s is too small: nginx refuses this configuration", value)
			}
		case name == "rate" && requests:
			z.rate = value
		case name == "sync":
			r.Lose(d.Place(), "sync shares the zone with other machines; here one counts for all")
		default:
			r.Lose(d.Place(), "%s: %q is not understood", d.Name, word)
		}
	}
	first, twice := r.zones[z.name]
	switch {
	case z.name == "":
	case !twice:
		r.zones[z.name] = z
	case !slices.Equal(first.Args, d.Args):
		r.Lose(d.Place(), "the zone %s is declared otherwise at %s, which counts here", z.name, first.Place())
	}
}

// tooSmall reports whether the size of a zone is less than eight pages of memory.
func tooSmall(size string) bool {
	number, kilo := strings.CutSuffix(strings.ToLower(size), "k")
	n, err := strconv.Atoi(number)
	return err == nil && (n < 32 || !kilo && n < 32<<10)
}

// use returns what a limit_req says; nil if that is not understood.
func (r *reader) use(d *nginxconf.Directive, around levelLimits) *usage {
	use := &usage{burst: "0"}
	words, dry, status := d.Args, around.dry, around.status
	var options []string
	if d.Name == "limit_conn" {
		use.zone, use.burst, words, dry, status = r.zone(d, d.Args[0]), d.Args[1], nil, around.connDry, around.connStatus
		options = append(options, d.Args[1])
	}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "zone":
			use.zone = r.zone(d, value)
		case "burst":
			use.burst = value
			options = append(options, word)
		case "delay", "nodelay":
			options = append(options, word)
		default:
			r.Lose(d.Place(), "limit_req: %q is not understood", word)
		}
	}
	if use.zone == nil {
		return nil
	}
	slices.Sort(options)
	use.options = strings.Join(options, " ")
	about := d.Place() + " " + d.Name + " " + strings.Join(d.Args, " ")
	if dry == "on" {
		about += ", which is a dry run there"
		r.Tell(d.Place(), neutral.RefusesNothing)
	} else {
		about += ", refused with " + cmp.Or(status, "503")
	}
	i := slices.IndexFunc(r.uses, func(u *usage) bool { return u.zone == use.zone && u.options == use.options })
	if i < 0 {
		i, r.uses = len(r.uses), append(r.uses, use)
	}
	use = r.uses[i]
	if !slices.Contains(use.from, d) {
		use.from = append(use.from, d)
	}
	if !slices.Contains(use.about, about) {
		use.about = append(use.about, about)
	}
	return use
}

// zone returns the zone that a directive names; nil if there is none, or it is one for other directives.
func (r *reader) zone(d *nginxconf.Directive, name string) *zone {
	z := r.zones[name]
	if z == nil || z.user() != d.Name {
		r.Lose(d.Place(), "%s: there is no zone %q", d.Name, name)
		return nil
	}
	return z
}

var zoneRate = lazy.Regexp(`^\d+(r/[sm])?$`)

// limitOf returns the limit of a rate, which is one a second where it has no unit.
func limitOf(rate string) (text string, ok bool) {
	if text = "nginx:" + rate; !zoneRate().MatchString(rate) {
		return "", false
	} else if !strings.Contains(rate, "r") {
		text += "r/s"
	}
	policies, err := policy.ParseLimits([]string{text}, "")
	return text, err == nil && len(policies) == 1
}
