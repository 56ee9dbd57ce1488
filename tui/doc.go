// Package tui shows on a terminal what a tail does: snapshots of its numbers and keys that are pressed come in, and a
// picture goes out a few times a second. The tail goes on at its own pace whatever becomes of the screen.
package tui
