package policy

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"

	"shadow/bucket"
	"shadow/internal/request"
	"shadow/limit"
	"shadow/report/format"
)

// A Server is something that enforces limits and can be configured to come close to one.
type Server struct {
	Name   string // and its directive
	Bucket bool   // whether its limiter is a continuous bucket

	// Preset is the algorithm of ours that is this server's own. Setting is what such a limit is there.
	Preset  string
	Setting func(limit.Spec) string
	AsIs    bool // whether a limit of its own is set with its own numbers, and not as Nearest says

	// Nearest returns the limit of its own that comes closest to a shape, and how it deviates ("": in no way that matters);
	// the zero limit and the reason, if none comes near.
	Nearest func(limit.Shape) (near limit.Spec, deviation string)

	// Same reports whether the server also judges by this limit, which is not its preset, when set as Nearest says, and
	// what little deviates. Nil: by none.
	Same func(limit.Spec, limit.Shape) (deviation string, same bool)
}

// Servers are all that there are, in the order in which they are shown.
var Servers = []Server{
	{Name: "nginx limit_req", Preset: "nginx", Setting: NginxSetting, AsIs: true, Bucket: true, Nearest: nginxNearest},
	{Name: "HAProxy stick-table", Preset: "haproxy", Setting: haproxySetting, Nearest: haproxyNearest},
	{
		Name: "Envoy local_ratelimit", Preset: "envoy-local", Setting: EnvoyLocalSetting, AsIs: true, Bucket: true,
		Nearest: envoyLocalNearest,
	},
	{Name: "Envoy ratelimit service", Preset: "envoy", Setting: envoySetting, Nearest: envoyNearest, Same: envoySame},
	{Name: "Traefik rateLimit", Preset: "traefik", Setting: traefikSetting, Bucket: true, Nearest: traefikNearest},
	{Name: "Caddy rate_limit", Preset: "caddy", Setting: caddySetting, Nearest: caddyNearest, Same: caddySame},
	{Name: "Redis redis-cell", Preset: "gcra", Setting: redisSetting, Bucket: true, Nearest: redisNearest},
}

// An Equivalent is what to set on a server for a limit.
type Equivalent struct {
	Server    string     `json:"server"`
	Limit     limit.Spec `json:"-"`
	Setting   string     `json:"setting"`   // "": nothing comes near
	Deviation string     `json:"deviation"` // "exact", how the setting deviates, or why there is none
	Closest   bool       `json:"closest"`   // the setting is the closest one, but another kind of limit
}

// Equivalents returns what to set on each server for a limit, whose shape is s.
func Equivalents(spec limit.Spec, s limit.Shape) []Equivalent {
	all := make([]Equivalent, len(Servers))
	for i, server := range Servers {
		all[i] = server.equivalent(spec, s)
		all[i].Server = server.Name
		if all[i].Limit.Count > 0 {
			all[i].Setting = server.Setting(all[i].Limit)
		}
	}
	return all
}

func (v Server) equivalent(spec limit.Spec, s limit.Shape) Equivalent {
	g := limit.GCD(s.Count, int64(s.Period))
	s.Count, s.Period = s.Count/g, s.Period/limit.Time(g)
	near, deviation := v.Nearest(s)
	if spec.Algorithm == v.Preset {
		if one, _ := CutOptions(spec, HostOptions...); one != spec { // of one of several hosts
			return v.equivalentOnHost(one, presetDeviation(spec))
		}
		if v.AsIs {
			near = spec
		}
		return Equivalent{Limit: near, Deviation: presetDeviation(spec)}
	}
	if near.Count == 0 {
		return Equivalent{Deviation: deviation}
	}
	if v.Same != nil {
		if little, same := v.Same(spec, s); same {
			return Equivalent{Limit: near, Deviation: cmp.Or(little, "exact")}
		}
	}
	unlike := unlikeBucket(s, near)
	if !v.Bucket {
		unlike = ""
		if hasOption(spec, "replicas") {
			unlike = s.Unlike
		} else if hasOption(spec, "initial") {
			unlike = "new keys have nothing used up there"
		}
	}
	return Equivalent{Limit: near, Deviation: cmp.Or(join(unlike, deviation), "exact"), Closest: !v.Bucket || !s.Kin}
}

// unlikeBucket says how a bucket differs from what it stands in for.
func unlikeBucket(s limit.Shape, near limit.Spec) string {
	p, err := New(near, request.ByClient)
	if s.Span == 0 || err != nil {
		return s.Unlike
	}
	d, ok := p.Parts[0].Limiter.(limit.Describer)
	if !ok {
		return s.Unlike
	}
	b := d.Shape()
	refilled := math.Ceil(float64(b.Count)*float64(s.Span)/float64(b.Period)*(1-1e-12)) - 1 // at an end of the span nothing counts
	most := float64(b.AtOnce) + refilled
	if t, ok := d.(*bucket.Traefik); ok {
		most = t.Most(s.Span)
	}
	number := format.Thousands(int64(min(most, math.MaxInt64/2)))
	return join(fmt.Sprintf("it admits up to %s in some spans of %s", number, limit.FormatPeriod(s.Span)), s.Unlike)
}

// equivalentOnHost returns what to set for a limit on each of its hosts.
func (v Server) equivalentOnHost(spec limit.Spec, deviation string) (e Equivalent) {
	if p, err := New(spec, request.ByClient); err == nil {
		if d, ok := p.Parts[0].Limiter.(limit.Describer); ok {
			e = v.equivalent(spec, d.Shape())
		}
	}
	e.Deviation = deviation
	return e
}

// presetDeviation is about a server's own limit, to which we may have added options.
func presetDeviation(spec limit.Spec) string {
	if _, ours := CutOptions(spec, limit.CommonNames()...); ours != "" {
		names := regexp.MustCompile("=[^,]*").ReplaceAllString(ours, "")
		return "exact but for the " + strings.ReplaceAll(names, ",", " and the ") + ", which it has not"
	}
	return "exact"
}

func hasOption(spec limit.Spec, name string) bool {
	_, taken := CutOptions(spec, name)
	return taken != ""
}

// fill returns how long an empty bucket of the shape takes to fill, in microseconds; it need not be a whole number. A
// window that admits as many at once, and as many in the long run, is as long.
func fill(s limit.Shape) float64 {
	return float64(s.AtOnce) * float64(s.Period) / float64(s.Count)
}

// offText returns how far a rate is off, if that is noticeable: 0.01 is one percent faster.
func offText(off float64) string {
	switch {
	case math.Abs(off) < 1e-6:
		return ""
	case off < 0:
		return fmt.Sprintf("%.2g %% slower", -100*off)
	}
	return fmt.Sprintf("%.2g %% faster", 100*off)
}

// NginxSetting is the setting that nginx:10r/s,burst=20,delay=8 stands for: rate=10r/s burst=20 delay=8.
func NginxSetting(spec limit.Spec) string {
	unit := "s"
	if spec.Period == limit.Minute {
		unit = "m"
	}
	setting := fmt.Sprintf("rate=%dr/%s", spec.Count, unit)
	own, _ := CutOptions(spec, limit.CommonNames()...)
	return strings.TrimSpace(setting + " " + strings.ReplaceAll(own.Options, ",", " "))
}

// nginxNearest is nginxFor, with the grain of its clock.
func nginxNearest(s limit.Shape) (near limit.Spec, deviation string) {
	if near, deviation = nginxFor(s); near.Count > 0 {
		deviation = join(deviation, "counts in milliseconds")
	}
	return near, deviation
}
