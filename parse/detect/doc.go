// Package detect finds the format of a log: the beginning of a log, a name or a server's configuration comes in, and a
// compiled format goes out, or what is wrong.
package detect
