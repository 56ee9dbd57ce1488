// Package lazy keeps the start of the program short: a pattern comes in, and a regular expression goes out that is
// compiled when it is first used.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns the regular expression of a pattern, which must be one.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
