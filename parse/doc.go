// Package parse reads access logs: bytes come in (files, globs, directories, standard input; plain or compressed;
// nginx, Apache or JSON), and one Record per readable line goes out, with a reason for each line that is not.
package parse
