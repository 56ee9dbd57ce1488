// Package report turns the result of a replay into something to read: a replay.Result comes in; text for a terminal,
// JSON, CSV, Markdown or HTML goes out, by way of a Model, in which every figure is computed once.
//
// Names of clients, agents, actions and files were written by strangers. The Model holds them as they are; each writer
// makes them harmless for its own reader (see escape.go). docs/report.md defines every figure.
package report
