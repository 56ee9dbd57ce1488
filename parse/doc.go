// Package parse reads the lines of access logs: lines of nginx, Apache or JSON come in, and one Record per readable
// line goes out, with a reason for each line that is not.
package parse
