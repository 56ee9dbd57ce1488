package commands

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline/enforced"
	"shadow/internal/request"
	"shadow/report/format"
)

func newCalibrate() *cobra.Command {
	f := new(enforced.Calibrate)
	cmd := &cobra.Command{
		Use:   "calibrate LOG…",
		Short: "Find the limit that a server had, and hold predictions against what it refused",
		Long: `Calibrate reads a log in which the server says what it refused, by a field such as nginx's $limit_req_status or
by the status 429, and looks for the limit that explains this best: of all algorithms, rates, bursts and periods. It
says in how many percent of the verdicts the limit agrees, which other limits agree as well, which requests
contradict it, and how clients behaved after a refusal. With --limit, that limit is held against the log instead.

Where no limit explains all requests, those of hosts and of paths with refusals are looked at by themselves.`,
		Example: `  shadow calibrate access.log
  shadow calibrate access.log --format '$remote_addr [$time_local] "$request" $status $msec $limit_req_status'
  shadow calibrate access.log --limit nginx:10r/s,burst=20,nodelay
  shadow calibrate access.log --refused-status 420 --by client,user
  shadow calibrate waf.json --verdict action=BLOCK --output json`,
	}
	flags := onLogs(cmd, &f.Caller, f.Run)
	flags.StringArrayVarP(&f.Limits, "limit", "l", nil, "compare this `limit` with the log, instead of finding one "+
		"(repeatable)")
	f.By = []request.Key{request.ByClient}
	option.Key.AddList(cmd, &f.By, true, "by", "`keys` that the limit may count by: "+keyTexts)
	f.Verdict = enforced.DefaultVerdict
	option.Domain[enforced.Verdict]{Parse: enforced.ParseVerdict, Text: enforced.Verdict.String}.Add(cmd, &f.Verdict, "verdict",
		"the `field` with the server's decision, and optionally its words for refused: blocked=yes,captcha")
	statusDomain.AddList(cmd, &f.Statuses, true, "refused-status", "`statuses` of refused requests, where no field of the line tells "+
		"(default 429, or 503 if there is none)")
	addOutput(cmd, &f.Output, "report", format.Outputs())
	addTop(cmd, &f.Top)
	addReading(cmd, &f.Reading)
	addConfig(cmd, &f.Source, "actions")
	addLogs(cmd, &f.Logs, "print nothing but the report and errors", "report on standard error what is chosen")
	return cmd
}

// statusDomain takes statuses of answers.
var statusDomain = option.Domain[uint16]{
	Parse: func(text string) (uint16, error) {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n < 100 || n > 999 {
			return 0, errors.New("want statuses, such as 429")
		}
		return uint16(n), nil
	},
	Text: func(s uint16) string { return strconv.Itoa(int(s)) },
}
