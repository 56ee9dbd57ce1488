package match

import (
	"fmt"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
)

// Actions tell which of them stand for several paths, whichever goroutine has found them: each path counts once, whatever its
// query and method.
func TestFolded(t *testing.T) {
	actions, err := NewActions([]request.Rule{{Name: "write", Methods: []string{"POST"}}}, intern.NewDict())
	if err != nil {
		t.Fatal(err)
	}
	actions.NotePaths()
	for range 2 {
		m := actions.NewMatcher()
		for _, request := range []string{
			"GET /about", "GET /old/x", "GET /old/y?a=1", "HEAD /old/y", "GET /old/y?a=2", "GET /a.css", "GET /b.css", "GET /c.css", "POST /old/x", "* ",
		} {
			var method, target string
			_, err := fmt.Sscan(request, &method, &target)
			if err == nil {
				m.ID([]byte(method), []byte(target))
			}
		}
	}
	got, more := actions.Folded()
	if want := []Folded{{"static", 3}, {"/old/…", 2}}; !slices.Equal(got, want) || more {
		t.Errorf("%v, %t, want %v", got, more, want)
	}
}

// However many paths a log has, as many are noted as there is room for, and it is said that there are more.
func TestFoldedIsBounded(t *testing.T) {
	actions, err := NewActions(nil, intern.NewDict())
	if err != nil {
		t.Fatal(err)
	}
	actions.NotePaths()
	m := actions.NewMatcher()
	for i := range mostPathsNoted + 5 {
		m.ID([]byte("GET"), fmt.Appendf(nil, "/x/%d", i))
	}
	if got, more := actions.Folded(); len(got) != 1 || got[0] != (Folded{"/x/…", mostPathsNoted}) || !more {
		t.Errorf("%v, %t", got, more)
	}
}

// Paths are not noted unasked.
func TestFoldedUnasked(t *testing.T) {
	actions, err := NewActions(nil, intern.NewDict())
	if err != nil {
		t.Fatal(err)
	}
	m := actions.NewMatcher()
	m.ID([]byte("GET"), []byte("/x/1"))
	m.ID([]byte("GET"), []byte("/x/2"))
	if got, more := actions.Folded(); got != nil || more {
		t.Errorf("%v, %t", got, more)
	}
}
