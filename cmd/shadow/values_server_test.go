package main

import (
	"slices"
	"strings"
	"testing"
)

func TestServerValue(t *testing.T) {
	for _, name := range aServer.words {
		if got, err := aServer.parse(name); got != name || err != nil {
			t.Error(name, got, err)
		}
	}
	if !slices.Contains(aServer.words, "any") || !slices.Contains(aServer.words, "haproxy") {
		t.Error(aServer.words)
	}
	_, err := aServer.parse("Haproxy")
	if err == nil || !strings.Contains(err.Error(), `did you mean "haproxy"?`) || !strings.HasSuffix(err.Error(), ", apache or any") {
		t.Error(err)
	}
}
