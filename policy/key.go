package policy

import (
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
)

// ParseKey reads what a limit counts by, as --by takes it.
func ParseKey(text string) (Key, error) {
	if i := slices.Index(keyNames[:], text); i >= 0 {
		return Key(i), nil
	}
	hint := ""
	if near := limit.Nearest(text, keyNames[:]); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return 0, fmt.Errorf("key %q: limits cannot count by that%s; want one of %s", text, hint, strings.Join(keyNames[:], ", "))
}
