package match

import (
	"testing"

	"shadow/parse"
)

// The address that a header names behind the client, and what its first entry is.
func TestOrigins(t *testing.T) {
	plain, err := ParseClientRule("", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	behind, err := ParseClientRule("", "x-forwarded-for", []string{"private"})
	if err != nil {
		t.Fatal(err)
	}
	named := func(addr string) uint32 {
		a, ok := parse.Addr([]byte(addr))
		if !ok {
			t.Fatal(addr)
		}
		return addrHash(a) | 1
	}
	for _, c := range []struct {
		rule         ClientRule
		client, list string
		origin       string // "": none
		first        Entry  // PublicEntry if there is no list
	}{
		{plain, "10.0.0.1", "192.0.2.7", "192.0.2.7", PublicEntry},
		{plain, "10.0.0.1", "192.0.2.7:4711", "192.0.2.7", PublicEntry},
		{plain, "10.0.0.1", "8.8.8.8, 192.0.2.7", "192.0.2.7", PublicEntry},
		{plain, "10.0.0.1", "192.0.2.7, 10.0.0.9", "192.0.2.7", PublicEntry},
		{plain, "10.0.0.1", "10.9.9.9,192.0.2.7", "192.0.2.7", PrivateEntry},
		{plain, "10.0.0.1", "10.9.9.9", "10.9.9.9", PrivateEntry},
		{plain, "10.0.0.1", "unknown, 192.0.2.7", "192.0.2.7", NoAddress},
		{plain, "10.0.0.1", "<script>", "", NoAddress},
		{plain, "10.0.0.1", "224.0.0.1, 192.0.2.7", "192.0.2.7", NobodysEntry},
		{plain, "10.0.0.1", "0.1.2.3, 2001:db8::7", "2001:db8::7", NobodysEntry},
		{plain, "10.0.0.1", `for="[2001:db8::7]:4711";proto=https`, "2001:db8::7", PublicEntry},
		{plain, "10.0.0.1", `proto=https;FOR=192.0.2.7, for=10.0.0.3`, "192.0.2.7", PublicEntry},
		{plain, "192.0.2.7", "192.0.2.7, 198.51.100.1", "", PublicEntry},
		{plain, "192.0.2.7", "", "", PublicEntry},
		{plain, "192.0.2.7", "unknown, 192.0.2.7", "", NoAddress},
		{plain, "192.0.2.7", "0.1.2.3, 192.0.2.7, 198.51.100.1", "", NobodysEntry},
		{plain, "a.example", "192.0.2.7", "", PublicEntry},
		{behind, "10.0.0.1", "192.0.2.7", "", PublicEntry},
		{behind, "10.0.0.1", "8.8.8.8, 192.0.2.7", "8.8.8.8", PublicEntry},
		{behind, "198.51.100.1", "192.0.2.7", "192.0.2.7", PublicEntry},
	} {
		o := c.rule.NewOrigins()
		r := parse.Record{Client: []byte(c.client), Forwarded: []byte(c.list)}
		want := uint32(0)
		if c.origin != "" {
			want = named(c.origin)
		}
		for range 2 { // the second time by what was seen before
			if at, first := o.Of(&r); at != want || EntryOf(first) != c.first || first != 0 != (c.list != "" && (c.origin != "" || c.first != PublicEntry)) {
				t.Errorf("%s, list %q: origin %x, want %x; first entry %x is %d, want %d", c.client, c.list, at, want, first, EntryOf(first), c.first)
			}
		}
	}
}

// The header Forwarded finds clients as X-Forwarded-For does.
func TestClientFromForwarded(t *testing.T) {
	rule, err := ParseClientRule("", "forwarded", []string{"private"})
	if err != nil {
		t.Fatal(err)
	}
	format, err := parse.Compile(`$remote_addr [$time_local] "$request" $status "$http_forwarded"`, parse.Options{Extra: rule.Extra()})
	if err != nil {
		t.Fatal(err)
	}
	if lacks := rule.Lacks(format); lacks != "" || format.ForwardedBy() != "forwarded" {
		t.Errorf("the format lacks %q; it has %s", lacks, format.ForwardedBy())
	}
	var r parse.Record
	line := []byte(`10.0.0.1 [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 "for=192.0.2.7;proto=https, for=10.0.0.4"`)
	if fault := format.NewParser().Parse(line, &r); !fault.OK() {
		t.Fatal(fault)
	}
	if got := string(rule.NewExtractor().Key(&r)); got != "192.0.2.7" {
		t.Errorf("the client is %s", got)
	}
}
