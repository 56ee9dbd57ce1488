package html

import (
	"encoding/json"
	"html/template"
	"io"
	"sync"
)

// An Explorer is the page of an answer whose log can still be asked: explorer.js posts questions to the address "ask"
// below that of the page, or as messages to the page that it stands in. It holds no figures but those of the answer.
type Explorer struct {
	*Answer
	Keys    []string // by which limits may count
	Actions []string // whose requests may be looked at alone
	Limit   string   // that is shown first
	Size    int64    // its size
	Action  string   // for which it is; "" for all requests
	Shape   string   // the curve that it lies on; "": none
}

// explorerData is the island.
type explorerData struct {
	Bound  *float64       `json:"bound"`
	Answer explorerAnswer `json:"answer"`
}

type explorerAnswer struct {
	Limit  string `json:"limit"`
	Action string `json:"action"`
	Shape  string `json:"shape"`
	N      int64  `json:"n"`
}

var explorerFrame = sync.OnceValue(func() frame {
	return served("page.js", "copy.js", "explorer.js")
})

// Write writes the page, all of it or nothing.
func (e *Explorer) Write(w io.Writer) error {
	return write(w, "explorer.html", func(int) (any, bool, error) {
		view, err := e.view()
		return view, false, err
	})
}

// ExplorerHashes returns the hashes of the script and of the style of such a page, for the rules of one that it stands in.
func ExplorerHashes() (script, style string) {
	f := explorerFrame()
	return hashOf(string(f.Script)), hashOf(string(f.Style))
}

// explorerView holds what the templates write.
type explorerView struct {
	*answerView
	Keys, Actions []string
	Size          int64
}

func (e *Explorer) view() (*explorerView, error) {
	answer := &answerView{Answer: e.Answer, frame: explorerFrame(), Limit: e.Limit}
	answer.Title, answer.Alerts = "What should the limit be?", e.alerts()
	text, err := json.Marshal(explorerData{e.Bound, explorerAnswer{e.Limit, e.Action, e.Shape, e.Size}})
	answer.Data = template.JS(text) //nolint:gosec // JSON, without "<"
	return &explorerView{answer, e.Keys, e.Actions, e.Size}, err
}
