// Package logfile finds and reads the files of logs: names come in (files, globs, directories, standard input), and blocks
// of whole lines go out, decompressed. It knows a file again that was rotated, compressed or copied, and how far it was
// read.
package logfile
