package imports

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/request"
)

// byPorts tells the requests of sections that listen by their ports, where one of them limits and another does more than
// redirect. Those of a log without ports are taken to come to each.
func (r *haproxyReader) byPorts() {
	var listening []*haproxySection
	limits, differ, odd := 0, false, false
	for _, s := range r.sections {
		tracks := s.has(func(words []string) bool { return len(words) > 1 && trackRule().MatchString(words[1]) })
		ports := s.ports()
		if ports == nil || !tracks && s.has(redirectsAll) {
			continue
		}
		if tracks {
			limits++
		}
		listening = append(listening, s)
		differ = differ || !slices.Equal(ports, listening[0].ports())
		odd = odd || slices.Contains(ports, "")
	}
	if limits == 0 || !differ {
		return
	}
	for _, s := range listening {
		place, ports := fmt.Sprintf("%s:%d", r.file, s.line), s.ports()
		if odd {
			r.lose(place, "%s %s: a bind in it or beside it has no number for a port: all requests are taken to come to it", s.kind, s.name)
			continue
		}
		note := r.tell
		if limits > 1 {
			note = r.lose
		}
		note(place, "only a log with the port tells requests to %s %s (%s) from others; else all are taken to come to it", s.kind, s.name,
			strings.Join(ports, ", "))
		s.set = within("port", append(ports, request.NoPort)...)
	}
}

// redirectsAll reports whether a rule redirects every request, or every one without TLS.
func redirectsAll(words []string) bool {
	at, text := slices.Index(words, "redirect"), strings.Join(words, " ")
	always := !slices.Contains(words, "if") && !slices.Contains(words, "unless")
	return (at == 0 || at == 1 && words[0] == "http-request") &&
		(always || strings.HasSuffix(text, "unless { ssl_fc }") || strings.HasSuffix(text, "if !{ ssl_fc }"))
}

func (s *haproxySection) has(is func(words []string) bool) bool {
	return slices.ContainsFunc(s.rules, func(rule haproxyRule) bool { return is(rule.words) })
}

// ports returns the ports on which a section listens.
func (s *haproxySection) ports() (ports []string) {
	for _, rule := range s.rules {
		if rule.words[0] != "bind" || len(rule.words) < 2 || s.kind == "backend" {
			continue
		}
		for address := range strings.SplitSeq(rule.words[1], ",") {
			port := address[strings.LastIndexByte(address, ':')+1:]
			if strings.Trim(port, "0123456789") != "" {
				port = "" // a path, a variable, a range
			}
			ports = append(ports, port)
		}
	}
	return sortedPorts(ports)
}

// route finds which requests backends get.
func (r *haproxyReader) route() {
	gets := map[string][]Set{}
	for _, s := range r.sections {
		left := s.set
		for _, rule := range s.rules {
			switch {
			case rule.words[0] == "use_backend" && len(rule.words) > 1:
				set, _ := r.condition(s, rule, rule.words[2:])
				gets[rule.words[1]] = append(gets[rule.words[1]], left.and(set))
				left = left.and(set.except())
			case rule.words[0] == "default_backend" && len(rule.words) > 1:
				gets[rule.words[1]] = append(gets[rule.words[1]], left)
			}
		}
	}
	for _, s := range r.sections {
		if s.kind == "backend" && gets[s.name] != nil {
			s.set = union(gets[s.name]...)
		}
	}
}
