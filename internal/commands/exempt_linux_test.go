package commands

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A list of addresses that no policy limits, such as those of a content delivery network, may be long.
func TestMillionsOfExemptAddresses(t *testing.T) {
	var config strings.Builder
	config.WriteString("policies:\n  - {name: all, limits: 6/30s}\nexempt:\n  addresses:\n")
	for i := range uint32(2_000_000) {
		addr := netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, i*2027)))
		config.WriteString("    - " + addr.String() + "\n")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "long.yaml"), []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	line := `0.0.7.235 - - [01/Feb/2024:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"` + "\n" // the second address
	log := strings.Repeat(line, 10) + strings.Repeat(strings.Replace(line, "0.0.7.235", "192.0.2.1", 1), 7)
	if err := os.WriteFile(filepath.Join(dir, "access.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, dir, "replay", "access.log", "--config", "long.yaml", "--output", "json")
	var out bytes.Buffer
	cmd.Stdout = &out
	took, err := runMeasured(cmd)
	if err != nil || !strings.Contains(out.String(), `"requests": 7`) || !strings.Contains(out.String(), `"refused": 1`) {
		t.Errorf("%v\n%s", err, out.String())
	}
	if took == 0 || took > 500e6 {
		t.Errorf("took %d MB", took/1e6)
	}
}
