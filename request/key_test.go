package request

import (
	"strings"
	"testing"
)

// A key with an action says in its name what it is without one, and shares what that shares.
func TestWho(t *testing.T) {
	for key := range KeyCount {
		who, by := strings.CutSuffix(key.String(), "+action")
		if key.Who().String() != who || by && key.Who() == key || key.Shared() != key.Who().Shared() {
			t.Errorf("%s without an action is %s", key, key.Who())
		}
	}
}

// Where each client has buckets of its own, whatever it has them for, nobody else is in them.
func TestShared(t *testing.T) {
	for key, want := range map[Key]bool{
		ByClient: false, ByClientAction: false, ByClientAgent: false, ByClientAgentAction: false, ByClientPath: false,
		ByUser: true, ByUserAction: true, ByClient24: true, ByClient64Action: true, ByAction: true, ByHost: true, BySite: true,
	} {
		if key.Shared() != want {
			t.Errorf("%s: shared %t, want %t", key, key.Shared(), want)
		}
	}
}
