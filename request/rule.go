package request

// A Rule names the requests that it fits. An empty field fits every request; the others must all fit. Rules
// see the path as it was logged, without the query, and only requests that are HTTP. A rule with methods
// does not fit where the log has none.
type Rule struct {
	Name    string
	Methods []string // GET, POST …
	Prefix  string   // of the path: /login fits /login, /login/now and /login-help
	Glob    string   // of the whole path: * within a segment, ** across segments, /**/ any, ? one byte
	Regexp  string   // anywhere in the path, in Go's syntax
}
