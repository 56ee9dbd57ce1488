package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"shadow/request"
	"shadow/suggest"
)

// The classes to refuse, and those that must not be hit, unless somebody says otherwise.
var (
	KeysTarget  = []request.Class{request.Tool, request.Crawler, disguised}
	KeysProtect = []request.Class{request.Browser}
)

// Keys need to know two sides only: the target is counted as tools, the protected as browsers, all others as unknown.
const (
	asTarget    = request.Tool
	asProtected = request.Browser
)

// chooseSides says how visitors are to be counted.
func (r *Keys) chooseSides() error {
	target, protect := r.Target, r.Protect
	if target == nil {
		target = KeysTarget
	}
	if protect == nil {
		protect = KeysProtect
	}
	for _, class := range target {
		if slices.Contains(protect, class) {
			return Usage("%s are both target and protected: state them once", ClassNames()[class])
		}
	}
	asked := r.Target != nil && slices.Contains(target, disguised) || slices.Contains(protect, disguised)
	if r.Claims && asked {
		return Usage("--claims believes every claim, so nobody is disguised: leave one out")
	}
	q := &r.question
	q.Target, q.Protected = []request.Class{asTarget}, []request.Class{asProtected}
	for _, class := range target {
		q.TargetNames = append(q.TargetNames, strings.TrimSuffix(ClassNames()[class], "s"))
	}
	for _, class := range protect {
		q.ProtectedNames = append(q.ProtectedNames, strings.TrimSuffix(ClassNames()[class], "s"))
	}
	r.options.Side = func(class request.Class, contradicted bool) request.Class {
		if contradicted {
			class = disguised
		}
		switch {
		case slices.Contains(target, class):
			return asTarget
		case slices.Contains(protect, class):
			return asProtected
		}
		return request.Unknown
	}
	return nil
}

// ParseClass reads a class as --target and --protect take it.
func ParseClass(name string) (request.Class, error) {
	i := slices.IndexFunc(ClassNames(), func(known string) bool { return name == known || name+"s" == known })
	if i < 0 {
		return 0, fmt.Errorf("want some of %s; %s", strings.Join(ClassNames(), ", "), suggest.Explain(name))
	}
	return request.Class(i), nil
}

// disguised is the class of those who claim to be browsers, which their evidence contradicts.
const disguised = request.ClassCount

// ClassNames are the classes as --target and --protect take them, by their numbers; the last is disguised.
func ClassNames() (names []string) {
	for class := range request.ClassCount {
		names = append(names, class.String()+"s")
	}
	names[request.Unknown] = request.Unknown.String()
	return append(names, suggest.Disguised.String())
}

// groupsOf are the clients of a class, as suggestions call them.
func groupsOf(class request.Class) suggest.Set {
	switch class {
	case disguised:
		return 1 << suggest.Disguised
	case request.Browser:
		return 1<<suggest.Browsers | 1<<suggest.Shared
	case request.Crawler:
		return 1<<suggest.Crawlers | 1<<suggest.Search
	case request.Tool:
		return 1 << suggest.Tools
	case request.Monitor:
		return 1 << suggest.Monitors
	}
	return 1 << suggest.Unknown
}
