// Command shadow is the program with the clients of object stores behind it: it reads logs from S3, Google Cloud Storage
// and Azure as well.
package main

import (
	"shadow/internal/commands"
	"shadow/scale/objects"
)

// A release states what it is: -ldflags "-X main.version=1.2.3 -X main.commit=… -X main.date=…".
var version, commit, date string

func main() {
	objects.Register()
	commands.Run(commands.Release{Version: version, Commit: commit, Date: date})
}
