package ingest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/limit"
	"shadow/parse"
)

// referring returns a combined line with a referer.
func referring(n int, path, referer string) string {
	at := time.UnixMicro(int64(noon)).UTC().Add(time.Duration(n) * time.Second)
	return fmt.Sprintf("192.0.2.1 - - [%s] \"GET %s HTTP/1.1\" 200 9 \"%s\" \"curl/8.5.0\"\n", at.Format("02/Jan/2006:15:04:05 -0700"), path, referer)
}

// The names of a site are those that files are asked for from; where lines tell the host, they are not needed. The
// Clues stay with their rows when these are put in order.
func TestReaderClues(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	for i := range 40 {
		log.WriteString(referring(i, "/site.css", "https://www.Shop.example/"))
	}
	log.WriteString(referring(41, "/a.png", "https://thief.example/"))
	log.WriteString(referring(43, "/b", "https://search.example/a"))
	log.WriteString(referring(42, "/a", "https://shop.example/"))
	log.WriteString(referring(44, "/b", "https://shop.example/a"))
	log.WriteString(referring(47, "/d", "https://thief.example/"))
	shop := write(t, dir, "shop.log", log.String())
	vhost := write(t, dir, "vhost.log", "other.example:80 "+referring(45, "/c", "https://other.example/a")+
		"other.example:80 "+referring(46, "/c", "https://shop.example/a"))
	for _, c := range []struct {
		rules evidence.ClueRules
		want  string
	}{
		{evidence.ClueRules{}, "shop.example: 42 true 43 false 44 true 45 true 46 false 47 false "},
		{evidence.ClueRules{Hosts: []string{"search.example"}}, "search.example: 42 false 43 true 44 false 45 true 46 false 47 false "},
	} {
		o := readingOptions(t)
		var err error
		o.ClueFinder, err = evidence.NewClueFinder(c.rules)
		check(t, err)
		if got := withClues(t, o, shop, vhost); got != c.want {
			t.Errorf("%+v: %q, want %q", c.rules, got, c.want)
		}
	}
	if h := read(t, readingOptions(t), shop); len(h.rows) != 45 {
		t.Errorf("without a finder there are %d rows", len(h.rows))
	}
}

// withClues says which steps come from a page of the site, in order of time.
func withClues(t *testing.T, o Options, names ...string) string {
	t.Helper()
	r, err := NewReader(context.Background(), names, nil, o)
	check(t, err)
	defer r.Close()
	text := fmt.Sprintf("%s: ", r.options.ClueFinder.Hosts()[0])
	for {
		b, err := r.Next()
		if err == io.EOF {
			return text
		}
		check(t, err)
		var g traffic.Group
		g.Sort(b, b.Client, o.Tables.Clients.Len())
		for i, row := range g.Rows {
			if clue := b.Clues[row]; clue.Traits.Has(traffic.Stepped) {
				text += fmt.Sprintf("%d %v ", (int64(g.At[i])-int64(noon))/1e6, clue.From != 0)
			}
		}
	}
}

// However rows wait, move and are left out, each keeps its own clue. Here the action tells the page.
func TestCluesStayWithRows(t *testing.T) {
	rng := testneeds.Rand(t, 3, 4)
	var log strings.Builder
	for i := range 20_000 {
		path := fmt.Sprintf("/%d", rng.IntN(5000))
		line := combined(i/10-rng.IntN(300), "192.0.2.1", path)
		log.WriteString(strings.Replace(line, `"-" "curl`, fmt.Sprintf(`"https://shop.example%s" "curl`, path), 1))
	}
	name := write(t, t.TempDir(), "shop.log", log.String())
	for _, batch := range []int{1, 100, 100_000} {
		o := readingOptions(t)
		o.Batch, o.Waiting, o.Lateness = batch, 3000, 100*limit.Second
		o.HasSince, o.Since, o.Warmup = true, noon+300*limit.Second, limit.Minute
		var err error
		o.ClueFinder, err = evidence.NewClueFinder(evidence.ClueRules{})
		check(t, err)
		r, err := NewReader(context.Background(), []string{name}, nil, o)
		check(t, err)
		for b, err := r.Next(); err != io.EOF; b, err = r.Next() {
			check(t, err)
			for i, clue := range b.Clues {
				action := []byte(o.Tables.Actions.Name(int32(b.Action[i])))
				if clue.Page != pageAt(action) || clue.From != clue.Page {
					t.Fatalf("batches of %d: %s has the clue %+v", batch, action, clue)
				}
			}
		}
		check(t, r.Close())
	}
}

// pageAt returns the page of a path, as its clue names it.
func pageAt(path []byte) uint16 {
	var finder evidence.ClueFinder
	var clue [1]traffic.Clue
	finder.NewReader().Find(clue[:], []parse.Record{{Method: []byte("GET"), Path: path}})
	return clue[0].Page
}
