// Package nginxconf reads configurations of nginx: a file comes in, and its directives go out, with those of all files
// that it includes in their places.
package nginxconf
