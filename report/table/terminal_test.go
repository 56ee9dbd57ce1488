package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A long table that is folded is folded some rows at a time: nothing is lost, and what belongs together is near.
func TestLongTablesAreFoldedInParts(t *testing.T) {
	for _, rows := range []int{0, 1, someRows, someRows + 1, 2 * someRows, 2*someRows + 5} {
		g := New(Words("name"), Number("one"), Number("two"))
		for i := range rows {
			g.Add(Texts(fmt.Sprintf("row %d", i), fmt.Sprintf("one of %d", i), fmt.Sprintf("two of %d", i))...)
		}
		var lines []string
		for _, block := range g.Blocks(20, 0) {
			if !strings.HasPrefix(block[0], "name") || len(block) > 1+someRows {
				t.Errorf("%d rows: a block of %d lines under %q", rows, len(block)-1, block[0])
			}
			lines = append(lines, block...)
		}
		for i := range rows {
			one := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, fmt.Sprintf(" one of %d", i)) })
			two := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, fmt.Sprintf(" two of %d", i)) })
			if one < 0 || two < one || two > one+someRows+1 {
				t.Errorf("%d rows: the parts of row %d are lines %d and %d", rows, i, one, two)
			}
		}
		if n := strings.Count(strings.Join(lines, "\n"), " of "); n != 2*rows {
			t.Errorf("%d rows: %d figures", rows, n)
		}
		if whole := g.Blocks(Unbounded, 0); len(whole) != 1 || len(whole[0]) != rows+1 {
			t.Errorf("%d rows: %d blocks of a table that is not folded", rows, len(whole))
		}
	}
}
