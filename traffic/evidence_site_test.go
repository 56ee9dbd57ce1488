package traffic

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestSplitReferer(t *testing.T) {
	for referer, want := range map[string]string{
		"https://shop.example/a?b#c": "shop.example /a?b#c", "http://shop.example": "shop.example /", "HTTPS://WWW.Shop.example:8443/": "Shop.example /",
		"https://shop.example?q": "shop.example /", "https://[2001:db8::1]:80/a": "[2001:db8::1] /a", "https://[2001:db8::1]/a": "[2001:db8::1] /a",
		"ftp://a/b": "", "-": "", "": "", "/a": "", "android-app://com.example/": "", "https://": " /", "https:///a": " /a", "://a": "",
	} {
		got := ""
		if host, target, ok := splitReferer([]byte(referer)); ok {
			got = string(bareHost(host)) + " " + string(target)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", referer, got, want)
		}
	}
}

// referring is a combined line with a referer.
func referring(n int, path, referer string) string {
	at := time.UnixMicro(int64(noon)).UTC().Add(time.Duration(n) * time.Second)
	return fmt.Sprintf("192.0.2.1 - - [%s] \"GET %s HTTP/1.1\" 200 9 \"%s\" \"curl/8.5.0\"\n", at.Format("02/Jan/2006:15:04:05 -0700"), path, referer)
}

// The names of a site are those that files are asked for from; where lines tell the host, they are not needed. The
// traces stay with their rows when these are put in order.
func TestReaderTraces(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	for i := range 40 {
		log.WriteString(referring(i, "/site.css", "https://www.Shop.example/"))
	}
	log.WriteString(referring(41, "/a.png", "https://thief.example/"))
	log.WriteString(referring(43, "/b", "https://search.example/a"))
	log.WriteString(referring(42, "/a", "https://shop.example/"))
	log.WriteString(referring(44, "/b", "https://shop.example/a"))
	shop := write(t, dir, "shop.log", log.String())
	vhost := write(t, dir, "vhost.log", "other.example:80 "+referring(45, "/c", "https://other.example/a")+
		"other.example:80 "+referring(46, "/c", "https://shop.example/a"))
	for _, c := range []struct {
		rules TraceRules
		want  string
	}{
		{TraceRules{}, "shop.example: 42 true 43 false 44 true 45 true 46 false "},
		{TraceRules{Hosts: []string{"search.example"}}, "search.example: 42 false 43 true 44 false 45 true 46 false "},
	} {
		o := readingOptions(t)
		var err error
		o.Tracer, err = NewTracer(c.rules)
		check(t, err)
		if got := traced(t, o, shop, vhost); got != c.want {
			t.Errorf("%+v: %q, want %q", c.rules, got, c.want)
		}
	}
	if h := read(t, readingOptions(t), shop); len(h.rows) != 44 {
		t.Errorf("without a tracer there are %d rows", len(h.rows))
	}
}

// traced says which steps come from a page of the site, in order of time.
func traced(t *testing.T, o Options, names ...string) string {
	t.Helper()
	r, err := NewReader(context.Background(), names, nil, o)
	check(t, err)
	defer r.Close()
	text := fmt.Sprintf("%s: ", r.options.Tracer.hosts[0])
	for {
		b, err := r.Next()
		if err == io.EOF {
			return text
		}
		check(t, err)
		var g Group
		g.Sort(b, b.Client, o.Tables.Clients.Len())
		for i, row := range g.Rows {
			if trace := b.Traces[row]; trace.Traits.Has(Stepped) {
				text += fmt.Sprintf("%d %v ", (int64(g.At[i])-int64(noon))/1e6, trace.From != 0)
			}
		}
	}
}
