// Package traefik has Traefik's own code judge what shadow export writes for it, as files of the folder SHADOW_EXPORTS. It
// is a module of its own: Traefik replaces libraries that the other judges use as they are.
package traefik

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traefik/paerser/file"
	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	muxer "github.com/traefik/traefik/v3/pkg/muxer/http"
)

// judge reads the file of a provider strictly, and compiles the rules of its routers.
func judge(lines string) error {
	c := new(dynamic.Configuration)
	if err := file.DecodeContent(lines, ".yaml", c); err != nil {
		return err
	}
	parser, err := muxer.NewSyntaxParser()
	if err != nil {
		return err
	}
	for name, r := range c.HTTP.Routers {
		if err := muxer.NewMuxer(parser).AddRoute(r.Rule, "v3", 1, http.NotFoundHandler()); err != nil {
			return err
		}
		for _, m := range r.Middlewares {
			if d := c.HTTP.Middlewares[m]; d == nil || d.RateLimit == nil || d.RateLimit.Average == 0 {
				return fmt.Errorf("%s has no limit %s", name, m)
			}
		}
	}
	return nil
}

func TestJudges(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(os.Getenv("SHADOW_EXPORTS"), "traefik-[0-9]*.json"))
	if err != nil || len(names) == 0 {
		t.Fatal("nothing is exported", err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var x struct {
			Wanted string
			Blocks []struct{ Lines []string }
		}
		if err := json.Unmarshal(content, &x); err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(x.Blocks[0].Lines, "\n") + "\n"
		if err := judge(lines); err != nil || len(x.Blocks) != 1 {
			t.Errorf("%s: %v\n%s", x.Wanted, err, lines)
		}
		for _, wrong := range []string{strings.ReplaceAll(lines, "average", "mean"), strings.ReplaceAll(lines, "rule: '", "rule: 'Any() && ")} {
			if judge(wrong) == nil {
				t.Errorf("what is wrong is taken:\n%s", wrong)
			}
		}
	}
	t.Logf("%d texts", len(names))
}
