package match

import (
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/parse"
)

// A scope holds the requests that fit each thing it asks for. One that does not ask holds every request.
func TestMarks(t *testing.T) {
	scopes := []request.Conditions{
		{}, {Methods: []string{"POST", "PUT"}}, {Prefixes: []string{"/a"}}, {Methods: []string{"GET"}, Prefixes: []string{"/a", "/b"}},
	}
	s, err := NewScopes(scopes, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := s.NewMarker(traffic.NewTables(), ClientRule{})
	for _, c := range []struct {
		method, target string
		want           []int // the scopes that it is in
	}{
		{"GET", "/a", []int{0, 2, 3}},
		{"GET", "/b/c", []int{0, 3}},
		{"GET", "/c/a", []int{0}},
		{"POST", "/a", []int{0, 1, 2}},
		{"PUT", "/b", []int{0, 1}},
		{"PATCH", "/b", []int{0}},
	} {
		marks := make([]uint64, 1)
		m.Mark(marks, traffic.NewBatch(1, traffic.Columns{}), []parse.Record{{Method: []byte(c.method), Path: []byte(c.target)}})
		var got []int
		for i := range scopes {
			if marks[0]&(1<<i) != 0 {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s is in the scopes %v, want %v", c.method, c.target, got, c.want)
		}
	}
}
