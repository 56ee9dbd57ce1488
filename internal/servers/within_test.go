package servers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatLimitsAlreadyIsSaid has what nginxInto says of configurations: comments, then what places need, by their lines.
func TestWhatLimitsAlreadyIsSaid(t *testing.T) {
	lines := []string{"limit_req zone=new;", "limit_req_status 429;", "limit_req_dry_run on;"}
	for _, c := range []struct{ kind, config, want string }{
		{"http", "http {\nserver {\n}\n}", ""},
		{"http", "http {\nlimit_req zone=a;\nserver {\n}\n}", "error: http (FILE:1) limits already"},
		{"server", "http {\nserver {\nlimit_req zone=a;\nlocation / {\n}\n}\n}", "error: server (FILE:2) limits already"},
		{"location", "http {\nserver {\nlimit_req zone=a;\nlocation / {\n}\n}\n}", "error: server (FILE:2) limits already"},
		{
			"server", "http {\nserver {\nlimit_req zone=a;\n}\nserver {\nlocation = /a {\nlimit_req zone=a;\nlimit_req_status 444;\n}\n}\n}",
			"# not in server (FILE:2), location = /a (FILE:6): limited already\nlocation = /a (FILE:6): limit_req_dry_run off;",
		},
		{
			"location", "http {\nserver {\nlocation / {\nlocation /a {\nlimit_req zone=a;\n}\n}\n}\n}",
			"# not in location /a (FILE:4): limited already\nlocation /a (FILE:4): limit_req_dry_run off; limit_req_status 503;",
		},
		{
			"server", "http {\nserver {\nreturn 301 /;\n}\nserver {\nlocation / {\nlimit_req zone=a;\n}\nlocation @app {\n}\n}\n}",
			"error: location / (FILE:6) limits already",
		},
		{
			"http", "http {\nserver {\nlocation / {\nlimit_req zone=a;\n}\nlocation /a {\nreturn 404;\nlocation /a/b {\n}\n}\n}\n}",
			"# not in location / (FILE:3): limited already\nlocation / (FILE:3): limit_req_dry_run off; limit_req_status 503;",
		},
		{
			"http", "http {\nserver {\nlocation ^~ /.well-known/acme-challenge/ {\n}\nlocation / {\nreturn 301 /;\n}\n}\nserver {\nlimit_req zone=a;\n}\n}",
			"error: server (FILE:9) limits already",
		},
		{
			"http", "http {\nserver {\nrewrite ^(.*)$ https://x$1 permanent;\nlocation /a {\nlocation /a/b {\n}\n}\n}\nserver {\nlimit_req zone=a;\n}\n}",
			"error: server (FILE:9) limits already",
		},
		{
			"http", "http {\nserver {\nrewrite ^/a /b permanent;\n}\nserver {\nlimit_req zone=a;\n}\n}",
			"# not in server (FILE:5): limited already\nserver (FILE:5): limit_req_dry_run off; limit_req_status 503;",
		},
		{"http", "http {\nserver {\nlocation / {\nlimit_req zone=a;\n}\n}\n}", "error: location / (FILE:3) limits already"},
		{
			"http", "http {\nserver {\nlimit_req_dry_run on;\nlocation ^~ /a {\n}\nlocation = / {\nlimit_req zone=a;\n}\n}\n}",
			"# not in location = / (FILE:6): limited already\n" +
				"# take limit_req_dry_run out of server (FILE:2), which would refuse at once\n" +
				"location = / (FILE:6): limit_req_status 503;",
		},
		{
			"http", "http {\nlimit_req_dry_run on;\nserver {\nlimit_req zone=a;\n}\nserver {\nlimit_req_dry_run off;\n}\n}",
			"# not in server (FILE:3): limited already\n# in the place of limit_req_dry_run of http (FILE:1)\n" +
				"# take limit_req_dry_run out of server (FILE:6), which would refuse at once\nserver (FILE:3): limit_req_dry_run on; limit_req_status 503;",
		},
	} {
		file := filepath.Join(t.TempDir(), "nginx.conf")
		if err := os.WriteFile(file, []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := ReadWithin("nginx", file)
		if err != nil {
			t.Fatal(err)
		}
		comments, more, err := w.nginxInto(c.kind, lines)
		for _, b := range more {
			place, _, _ := strings.Cut(b.Place, ",")
			comments = append(comments, place+": "+strings.Join(b.Lines, " "))
		}
		got := strings.Join(comments, "\n")
		if err != nil {
			got, _, _ = strings.Cut("error: "+err.Error(), ", and")
		}
		if got = strings.ReplaceAll(got, file, "FILE"); got != c.want {
			t.Errorf("%s into %s:\n%s\nwant\n%s", c.kind, c.config, got, c.want)
		}
	}
}

// TestWithinIsNotKnown: of a part of a configuration, or one that cannot be read whole, nothing is said.
func TestWithinIsNotKnown(t *testing.T) {
	for _, text := range []string{"server { limit_req zone=a; }", "http {\ninclude nowhere.conf;\n}"} {
		file := filepath.Join(t.TempDir(), "nginx.conf")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if w, err := ReadWithin("nginx", file); w != nil || err != nil {
			t.Errorf("%s: %v, %v", text, w, err)
		}
	}
}
