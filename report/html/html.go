// Package html writes a report as a page: a report.Model and curves, an answer, or another report comes in, one file of
// HTML goes out.
package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"shadow/internal/mapped"
	"shadow/report/document"
	"shadow/report/table"
)

// The report as a page: one file that needs nothing else, opens from an e-mail, and can be read without JavaScript.
// A page is a heading and sections, a section is a heading and blocks, and a block is a value with the template that
// writes it. Go makes these (page.go, answer.go, document.go); the scripts below assets/ add sorting, searching and the
// charts, whose figures lie in an island of JSON (explorer.go).
//
// Three walls stand between a stranger's text and the reader of the page: html/template escapes by context, also the
// JSON, and the page's own policy (CSP) lets no script or style run but those whose hashes it names, and nothing be
// loaded from anywhere.

// A view is all that page.html writes: the section on top, which has the title of the page, and the others.
type view struct {
	section
	Lede     string
	Begin    string // the section on top, in the contents
	Sections []*section
	Shadow   string // the program, and how it was called
	Command  string
	Lacks    string // what cannot be done without a script: a sentence
	Scripts  []string
	Island   *island // nil: the page has none
	frame
}

// A section is a part of a page, under a heading. It is written if it has blocks.
type section struct {
	ID, Title string
	Limit     string // whose hits the section tells; "": it tells something else
	Link      string // in the contents; "": none
	Scripted  bool   // of no use without a script
	Blocks    []block
}

// A block is a value, and the template that writes it.
type block struct {
	Template string
	Value    any
}

// add adds a block, if there is anything in it.
func (s *section) add(name string, value any) {
	if some, _ := template.IsTrue(value); some {
		s.Blocks = append(s.Blocks, block{name, value})
	}
}

// begin adds a section.
func (v *view) begin(id, title, link string) *section {
	s := &section{ID: id, Title: title, Link: link}
	v.Sections = append(v.Sections, s)
	return s
}

// A fold is blocks that can be folded.
type fold struct {
	Class, Title string
	Heading      bool // whether the title is one
	Open         bool
	Blocks       []block
}

// alert adds what is notable of the log, folded.
func (s *section) alert(title string, alerts []document.Alert, room room, open bool) {
	alerts = slices.Clone(alerts[:min(len(alerts), room.listed(mostNotes))])
	for i := range alerts {
		alerts[i].Text = clipped(alerts[i].Text)
	}
	if len(alerts) > 0 {
		title = fmt.Sprintf("%s: %d", title, len(alerts))
		blocks := []block{{"alerts", alerts}}
		s.add("fold", &fold{Class: "findings", Title: title, Heading: true, Open: open, Blocks: blocks})
	}
}

// Lines are lines that go to one place.
type Lines struct {
	Place string `json:"place"`
	Text  string `json:"text"`
	What  string `json:"-"` // they are, if they have no place
}

//go:embed assets/*.html assets/style.css assets/*.js assets/uplot
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	pages := template.New("").Funcs(template.FuncMap{"lower": strings.ToLower})
	return template.Must(template.Must(pages.ParseFS(files, "assets/*.html")).Parse(table.PageTemplates))
})

// HTML returns the block as its template writes it.
func (b block) HTML() (template.HTML, error) {
	var text bytes.Buffer
	err := templates().ExecuteTemplate(&text, b.Template, b.Value)
	return template.HTML(text.String()), err //nolint:gosec // html/template wrote it
}

// A frame holds what each page has around what it shows.
type frame struct {
	CSP    template.HTML // the page's Content Security Policy
	Style  template.CSS
	Script template.JS
}

// framed returns the frame of pages with some more scripts.
func framed(more ...string) frame {
	scripts := append([]string{"page.js", "tables.js", "copy.js"}, more...)
	style, script, rules := assembled("uplot/uPlot.min.css", "style.css"), "", ""
	if slices.Contains(scripts, "charts.js") {
		script = "/*\n" + assembled("uplot/LICENSE") + "*/\n" + assembled("uplot/uPlot.iife.min.js")
	}
	if slices.Contains(scripts, "asked.js") {
		rules = "; connect-src 'self'" // the server that it comes from
	}
	script += "(() => {\n\"use strict\";\n" + assembled(scripts...) + "})();\n"
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'%s",
		hashOf(script), hashOf(style), rules)
	policy = `<meta http-equiv="Content-Security-Policy" content="` + policy + `">`
	return frame{template.HTML(policy), template.CSS(style), template.JS(script)} //nolint:gosec // our own files
}

// assembled returns the text of some files below assets/, one after the other.
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

// MostBytes is the largest size of a page, in bytes.
const MostBytes = 1_500_000

// write writes a page, all of it or nothing. As long as it is too large, it is viewed again with half the room for lists
// and curves.
func write(w io.Writer, viewed func(room room) *view) error {
	for room := room(0); ; room++ {
		v := viewed(room)
		v.frame = framed(v.Scripts...)
		var b bytes.Buffer
		if err := templates().ExecuteTemplate(&b, "page.html", v); err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if b.Len() <= MostBytes || room.drawn(MostPoints) == 0 {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
}

// Names are cut and lists bounded before anything is written, so that no log makes the page large; where even that
// comes to too much, everything is halved again and again.

// A room says how much of everything a page shows: how often what charts draw has been halved, and lists half as often.
type room int

const (
	// MostPoints is the most points of a curve on a page.
	MostPoints = 2000
	// MostRows is the most rows of a list on a page.
	MostRows = 250

	mostDetailed = 12 // candidates with lists and charts of their own
	mostTold     = 4  // that a sentence on top speaks of
	mostNotes    = 40 // warnings, and sentences of a section
)

// drawn returns how many of so many things a chart draws.
func (r room) drawn(most int) int { return most >> r }

// listed returns how many of so many things a page lists, 1 at least.
func (r room) listed(most int) int { return (most + 1<<(r/2) - 1) >> (r / 2) }

// rows returns how many rows each of some lists may have, so that all of them together have few enough.
func (r room) rows(lists []int) int {
	for most := r.listed(MostRows); ; most-- {
		sum := 0
		for _, n := range lists {
			sum += min(n, most)
		}
		if sum <= r.listed(900) || most == 1 {
			return most
		}
	}
}

const textLength = 600 // characters of a sentence

// clipped returns a sentence as the page may have it.
func clipped(text string) string { return table.Clip(text, textLength) }

// name returns a name as the page may have it.
func name(text string) string { return table.Clip(text, table.PageName) }

// texts returns the first of some texts as the page may have them.
func (r room) texts(texts []string, most int) (some []string) {
	some = mapped.Add(some, texts[:min(len(texts), r.listed(most))], clipped)
	if left := len(texts) - len(some); left > 0 {
		some = append(some, fmt.Sprintf("… and %d more", left))
	}
	return some
}

// facts returns some facts as the page may have them.
func (r room) facts(facts []document.Fact) (some []document.Fact) {
	for _, f := range facts {
		f.Text, f.Details = clipped(f.Text), r.texts(f.Details, mostNotes)
		some = append(some, f)
	}
	return some
}
