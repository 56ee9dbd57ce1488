package format

import "testing"

// A text from a log is harmless for the terminal that it is read on.
func TestAppendText(t *testing.T) {
	for text, want := range map[string]string{
		"GET /\x1b[31m": `"GET /\u001b[31m"`, "\u202e\u0085\x7f": `"\u202e\u0085\u007f"`, "é": `"é"`, `"\`: `"\"\\"`, "plain": `"plain"`,
	} {
		if got := string(AppendText(nil, text)); got != want {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
	}
}
