// Package limittest is the suite that every limiter passes: a limiter and a slow, obvious model of it come in, test
// results go out. It also runs scripts, which are examples that people can read, in files of their own or in a page of
// the documentation.
package limittest
