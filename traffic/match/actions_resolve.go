package match

import (
	"strings"

	"shadow/limit"
	"shadow/traffic/intern"
)

// People call an action by less than its name: login is /login, where no rule has named one login, and /product is /product/…,
// where there is no page /product itself.

// ResolveAction returns the actions of the log that a name may stand for: the one of that name alone if there is one, else
// those that it is short for, none or one or two.
func ResolveAction(actions *intern.Dict, name string) (names []string) {
	if _, known := actions.Find([]byte(name)); known {
		return []string{name}
	}
	path := name
	if !strings.HasPrefix(path, "/") {
		path = "/" + name
	}
	if path = strings.TrimRight(path, "/…*"); path == "" {
		return nil
	}
	for _, long := range []string{path, path + below} {
		if _, known := actions.Find([]byte(long)); known {
			names = append(names, long)
		}
	}
	return names
}

// FindAction returns the id of the first action that a name may stand for; false if there is none so far.
func FindAction(actions *intern.Dict, name string) (id int32, known bool) {
	if names := ResolveAction(actions, name); len(names) > 0 {
		return actions.Find([]byte(names[0]))
	}
	return 0, false
}

// NearestAction is the action of the log that a name is most like, "" if none is near.
func NearestAction(actions *intern.Dict, name string) string {
	var names []string
	for id := range actions.Len() {
		names = append(names, actions.Name(int32(id)))
	}
	return limit.Nearest(name, names)
}
