package nginx

import (
	"maps"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/parse/nginxconf"
)

// aside tells of requests that count in other locations besides: for pages of errors and for folders.
func (r *walker) aside() {
	for _, w := range r.all {
		blocks, _ := r.root.around(w.place.Directive)
		if len(w.place.limits.limits) > 0 {
			r.withoutQuery(blocks)
		}
		if w.code == "" && len(w.place.limits.limits) > 0 && r.keyless(w).Never {
			continue // a request is judged once
		}
		passes := slices.ContainsFunc(w.place.Block, func(d *nginxconf.Directive) bool {
			return strings.HasSuffix(d.Name, "_pass") || d.Name == "try_files"
		})
		for _, d := range blocks {
			for _, name := range w.asideNames(d, passes) {
				target, known := r.sentTo(name, w)
				if known && len(target.judging()) > 0 && (w.code != "" || target.title() != w.place.title()) {
					r.Lose(d.Place(), "%s %s: what it sends to %s counts there as well, and here only what asks for that",
						d.Name, strings.Join(d.Args, " "), target.title())
				}
			}
		}
	}
}

// asideNames are the locations to which a directive sends requests besides. One that passes them on has no index.
func (w way) asideNames(d *nginxconf.Directive, passes bool) []string {
	switch {
	case d.Name == "error_page" && len(d.Args) > 1 && (w.code == "" || slices.Contains(d.Args, w.code)):
		return d.Args[len(d.Args)-1:]
	case d.Name == "index" && !passes && w.code == "" && w.place.Kind == "":
		return mapped.Add(nil, d.Args, func(name string) string {
			if strings.HasPrefix(name, "/") {
				return name
			}
			return strings.TrimSuffix(w.place.Pattern, "/") + "/" + name
		})
	}
	return nil
}

// withoutQuery tells of what leads on without the query, which a log then lacks, though limits count by a part of it.
func (r *walker) withoutQuery(blocks []*nginxconf.Directive) {
	for _, name := range slices.Sorted(maps.Keys(r.asked)) {
		if !strings.HasPrefix(name, "arg_") {
			continue
		}
		for _, d := range blocks {
			last := d.Args[max(0, len(d.Args)-1):]
			if (d.Name == "try_files" || d.Name == "error_page") && len(last) > 0 && strings.HasPrefix(last[0], "/") && !strings.Contains(last[0], "args") {
				r.Lose(d.Place(), "%s %s leads on without the query: a log has no $%s of that, by which limits count there", d.Name,
					strings.Join(d.Args, " "), name)
			}
		}
	}
}

// around are the directives of a location and of the levels around it, which it may have inherited; false if it is not there.
func (p *Place) around(location *nginxconf.Directive) (blocks []*nginxconf.Directive, there bool) {
	for _, q := range slices.Concat(p.Within, p.named) {
		if inner, there := q.around(location); there {
			return slices.Concat(inner, p.Block), true
		}
	}
	return p.Block, p.Directive == location
}

// sentTo is the location whose limits judge what is sent to a name or a path, for which the server's directives are run
// again; false where that is not known.
func (r *walker) sentTo(text string, w way) (*Place, bool) {
	path, _, _ := strings.Cut(text, "?")
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "$") {
		return r.root.target(text)
	}
	w.place, w.path, w.code, w.over = &r.root, path, "", false
	found, known := r.root.target(path)
	for _, v := range r.script(r.root.Block, w) {
		if next, ok := r.root.target(v.path); ok && v.code == "" && len(next.judging()) > 0 {
			found, known = next, true
		}
	}
	return found, known
}

// target is the location that gets a path, or that has a name; false where variables make it.
func (p *Place) target(text string) (*Place, bool) {
	if strings.HasPrefix(text, "@") {
		i := slices.IndexFunc(p.named, func(q Place) bool { return q.Pattern == text })
		if i < 0 {
			return nil, false
		}
		return &p.named[i], true
	}
	path, _, _ := strings.Cut(text, "?")
	if strings.Contains(path, "$") || !strings.HasPrefix(path, "/") {
		return nil, false
	}
	found, _ := p.find(path)
	return found, true
}

// filesAside tells that files are not limited.
func (r *reader) filesAside(by *nginxconf.Directive, next *Place) {
	files := by.Name == "try_files" && slices.ContainsFunc(by.Args, func(a string) bool { return strings.HasPrefix(a, "$") })
	if files && len(next.judging()) > 0 {
		r.Lose(by.Place(), "%s %s: files that are there are not limited, and a log does not say which are: all requests "+
			"count as those of %s", by.Name, strings.Join(by.Args, " "), next.title())
	}
}

// title returns the name of a place: of a location its kind and its pattern.
func (p *Place) title() string {
	if p.Pattern == "" {
		return "the server"
	}
	return "location " + strings.TrimSpace(p.Kind+" "+p.Pattern)
}
