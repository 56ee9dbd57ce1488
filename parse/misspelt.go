package parse

import (
	"fmt"
	"maps"
	"slices"

	"shadow/limit"
)

// A variable that feeds no field is read over, so that one that is misspelt would leave its field empty without a word: of
// $remote_adr all requests would come from one client. Any name may be one that a server's configuration sets, so a name is
// taken for misspelt only when it is a letter or two off one that feeds a field which the format does not have, and nobody asks
// for it by its name.

// misspelt is the error of the first variable that is likely misspelt, nil if there is none.
func misspelt(pieces []piece, isNginx bool) error {
	if !isNginx {
		return nil // Apache's directives are single letters, of which others are errors or have a meaning
	}
	var has [fieldCount + 1]bool
	for i := range pieces {
		if p := &pieces[i]; p.variable() {
			has[kinds[p.use].feeds] = true
			has[FieldPath] = has[FieldPath] || p.use == useRequest
		}
	}
	names := slices.Sorted(maps.Keys(nginxVariables))
	for i := range pieces {
		p := &pieces[i]
		if _, known := nginxVariables[p.key]; known || p.use != useSkip || p.extra >= 0 {
			continue
		}
		near := limit.Misspelt(p.key, names)
		if near == "" || has[kinds[nginxVariables[near].use].feeds] || nginxVariables[near].use == useSkip {
			continue
		}
		return fmt.Errorf("there is no variable %s; did you mean $%s? A variable of your own may have any other name", p.name, near)
	}
	return nil
}
