//go:build unix && cgo

package commands

// Go's runtime puts /dev/null in the place of a standard output that is closed, before any Go code runs. Only what C runs
// before that can tell.

/*
#include <fcntl.h>

static int closed;

__attribute__((constructor)) static void look(void) { closed = fcntl(1, F_GETFD) < 0; }

static int outputClosed(void) { return closed; }
*/
import "C"

func init() { noOutput = C.outputClosed() != 0 }
