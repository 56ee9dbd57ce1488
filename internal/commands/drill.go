package commands

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline/drill"
	"shadow/report/format"
)

func newDrill() *cobra.Command {
	f := new(drill.Drill)
	cmd := &cobra.Command{
		Use:   "drill LOG… --limit LIMIT --target URL",
		Short: "Send a log's worst minute to your own server, and compare its refusals with those foreseen",
		Long: `Drill proves a prediction on a server that has the limit. It finds the minute of the log in which the policy
refuses most, judges that minute by itself from empty limiters, as a server begins that has not seen these
clients, and sends its requests to --target with their timing. Then it says verdict by verdict what was
foreseen, and why the others differ: the clock, another limit in front, a limit that is missing.

The header X-Forwarded-For tells the server who the client is, so it has to believe this header from here:

  nginx    set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;
  HAProxy  http-request set-src hdr(X-Forwarded-For)

Requests have the method, the path and the client of the log, no body, and the agent shadow-drill. They have
an effect: send them to a server for tests. Others than GET and HEAD are left out unless --methods says all.
Wait between two drills until the limit has forgotten the clients. The exit code is 4 if less than 99 %
of the answers are as foreseen by the moments at which requests were really sent.`,
		Example: `  shadow drill access.log --limit nginx:10r/s,burst=20,nodelay --target http://127.0.0.1:8080
  shadow drill access.log --policy login --target http://127.0.0.1:8080 --minutes 5 --methods all
  shadow drill access.log --limit token:6/30s --target http://127.0.0.1:8080 --client-source
  shadow drill access.log --limit token:6/30s --target http://10.0.0.7 --to k6 > drill.js`,
	}
	flags := onLogs(cmd, &f.Caller, f.Run)
	addPolicies(cmd, &f.Choice)
	flags.StringVar(&f.Target, "target", "", "the `server` that has the limit: http://127.0.0.1:8080")
	f.ClientHeader = "X-Forwarded-For"
	header := option.Domain[string]{What: "string", Parse: headerName, Text: func(name string) string { return name }}
	header.Add(cmd, &f.ClientHeader, "client-header", "the `header` that tells the server who the client is")
	flags.BoolVar(&f.ClientSource, "client-source", false, "tell it by the source address instead: 127.1.0.1, "+
		"127.1.0.2 … for a target on 127.0.0.1 (Linux)")
	f.Minutes = 1
	minutes := option.AtLeast(1, "")
	minutes.Parse = atMost(minutes.Parse, 60)
	minutes.Add(cmd, &f.Minutes, "minutes", "how many `minutes` of the log to send; the last is the worst")
	f.Methods = drill.MethodWords[0]
	option.OneOf(drill.MethodWords...).Add(cmd, &f.Methods, "methods", "`which` requests to send: safe (GET and "+
		"HEAD), or all")
	f.MaxRate = 200
	rate := option.Domain[int64]{
		What: "rate", Parse: perSecond, Text: func(n int64) string { return fmt.Sprintf("%d/s", n) },
	}
	rate.Add(cmd, &f.MaxRate, "max-rate", "send nothing if a second has more requests than this `rate`")
	flags.BoolVar(&f.Mine, "yes-it-is-mine", false, "send to an address on the public internet")
	f.Refused = drill.DefaultRefused
	statusDomain.AddList(cmd, &f.Refused, true, "refused-status", "`statuses` with which the server refuses")
	option.OneOf(drill.Tools...).Add(cmd, &f.To, "to", "send nothing, but write the requests for this `tool`: vegeta "+
		"or k6")
	addOutput(cmd, &f.Output, "report", format.PageOutputs())
	addTop(cmd, &f.Top)
	addReading(cmd, &f.Reading)
	option.Needs(cmd, []string{"target"}, "client-header", "client-source", "yes-it-is-mine")
	addJudging(cmd, &f.Logs)
	return cmd
}

// headerName takes the name of a header.
func headerName(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	}) {
		return "", errors.New("want the name of a header, such as X-Forwarded-For")
	}
	return text, nil
}

// perSecond takes requests per second: 200/s.
func perSecond(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "/s"), 10, 64)
	if err != nil || n < 1 {
		return 0, errors.New("want requests per second, such as 200/s")
	}
	return n, nil
}

// atMost takes whole numbers up to one.
func atMost(parse func(string) (int, error), most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := parse(text)
		if err == nil && n > most {
			err = fmt.Errorf("want at most %d", most)
		}
		return n, err
	}
}
