package match

import (
	"fmt"
	"slices"
	"testing"

	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/intern"
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

// Nobody notes paths unasked.
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

// Paths that were noted are taken in again by whoever has as many actions, and by nobody who has fewer.
func TestNotedPathsAreRestored(t *testing.T) {
	actions, err := NewActions(nil, intern.NewDict())
	if err != nil {
		t.Fatal(err)
	}
	actions.NotePaths()
	m := actions.NewMatcher()
	last := 0
	for _, path := range []string{"/old/x", "/old/y", "/about"} {
		last = int(m.ID([]byte("GET"), []byte(path)))
	}
	paths, _, err := traffic.UnpackNames(traffic.PackNames(nil, actions.Noted()))
	if err != nil {
		t.Fatal(err)
	}
	for more := range 2 {
		again := &Actions{dict: actions.dict}
		again.NotePaths()
		err := again.RestoreNoted(paths, last+more)
		if fits := more == 1; (err == nil) != fits || again.Noted().Len() > 0 != fits {
			t.Errorf("%d actions, %d noted: %v, %d paths", last+more, last+1, err, again.Noted().Len())
		}
	}
}
