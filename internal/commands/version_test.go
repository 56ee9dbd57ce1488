package commands

import (
	"runtime/debug"
	"testing"
)

// A checkout of a tag, and go install of one, tell the version; another checkout tells its commit.
func TestNotedVersion(t *testing.T) {
	at := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-24T00:00:00Z"}}
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     build
	}{
		{"v0.1.0", nil, build{Version: "0.1.0"}},
		{"v0.1.0", at, build{Version: "0.1.0", Commit: "0123456789abcdef", Date: "2026-11-24T00:00:00Z"}},
		{"v0.1.0+dirty", at, build{Commit: "0123456789abcdef", Date: "2026-11-24T00:00:00Z"}},
		{"v0.1.1-0.20261124000000-0123456789ab", at, build{Commit: "0123456789abcdef", Date: "2026-11-24T00:00:00Z"}},
		{"(devel)", nil, build{}},
	} {
		var got build
		got.noted(&debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings})
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.main, got, c.want)
		}
	}
}
