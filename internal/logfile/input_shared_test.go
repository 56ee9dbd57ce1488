package logfile

import (
	"testing"

	"shadow/internal/testneeds"
)

// Real rotated logs, read through the standard library and through an Input: the same bytes.
func TestInputReadsRealLogs(t *testing.T) {
	logs := testneeds.Shared(t, "logs")
	found, err := Expand([]string{logs + "/farmer-*/*.gz", logs + "/webbot-phase2/*.gz", logs + "/odd-formats"})
	if err != nil || len(found.Names) < 100 {
		t.Fatalf("%d files, %v", len(found.Names), err)
	}
	for _, name := range found.Names {
		in := openInput(t, name, nil)
		if readAll(t, in) != string(testneeds.Content(t, name)) || in.Problem() != "" {
			t.Errorf("%s: read something else; problem %q", name, in.Problem())
		}
	}
}
