package servers

import (
	"fmt"
	"regexp"
	"strings"
)

// What a client is, in words that every server but nginx shares: nginx has its own variables.

// A who is how a server identifies a client: by its address unless one of these says otherwise.
type who struct {
	header string // the request header whose value it is, in lower case
	user   bool   // the name of basic authentication, which stands in the header authorization
	host   bool   // the host that was asked for
	field  string // a field of the log of which only the operator knows what it is
}

// who is the client that limits were judged for.
func (w *Where) who() who {
	name := strings.TrimPrefix(w.Client, "$")
	if header, ok := strings.CutPrefix(name, "header:"); ok {
		return who{header: strings.ToLower(headerText(header))}
	}
	switch name {
	case "user", "remote_user":
		return who{header: "authorization", user: true}
	case "host", "http_host":
		return who{header: "host", host: true}
	case "agent":
		return who{header: "user-agent"}
	case "referer":
		return who{header: "referer"}
	}
	if header, ok := strings.CutPrefix(name, "http_"); ok && headerText(header) == header {
		return who{header: strings.ReplaceAll(strings.ToLower(header), "_", "-")}
	}
	if w.address() {
		return who{}
	}
	return who{field: w.Client}
}

// onlyYouKnow is the note on a field that no server has.
func (c who) onlyYouKnow(where string) string {
	return fmt.Sprintf("clients were identified by the field %q of the log, and only you know where requests have it: %s",
		c.field, where)
}

// byPassword is the note on users where a server sees only the header that has the password as well.
const byPassword = "users are identified by the whole header Authorization, so another password makes another client"

// forwarded is the header with addresses, in lower case; "" if clients are peers.
func (w *Where) forwarded() string {
	if !w.address() {
		return ""
	}
	return strings.ToLower(headerText(w.ClientFrom))
}

// Pattern is a regular expression of all paths of an action, without anchors; false if only the operator knows them.
func (w *Where) Pattern() (text string, ok bool) {
	if page, ok := w.all(); ok {
		return regexp.QuoteMeta(page) + "(/.*)?", true
	}
	switch page, below, ok := w.path(); {
	case !ok:
		return "", false
	case below:
		return regexp.QuoteMeta(page) + "/.*", true
	case page == "/":
		return "/", true
	default:
		return regexp.QuoteMeta(page) + "/?", true // /login/ is that action as well
	}
}

// onlyYouKnowPaths is the note on an action that is more than a path, or has a name of its own.
func (w *Where) onlyYouKnowPaths(where string) string {
	return fmt.Sprintf("only you know which paths are %s: %s", w.Action, where)
}

// notes joins notes; empty ones are left out.
func notes(texts ...string) string {
	said := texts[:0]
	for _, text := range texts {
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, ". ")
}
