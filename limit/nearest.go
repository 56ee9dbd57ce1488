package limit

import (
	"fmt"
	"strings"
)

// Nearest returns the choice that word most likely means, or "" when none is near: at most a third of its letters,
// rounded up, may be missing, too many or wrong, and all in the other case. Of several as near, the first.
func Nearest(word string, choices []string) string {
	best, nearest := "", 0
	for _, choice := range choices {
		d := editDistance(strings.ToLower(word), strings.ToLower(choice))
		if d <= (len(choice)+2)/3 && (best == "" || d < nearest) {
			best, nearest = choice, d
		}
	}
	return best
}

// Hint is the end of an error about a word that is none of the choices: the one that was most likely meant, if any.
func Hint(word string, choices []string) string {
	if near := Nearest(word, choices); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// Misspelt returns the choice that word is a slip of the pen from, or "" when it is none: one letter in five, and two
// at most, may be missing, too many or wrong. Of several as near, the first.
func Misspelt(word string, choices []string) string {
	near := Nearest(word, choices)
	if editDistance(strings.ToLower(word), near) > min(2, max(1, len(near)/5)) {
		return ""
	}
	return near
}

// editDistance counts the bytes to insert, delete or replace to make b of a (Levenshtein 1965), row by row of the
// table of distances between prefixes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
