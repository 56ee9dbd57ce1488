package escape

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEscapes(t *testing.T) {
	for text, want := range map[string]struct{ visible, json string }{
		"plain é ⚡":          {"plain é ⚡", `"plain é ⚡"`},
		"\x1b[31m\n":         {`\x1b[31m\n`, `"\u001b[31m\n"`},
		"\x7f":               {`\x7f`, `"\u007f"`},
		"\u0085\u202e\u200b": {`\u0085\u202e\u200b`, `"\u0085\u202e\u200b"`},
		"\U000e0100":         {`\U000e0100`, `"\udb40\udd00"`},
		"\xff\\":             {`\xff\`, `"\ufffd\\"`},
	} {
		if got := Visible(text); got != want.visible {
			t.Errorf("Visible(%q) = %s, want %s", text, got, want.visible)
		}
		quoted, err := json.Marshal(text)
		if got := string(JSON(quoted)); got != want.json || err != nil {
			t.Errorf("JSON of %q is %s, want %s", text, got, want.json)
		}
	}
}

func TestLines(t *testing.T) {
	if got, want := Lines("a\x1b[2J.log: gone\n  \u202eb\n"), "a\\x1b[2J.log: gone\n  \\u202eb\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A message that quotes a key of a megabyte keeps the beginning and the end, which say where and what to do.
func TestLinesAreNotEndless(t *testing.T) {
	long := "shadow.yaml:3: unknown key " + strings.Repeat("\x1bé", 1<<19) + "; want limits"
	got := Lines("first\n" + long)
	if !strings.HasPrefix(got, "first\nshadow.yaml:3: unknown key ") || !strings.HasSuffix(got, "; want limits") ||
		!strings.Contains(got, "bytes are left out") || len(got) > 1500 {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
	if usual := strings.Repeat("a", 2000); Lines(usual) != usual {
		t.Error("a usual message is cut")
	}
}
