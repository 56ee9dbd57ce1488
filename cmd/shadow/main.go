// Command shadow answers what a rate limit should be, and who it would hit, from the access log that an operator has
// already.
package main

import "shadow/internal/commands"

// A release states what it is: -ldflags "-X main.version=1.2.3 -X main.commit=… -X main.date=…".
var version, commit, date string

func main() { commands.Run(commands.Release{Version: version, Commit: commit, Date: date}) }
