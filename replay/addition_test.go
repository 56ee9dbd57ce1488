package replay_test

import (
	"testing"

	"shadow/internal/traffic/ingest"
	"shadow/replay"
)

// Lines, bytes and late requests are something to be counted. The names of policies are not.
func TestAdditionIsEmpty(t *testing.T) {
	for _, c := range []struct {
		addition replay.Addition
		empty    bool
	}{
		{replay.Addition{}, true},
		{replay.Addition{Policies: []replay.PolicyText{{Name: "x"}}}, true},
		{replay.Addition{Counts: ingest.Counts{Lines: 1}}, false},
		{replay.Addition{Counts: ingest.Counts{Bytes: 1}}, false},
		{replay.Addition{Counts: ingest.Counts{Late: 1}}, false},
	} {
		if got := c.addition.Empty(); got != c.empty {
			t.Errorf("%+v is empty: %t", c.addition, got)
		}
	}
}
