package match

import (
	"slices"
	"strings"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// People call an action by less than its name: login is /login, where no rule has named one login, and /product is /product/…,
// where there is no page /product itself. Where there are both, login, /login/ and /login/** are both together.

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

// MeantAction returns one name for all the actions that a name stands for: /login/** where there are both /login and
// /login/…, "" if there are none.
func MeantAction(actions *intern.Dict, name string) string {
	switch names := ResolveAction(actions, name); len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		return names[0] + AllBelow
	}
}

// AllBelow ends the name of a page with all that is below it.
const AllBelow = "/**"

// ActionIDs are the ids of the actions that a name stands for; −1 for none.
type ActionIDs [2]int32

// FindActions returns the ids of the actions known so far that a name stands for.
func FindActions(actions *intern.Dict, name string) ActionIDs {
	ids := ActionIDs{-1, -1}
	for i, name := range ResolveAction(actions, name) {
		ids[i], _ = actions.Find([]byte(name))
	}
	return ids
}

// Has reports whether an action is one of them.
func (ids *ActionIDs) Has(id uint16) bool { return int32(id) == ids[0] || int32(id) == ids[1] }

// Moved reports whether the name has come to mean something else than before, not only more: /x is /x/… until there is
// a page /x. No request of what it means now came before, so a caller that drops its counts counts right.
func (ids *ActionIDs) Moved(before ActionIDs) bool {
	for _, id := range before {
		if id >= 0 && id != ids[0] && id != ids[1] {
			return true
		}
	}
	return false
}

// NearestActions returns the actions of the log that a name may have been meant for: those that have it in theirs, then
// the one that is most like it.
func NearestActions(actions *intern.Dict, name string) (names []string) {
	word := strings.ToLower(strings.Trim(name, "/…*"))
	for id := range actions.Len() {
		if action := actions.Name(int32(id)); word != "" && action != name && strings.Contains(strings.ToLower(action), word) {
			names = append(names, action)
		}
	}
	if near := NearestAction(actions, name); near != "" && near != name && !slices.Contains(names, near) {
		names = append(names, near)
	}
	return names
}

// NearestAction returns the action of the log that a name is most like, "" if none is near.
func NearestAction(actions *intern.Dict, name string) string {
	var names []string
	for id := range actions.Len() {
		names = append(names, actions.Name(int32(id)))
	}
	return limit.Nearest(name, names)
}
