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

	"shadow/limit"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/sweep"
)

// The report as a page: one file that needs nothing else, opens from an e-mail, and can be read without JavaScript.
// Go writes the text and the tables (html_page.go says what is on it); the scripts below assets/ add sorting,
// searching and the charts, whose figures lie in an island of JSON (html_data.go).
//
// Three walls stand between a stranger's text and whoever opens the page: html/template escapes by context, the JSON
// has no "<", and the page's own policy (CSP) lets no script or style run but those whose hashes it names, and
// nothing be loaded from anywhere.

// A Page is a report in HTML. Only Model must be there; whatever else is there is shown.
type Page struct {
	Model    *report.Model
	Curves   *Curves            // what every limit would refuse
	Times    []Times            // refusals over time, of some policies
	Untimed  string             // whose refusals over time are not known: a sentence
	Sections []document.Section // whatever else there is to say, before the curves
}

// Curves are what a sweep found.
type Curves struct {
	By       string        // key that the limits count by
	Action   string        // whose requests the curves are about; "" for all
	From     string        // where they come from, if that is not where the rest of the page does: a sentence
	Judged   int64         // requests that the curves are about; 0: the sum of Requests
	Requests sweep.Classes // the same by class of client; none if that is not known
	Clients  sweep.Classes // that these are from
	Curves   []sweep.Curve

	Hidden *sweep.Disguised // of the browsers: the disguised; nil: nobody is classified

	// Changes are at how many limits each curve changes, if it has lost points on its way here, as in the database; nil:
	// none has.
	Changes []int64
}

// Times are the refusals of one policy over time.
type Times struct {
	Policy  string
	Start   format.Moment // of the first stretch
	Step    limit.Time    // length of each
	Refused []int64       // in each
}

// MostBytes is how many bytes a page has at most.
const MostBytes = 3_000_000

var (
	//go:embed assets/page.html assets/parts.html assets/style.css assets/*.js assets/uplot
	files embed.FS

	templates = template.Must(template.Must(template.New("page.html").Funcs(template.FuncMap{"slug": slug}).
			ParseFS(files, "assets/page.html", "assets/parts.html")).Parse(table.PageTemplates))

	style  = assembled("uplot/uPlot.min.css", "style.css")
	script = "/*\n" + assembled("uplot/LICENSE") + "*/\n" + assembled("uplot/uPlot.iife.min.js") +
		"(() => {\n\"use strict\";\n" + assembled("page.js", "tables.js", "curves.js", "times.js") + "})();\n"

	// contentPolicy is the page's Content Security Policy.
	contentPolicy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'",
		hashOf(script), hashOf(style))
)

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
	for halvings := 0; ; halvings++ {
		var b bytes.Buffer
		room := roomAfter(halvings)
		view, err := p.view(room)
		if err == nil {
			err = templates.Execute(&b, view)
		}
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if b.Len() <= MostBytes || room.points < 2 { // there is nothing left to leave out
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
