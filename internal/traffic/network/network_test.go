package network

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// write makes an MMDB file with a record for each prefix.
func write(t *testing.T, kind string, records testneeds.Records) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), kind+".mmdb")
	if err := testneeds.MMDB(name, kind, records); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPublishersRecords(t *testing.T) {
	asn := write(t, "GeoLite2-ASN", testneeds.Records{
		"192.0.2.0/24": {"autonomous_system_number": uint32(64500), "autonomous_system_organization": "Example Hosting"},
		"2001:db8::/32": {
			"autonomous_system_number": uint32(64501), "autonomous_system_organization": "Example Six",
		},
	})
	country := write(t, "GeoLite2-Country", testneeds.Records{
		"192.0.2.0/25":   {"country": map[string]any{"iso_code": "DE"}},
		"192.0.2.128/25": {"registered_country": map[string]any{"iso_code": "NL"}},
	})
	info := write(t, "ipinfo lite", testneeds.Records{
		"198.51.100.0/24": {
			"asn": "AS64502", "as_name": "Example Lite", "country": "United States", "country_code": "US",
		},
	})
	d, err := Open([]string{asn, country, info})
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]string{
		"192.0.2.1":        "AS64500 Example Hosting, DE",
		"192.0.2.200":      "AS64500 Example Hosting, NL",
		"2001:db8::1":      "AS64501 Example Six",
		"fe80::1%eth0":     "",
		"198.51.100.7":     "AS64502 Example Lite, US",
		"203.0.113.1":      "",
		"::ffff:192.0.2.1": "AS64500 Example Hosting, DE",
	} {
		if got := d.Of(netip.MustParseAddr(addr)).String(); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
	if err := d.Err(); err != nil {
		t.Error(err)
	}
	var none *Database
	if got := none.Of(netip.MustParseAddr("192.0.2.1")); got != (Owner{}) || none.Err() != nil {
		t.Errorf("no database knows %v", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	other := write(t, "GeoIP2-Connection-Type", testneeds.Records{"192.0.2.0/24": {"connection_type": "Cellular"}})
	log := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(log, []byte("192.0.2.1 - - [22/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		other:              `"GeoIP2-Connection-Type": it has no ASN`,
		log:                "no MMDB file",
		log + ".not-there": "no such file",
	} {
		if _, err := Open([]string{name}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want the name of the file and %q", err, want)
		}
	}
}

// A damaged file may be noticed only when a record of it is read.
func TestDamagedRecordsAreTold(t *testing.T) {
	name := write(t, "GeoLite2-ASN", testneeds.Records{
		"192.0.2.0/24":    {"autonomous_system_organization": "First"},
		"198.51.100.0/24": {"autonomous_system_organization": "Second"},
	})
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(string(data), "Second")
	data[at-1] = 0x5f // a text of many more bytes than there are
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	first, second := d.Of(netip.MustParseAddr("192.0.2.1")), d.Of(netip.MustParseAddr("198.51.100.1"))
	if first.Name == "First" && second.Name == "Second" || d.Err() == nil || !strings.Contains(d.Err().Error(), name) {
		t.Errorf("%v and %v, and the error %v; want one that names the file", first, second, d.Err())
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]uint32{"64500": 64500, "AS64500": 64500, "as1": 1, "4294967295": 4294967295} {
		if got, err := ParseASN(text); got != want || err != nil {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "AS", "0", "AS0", "-1", "4294967296", "ASx", "Example"} {
		if got, err := ParseASN(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
	if got, err := ParseCountry("de"); got != "DE" || err != nil {
		t.Errorf("de: %q, %v", got, err)
	}
	for _, text := range []string{"", "D", "DEU", "Germany", "1A", "Ä"} {
		if got, err := ParseCountry(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestCrawlers(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	google := put("googlebot.json", `{"creationTime": "2026-11-01T00:00:00", "prefixes": [{"ipv6Prefix": "2001:db8:1::/64"}, {"ipv4Prefix": "192.0.2.0/27"}]}`)
	other := put("list.json", `["198.51.100.7", "203.0.113.0/24"]`)
	more := put("special.json", `{"prefixes": [{"ipv4Prefix": "192.0.2.64/27"}]}`)
	c, err := ReadCrawlers([]string{google, "ExampleBot=" + other, "Googlebot=" + more})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, addr string
		want       Verdict
	}{
		{"Googlebot", "192.0.2.31", Verified},
		{"Googlebot-Image", "2001:db8:1::5", Verified},
		{"googlebot", "192.0.2.32", Forged},
		{"Googlebot", "192.0.2.65", Verified},
		{"Googlebot", "::ffff:192.0.2.1", Verified},
		{"ExampleBot", "198.51.100.7", Verified},
		{"ExampleBot", "198.51.100.8", Forged},
		{"bingbot", "192.0.2.1", Unverified},
		{"", "192.0.2.1", Unverified},
	} {
		if got := c.Check(test.name, netip.MustParseAddr(test.addr)); got != test.want {
			t.Errorf("%s from %s is %s, want %s", test.name, test.addr, got, test.want)
		}
	}
	if got := c.Check("Googlebot", netip.Addr{}); got != Unverified {
		t.Errorf("without an address: %s", got)
	}
	for text, want := range map[string]string{
		put("empty.json", `{"prefixes": []}`): "no addresses",
		put("text.json", "192.0.2.0/27\n"):    "no JSON",
		filepath.Join(dir, "none.json"):       "no such file",
		"=" + google:                          "which crawler",
	} {
		if _, err := ReadCrawlers([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
