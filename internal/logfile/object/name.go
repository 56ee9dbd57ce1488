package object

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// A name is a URL whose key stands as it is, without escapes, as the tools of the stores take it:
//
//	s3://bucket/logs/2026-11-25/access.log.gz?region=eu-west-1&endpoint=http://127.0.0.1:9000
//	└scheme┘    └─ key ─────────────────────┘ └─ options, for the client of the store ───────┘

// Schemes lists the schemes of the stores that can be read.
var Schemes = []string{"s3", "gs", "azblob", "file"}

// IsName reports whether the name of an input is that of an object, or stands for objects.
func IsName(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && slices.Contains(Schemes, scheme)
}

// A Name holds the parts of a URL.
type Name struct {
	Scheme, Bucket string
	Key            string // of the object; a prefix if it is empty or ends in "/", a pattern if it has "*", "?" or "["
	Options        string // without "?"
}

// areOptions reports whether a text is what may stand behind the key: NAME=VALUE&NAME=VALUE. Other question marks are
// wildcards.
func areOptions(text string) bool {
	for option := range strings.SplitSeq(text, "&") {
		name, _, found := strings.Cut(option, "=")
		if !found || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			return false
		}
	}
	return true
}

// Parse takes a name apart.
func Parse(name string) (n Name) {
	n.Scheme, n.Key, _ = strings.Cut(name, "://")
	if i := strings.LastIndexByte(n.Key, '?'); i >= 0 && areOptions(n.Key[i+1:]) {
		n.Key, n.Options = n.Key[:i], n.Key[i+1:]
	}
	if n.Scheme == "file" { // its bucket is a folder: the part of the path up to the last "/" before any wildcard
		fixed := n.Key
		if i := strings.IndexAny(fixed, wildcards); i >= 0 {
			fixed = fixed[:i]
		}
		i := strings.LastIndexByte(fixed, '/') + 1
		n.Bucket, n.Key = n.Key[:i], n.Key[i:]
		return n
	}
	n.Bucket, n.Key, _ = strings.Cut(n.Key, "/")
	return n
}

// String returns the name.
func (n Name) String() string {
	text := n.Scheme + "://" + n.Bucket
	if n.Scheme != "file" {
		text += "/"
	}
	text += n.Key
	if n.Options != "" {
		text += "?" + n.Options
	}
	return text
}

// WithKey returns the name of another object of the bucket.
func (n Name) WithKey(key string) Name {
	n.Key = key
	return n
}

// Path returns a name without its options, so that it ends as the key does.
func Path(name string) string {
	if !IsName(name) {
		return name
	}
	n := Parse(name)
	n.Options = ""
	return n.String()
}

const wildcards = "*?["

// IsPattern reports whether the key has wildcards.
func (n Name) IsPattern() bool { return strings.ContainsAny(n.Key, wildcards) }

// IsPrefix reports whether the name stands for all objects whose keys begin with it.
func (n Name) IsPrefix() bool { return n.Key == "" || strings.HasSuffix(n.Key, "/") && !n.IsPattern() }

// prefix returns what all keys begin with that the name can stand for.
func (n Name) prefix() string {
	if i := strings.IndexAny(n.Key, wildcards); i >= 0 {
		return n.Key[:i]
	}
	return n.Key
}

// isFlat reports whether all that a pattern matches lies in one folder, so that what lies deeper need not be listed.
func (n Name) isFlat() bool { return n.IsPattern() && !strings.Contains(n.Key[len(n.prefix()):], "/") }

// matches reports whether a pattern matches a key. As for files, "*" matches no "/", and no leading dot.
func (n Name) matches(key string) bool {
	matched, err := path.Match(n.Key, key)
	hidden := strings.HasPrefix(path.Base(key), ".") && !strings.HasPrefix(path.Base(n.Key), ".")
	return err == nil && matched && !hidden
}
