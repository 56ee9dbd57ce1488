// Package intern gives names dense ids: names come in, and ids go out, for which names and values can be looked up.
package intern
