package commands

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// accesslog IN OUT writes a log in the combined format. A line of IN stands for equal requests:
//
//	times  second  client       user   method  path    status
//	60     70      192.0.2.1    -      GET     /lookup 200
//
// Seconds are counted from the beginning of 2026, which lies on the grid of each period up to a day. Lines that begin
// with # are comments.
func accesslog(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: accesslog IN OUT")
	}
	var out bytes.Buffer
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var times, second int
		var client, user, method, path, status string
		if _, err := fmt.Sscan(line, &times, &second, &client, &user, &method, &path, &status); err != nil {
			ts.Fatalf("%s: %q: %v", args[0], line, err)
		}
		at := time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC).Format("02/Jan/2006:15:04:05 -0700")
		for range times {
			fmt.Fprintf(&out, "%s - %s [%s] \"%s %s HTTP/1.1\" %s 100 \"-\" \"curl/8.5.0\"\n", client, user, at, method, path, status)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o644))
}
