package object

import (
	"context"
	"fmt"
)

// An Opener opens the bucket of a name, with the credentials that the client of its store finds.
type Opener func(context.Context, Name) (Bucket, error)

// openers opens the stores that this program reaches, by scheme.
var openers = map[string]Opener{"file": openFolder}

// Register has names of a scheme be opened so. It must be called before any name is looked at.
func Register(scheme string, open Opener) { openers[scheme] = open }

// openBucket opens the bucket of a name, or says how to get a program that can.
func openBucket(ctx context.Context, n Name) (Bucket, error) {
	if open := openers[n.Scheme]; open != nil {
		return open(ctx, n)
	}
	return nil, fmt.Errorf("this build of shadow does not reach %s://: take a released one for Linux with a database, or build "+
		"one that does: go -C scale build ./cmd/shadow", n.Scheme)
}
