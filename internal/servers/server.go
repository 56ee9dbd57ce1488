package servers

import (
	"fmt"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// A Server enforces limits of its own kind.
type Server struct {
	Name  string // as people choose it: envoy-local
	Title string // as sentences have it

	// Watch says how to begin: in a mode that refuses nothing, where count is a command that counts what would be
	// refused; or without one, where there is none. A sentence without its end.
	Watch string
	count string   // NAME stands for the zone; "": there is no such mode
	Log   []string // lines that have each of these requests logged

	algorithms []string // of its limits, as --limit takes them; Families are of the first
	options    string   // that these have
	kind       Kind
	grid       []rate
	lines      func(limit.Spec, Where) Directives
	behind     string // what makes its address that of the client that a front names in HEADER
}

var all = []*Server{&nginx, &haproxy, &envoy, &envoyLocal, &traefik, &caddy, &apache}

// Names are the names of all servers, in the order in which they are shown.
func Names() []string { return mapped.Of(all, func(s *Server) string { return s.Name }) }

// Named returns a server by its name.
func Named(name string) (*Server, error) {
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("server %q: no lines are known for that%s; want one of %s",
		name, limit.Hint(name, Names()), strings.Join(Names(), ", "))
}

// Default is the name of the server that most logs are of.
const Default = "nginx"

// OfFormat returns the server that writes a log format, by its name in the catalogue of formats, or by its text where it has
// none. Where several servers write it, or none that is known, it returns the one of Default.
func OfFormat(name, text string) *Server {
	maker, _, _ := strings.Cut(strings.ReplaceAll(name, " ", "-"), "-")
	switch {
	case name == "istio": // a proxy of Istio is an Envoy
		return &envoy
	case maker == "lighttpd": // which has no such limits
		return &nginx
	case strings.Contains(text, "%h ") && maker != traefik.Name: // a directive of mod_log_config
		return &apache
	case strings.Contains(text, "$timers"): // those of HAProxy
		return &haproxy
	}
	for _, s := range all {
		if s.Name == maker {
			return s
		}
	}
	return &nginx
}

// Lines returns what to paste to enforce a limit of the server, written as --limit takes it, first in a mode that
// refuses nothing if there is one.
func (s *Server) Lines(text string, w Where) (Directives, error) {
	spec, err := s.spec(text)
	if err != nil {
		return Directives{}, err
	}
	d := s.lines(spec, w)
	if f := w.Front; f != nil {
		if !f.first {
			d.Front = f.Name
		}
		if f.first || w.address() && w.ClientFrom == "" {
			d.Note = notes(f.note(s), d.Note)
		}
	}
	d.Count = strings.ReplaceAll(s.count, "NAME", w.name())
	_, all := w.all()
	if _, below, ok := w.path(); (below && ok || all) && s.Name != nginx.Name {
		d.Note = notes(d.Note, "style sheets, images and the like below "+strings.TrimRight(w.Action, "…*")+
			" count there too, not here")
	}
	return d, nil
}

// spec reads a limit, which must be one that the server has.
func (s *Server) spec(text string) (limit.Spec, error) {
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		return limit.Spec{}, err
	}
	if len(policies) == 1 && len(policies[0].Parts) == 1 {
		spec := policies[0].Parts[0].Spec
		for _, algorithm := range s.algorithms {
			if spec.Algorithm == algorithm && s.settable(spec) {
				return spec, nil
			}
		}
	}
	example, _ := s.Families()[len(s.grid)/2].Limit(10)
	return limit.Spec{}, fmt.Errorf("limit %q: %s does not have it; want one such as %s", text, s.Title, example)
}

// settable reports whether a limit is made of settings of the server: a cooldown and what is of hosts is ours, of token buckets Envoy has only
// those that its own limit has too, and of fixed windows Apache those that the first request opens.
func (s *Server) settable(spec limit.Spec) bool {
	if _, ours := policy.CutOptions(spec, append(policy.HostOptions, "cooldown")...); ours != "" {
		return false
	}
	if spec.Algorithm == "fixed" {
		return apacheHas(spec)
	}
	if spec.Algorithm == "token" {
		spec.Algorithm = "envoy-local"
		_, err := policy.New(spec, request.ByClient)
		return err == nil
	}
	return true
}
