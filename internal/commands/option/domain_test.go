package option

import (
	"slices"
	"strings"
	"testing"
)

func TestServerValue(t *testing.T) {
	for _, name := range Server.Words {
		if got, err := Server.Parse(name); got != name || err != nil {
			t.Error(name, got, err)
		}
	}
	if !slices.Contains(Server.Words, "any") || !slices.Contains(Server.Words, "haproxy") {
		t.Error(Server.Words)
	}
	_, err := Server.Parse("Haproxy")
	if err == nil || !strings.Contains(err.Error(), `did you mean "haproxy"?`) || !strings.HasSuffix(err.Error(), ", apache or any") {
		t.Error(err)
	}
}
