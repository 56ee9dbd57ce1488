package parse

import "testing"

// Of a line in quotes the last one is its own where it has an even number of others.
func TestQuotedLines(t *testing.T) {
	for line, want := range map[string]string{
		`"a "b" c"`: `a "b" c`, `"a "b""`: `a "b"`, `"a "b"`: `a "b"`, `"a" "b"`: `"a" "b"`, `a "b"`: `a "b"`, `"`: `"`, `""`: `""`,
	} {
		bare := TextWrapping([][]byte{[]byte(line)})
		if got := line; bare != nil {
			if got = string(bare.Lines([][]byte{[]byte(line)})[0]); got != want {
				t.Errorf("%s: %s", line, got)
			}
		} else if got != want {
			t.Errorf("%s is not wrapped", line)
		}
	}
}
