package moves

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/servers"
	"shadow/internal/testneeds"
)

// TestWriteTexts writes random exports for each target into the folder SHADOW_EXPORTS, for scripts/exports/run, which has
// real code of the targets judge them.
func TestWriteTexts(t *testing.T) {
	dir := os.Getenv("SHADOW_EXPORTS")
	if dir == "" {
		dir = t.TempDir()
	}
	r := testneeds.Rand(t, 9, 79)
	proxied, err := whereOf(&pipeline.Reading{Client: "addr", ClientFrom: "x-forwarded-for", Trusted: []string{"10.0.0.0/8", "::1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range servers.Targets {
		n := 0
		for tries := 0; n < 60 && tries < 2000; tries++ {
			entries := randomLimit(r)
			if r.IntN(4) == 0 {
				entries += ", " + randomLimit(r)
			}
			if r.IntN(6) == 0 {
				entries += ", {limit: 'token:10/m', match: " + pick(r, "{country: [DE, FR]}", "{asn: AS64500}", `{agent: "it's \"\\."}`) + "}"
			}
			c, err := policy.ParseConfig("", []byte("policies: [{name: p, limits: ["+entries+"]}]"))
			if err != nil {
				t.Fatal(err)
			}
			where := servers.Where{Client: "addr"}
			if r.IntN(3) == 0 {
				where = proxied
			}
			e := target.Export(wantedOf(&c, c.Policies[0].Policies[0]), where)
			if len(e.Blocks) == 0 {
				continue
			}
			text, err := json.Marshal(map[string]any{"target": target.Name, "wanted": entries, "blocks": e.Blocks})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%03d.json", target.Name, n)), text, 0o600); err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n < 60 {
			t.Errorf("%s is told %d of 2000 random limits", target.Name, n)
		}
	}
}
