package parse

import (
	stdgzip "compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Real rotated logs, read through the standard library and through an Input: the same bytes. They lie beside the
// project on the machines of its developers, never in it.
func TestInputReadsRealLogs(t *testing.T) {
	const logs = "../../shared/logs"
	if _, err := os.Stat(logs); err != nil {
		t.Skipf("%s is not here", logs)
	}
	found, err := Expand([]string{logs + "/farmer-*/*.gz", logs + "/webbot-phase2/*.gz", logs + "/odd-formats"})
	if err != nil || len(found.Names) < 100 {
		t.Fatalf("%d files, %v", len(found.Names), err)
	}
	for _, name := range found.Names {
		in := openInput(t, name, nil)
		if readAll(t, in) != string(gunzip(t, name)) || in.Problem() != "" {
			t.Errorf("%s: read something else; problem %q", name, in.Problem())
		}
	}
}

// gunzip is the content of a file, decompressed if its name says so.
func gunzip(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(name) == ".gz" {
		if r, err = stdgzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
