//go:build !cloud

package object

import (
	"context"
	"fmt"
)

// openBucket says how to get a program that can.
func openBucket(_ context.Context, n Name) (bucket, error) {
	return nil, fmt.Errorf("this build of shadow does not reach %s://: take a released one for Linux with a database, or build "+
		"one that does: go build -tags cloud ./cmd/shadow", n.Scheme)
}
