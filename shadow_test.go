package shadow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"shadow"
)

// What is left out, or wrong, is an error, never a panic.
func TestErrorsOfTheLibrary(t *testing.T) {
	const sample = "sample-logs/shop-combined.log"
	ctx := context.Background()
	for name, ask := range map[string]func() error{
		"no limit":   func() error { _, err := shadow.Replay(ctx, shadow.Files(sample)); return err },
		"no logs":    func() error { _, err := shadow.Replay(ctx, shadow.Files(), shadow.Limit("6/30s")); return err },
		"zero logs":  func() error { _, err := shadow.Sweep(ctx, shadow.Logs{}); return err },
		"nil reader": func() error { _, err := shadow.Suggest(ctx, shadow.Reader(nil)); return err },
		"no file":    func() error { _, err := shadow.Suggest(ctx, shadow.Files("nowhere.log")); return err },
		"limit":      func() error { _, err := shadow.Replay(ctx, shadow.Files(sample), shadow.Limit("6")); return err },
		"key": func() error {
			_, err := shadow.Sweep(ctx, shadow.Files(sample), shadow.Options{By: "planet"})
			return err
		},
		"server": func() error {
			_, err := shadow.Suggest(ctx, shadow.Files(sample), shadow.Options{For: "iis"})
			return err
		},
		"promise": func() error {
			_, err := shadow.Suggest(ctx, shadow.Files(sample), shadow.Options{Protect: []string{"x"}})
			return err
		},
		"target": func() error {
			_, err := shadow.Suggest(ctx, shadow.Files(sample), shadow.Options{Target: []string{"x"}})
			return err
		},
		"policies": func() error {
			_, err := shadow.Replay(ctx, shadow.Files(sample), shadow.Policies("no.yaml"))
			return err
		},
		"two limits": func() error { _, err := shadow.NewLimiter("6/30s"); return err },
		"no limiter": func() error { _, err := shadow.NewLimiter(""); return err },
		"nil option": func() error { _, err := shadow.Replay(ctx, shadow.Files(sample), nil); return err },
		"interrupted": func() error {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			_, err := shadow.Sweep(gone, shadow.Files(sample))
			return err
		},
	} {
		if err := ask(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Where lines cannot be read, the rest is judged, and the error says so.
func TestIncompleteLogs(t *testing.T) {
	r, err := shadow.Replay(context.Background(), shadow.Files("sample-logs/broken.log"), shadow.Limit("6/30s"))
	if missing := new(shadow.IncompleteError); !errors.As(err, missing) || r == nil || r.Requests == 0 {
		t.Errorf("%v, %v", r, err)
	}
}

// The JSON is that of the commands.
func TestJSONOfTheLibrary(t *testing.T) {
	r, err := shadow.Replay(context.Background(), shadow.Files("sample-logs/api.json"), shadow.Limit("6/30s"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil || !json.Valid(b.Bytes()) || !strings.HasPrefix(b.String(), "{\n  \"schema\": \"shadow.report/") {
		t.Errorf("%v: %.200s", err, b.String())
	}
}
