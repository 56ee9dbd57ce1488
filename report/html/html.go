// Package html writes a report as a page: a report.Model and curves come in, one file of HTML goes out.
package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// The report as a page: one file that needs nothing else, opens from an e-mail, and can be read without JavaScript.
// Go writes the text and the tables (page.go says what is on it); the scripts below assets/ add sorting,
// searching and the charts, whose figures lie in an island of JSON (data.go).
//
// Three walls stand between a stranger's text and the reader of the page: html/template escapes by context, the JSON
// has no "<", and the page's own policy (CSP) lets no script or style run but those whose hashes it names, and nothing
// be loaded from anywhere.

// A Page is a report in HTML. Only Model must be there; whatever else is there is shown.
type Page struct {
	Model    *report.Model
	Curves   *Curves            // what every limit would refuse
	Times    *Times             // refusals over time; nil: none
	Untimed  string             // whose refusals over time are not known: a sentence
	Sections []document.Section // whatever else there is to say, before the curves
	news     []string           // what has changed since earlier runs
}

// Curves holds what a sweep found.
type Curves struct {
	*sweep.Result
	From string // where they come from, if that is not where the rest of the page does: a sentence
	// Changes are at how many limits each curve changes, if it has lost points on its way here, as in the database; nil:
	// none has.
	Changes []int64
}

// Times are requests and refusals over time: how many in each of some stretches of the same length.
type Times struct {
	Start    format.Moment // of the first stretch
	Step     limit.Time    // length of each
	Requests []int64       // in each; nil: not known
	Left     int64         // requests before and after
	Policies []Refusals    // of those that refused something; at least one
}

// Refusals holds the refusals of one policy.
type Refusals struct {
	Policy  string
	Refused []int64 // in each stretch
}

// MostBytes is the largest size of a page, in bytes.
const MostBytes = 1_500_000

//go:embed assets/*.html assets/style.css assets/*.js assets/uplot
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	brief := func(s string) string { return table.Clip(s, 40) }
	pages := template.New("").Funcs(template.FuncMap{"slug": slug, "brief": brief})
	return template.Must(template.Must(pages.ParseFS(files, "assets/*.html")).Parse(table.PageTemplates))
})

// A frame holds what each page has around what it shows.
type frame struct {
	CSP    template.HTML // the page's Content Security Policy
	Style  template.CSS
	Script template.JS
	Data   template.JS // the island of JSON
	Title  string
}

var (
	pageFrame  = sync.OnceValue(func() frame { return framed("page.js", "tables.js", "charts.js", "times.js") })
	sweepFrame = sync.OnceValue(func() frame {
		return framed("page.js", "tables.js", "copy.js", "charts.js", "times.js", "explorer.js", "stored.js")
	})
)

// framed returns the frame of pages with some scripts, without a title and data.
func framed(scripts ...string) frame { return framedBy("", charts(), scripts...) }

// plain is framed for a page whose charts need no script.
func plain(scripts ...string) frame { return framedBy("", "", scripts...) }

// served is framed for a page that may ask the server that it comes from.
func served(scripts ...string) frame { return framedBy("; connect-src 'self'", charts(), scripts...) }

// charts returns the library that draws charts.
func charts() string {
	return "/*\n" + assembled("uplot/LICENSE") + "*/\n" + assembled("uplot/uPlot.iife.min.js")
}

// framedBy is framed with more rules, and a library.
func framedBy(rules, library string, scripts ...string) frame {
	style := assembled("uplot/uPlot.min.css", "style.css")
	script := library + "(() => {\n\"use strict\";\n" + assembled(scripts...) + "})();\n"
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'%s",
		hashOf(script), hashOf(style), rules)
	return frame{
		CSP:   template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + policy + `">`), //nolint:gosec // made of hashes
		Style: template.CSS(style), Script: template.JS(script),                                      //nolint:gosec // our own files
	}
}

// assembled is the text of some files below assets/, one after the other.
func assembled(names ...string) (text string) {
	for _, name := range names {
		b, err := files.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // the program was built without one of its files
		}
		text += string(b)
	}
	return text
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Write writes the page, all of it or nothing. A page that would be too large is made with less room for lists and
// curves, and says so.
func (p *Page) Write(w io.Writer) error {
	return write(w, "page.html", func(halvings int) (any, bool, error) {
		room := roomAfter(halvings)
		view, err := p.view(room)
		return view, room.points >= 2, err
	})
}

// write writes a page, all of it or nothing. What it shows is viewed after more and more halvings of the room for it, as
// long as the page is too large, and more of it can be left out.
func write(w io.Writer, page string, viewed func(halvings int) (view any, more bool, err error)) error {
	for halvings := 0; ; halvings++ {
		var b bytes.Buffer
		view, more, err := viewed(halvings)
		if err == nil {
			err = templates().ExecuteTemplate(&b, page, view)
		}
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if b.Len() <= MostBytes || !more {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
}

// slug is a text as part of an id.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(s))
}

// What a page has room for. Names are cut and lists bounded before anything is written, so that no log makes the page
// large; where even that comes to too much, everything is halved again and again.

// room says how much of everything a page shows.
type room struct {
	policies int // rows of the table of candidates
	details  int // policies with lists of their own
	rows     int // of clients, or of actions, in all lists of the page together
	list     int // in one list
	curves   int
	points   int // of one curve
	steps    int // of one policy's refusals over time
	notes    int // warnings, and sentences of a section
	sections int // that others have handed in
}

// MostPoints is the most points of a curve on a page.
const MostPoints = 2000

// MostRows is the most rows of a list of clients or actions on a page.
const MostRows = 250

// roomAfter returns what is left after what charts draw has been halved so many times, and lists half as often.
func roomAfter(halvings int) room {
	half := func(n int) int { return n >> halvings }
	some := func(n, times int) int { return (n + 1<<times - 1) >> times } // 1 at least
	lists := halvings / 2
	return room{
		policies: some(300, lists), details: some(12, lists), rows: some(900, lists), list: some(MostRows, lists),
		notes: some(40, lists), sections: some(60, lists),
		curves: some(120, halvings), points: half(MostPoints), steps: half(1000),
	}
}

// of returns how many rows each of some lists may have.
func (r room) of(lists int) int { return min(r.list, r.rows/max(lists, 1)) }

const textLength = 600 // characters of a sentence

// clipped is a sentence as the page may have it.
func clipped(text string) string { return table.Clip(text, textLength) }

// name is a name as the page may have it.
func name(text string) string { return table.Clip(text, table.PageName) }

// clippedAll are some texts as the page may have them.
func clippedAll(texts []string, most int) (some []string) {
	for _, text := range texts[:min(len(texts), most)] {
		some = append(some, clipped(text))
	}
	if left := len(texts) - len(some); left > 0 {
		some = append(some, fmt.Sprintf("… and %d more", left))
	}
	return some
}

func clippedFacts(facts []document.Fact, most int) (some []document.Fact) {
	for _, f := range facts {
		some = append(some, document.Fact{Label: f.Label, Text: clipped(f.Text), Details: clippedAll(f.Details, most), Prose: f.Prose})
	}
	return some
}
