package drill

import (
	"bytes"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/reporttest"
)

// drilled returns the report on requests to a server.
func drilled(requests []Request, change func(*Source)) *Report {
	s := Source{
		Target: "http://127.0.0.1:8080", Header: "X-Forwarded-For", Planned: int64(len(requests)), Requests: requests, Statuses: []uint16{429, 503},
		Stretch: Stretch{Minutes: 1, Requests: 9, WorstMinuteRefused: 3, LeftOut: LeftOut{2, 1}},
	}
	if change != nil {
		change(&s)
	}
	return New(reporttest.Town(), report.Options{}, s)
}

// The requests of a drill with one of each reason but for a missing limit.
var some = []Request{
	{Client: "192.0.2.1", Method: "GET", Path: "/a", Status: 200, Explained: true},
	{Client: "192.0.2.1", Method: "GET", Path: "/b", Status: 429, Refused: true, Foreseen: true, Explained: true, Late: 3 * limit.Millisecond},
	{Client: "192.0.2.1", Method: "GET", Path: "/c", Status: 503, Refused: true, Explained: true, ByMoments: true},
	{Client: "192.0.2.1", Method: "GET", Path: "/d", Status: 503, Refused: true},
	{Client: "192.0.2.2", Method: "GET", Path: "/e", Status: 503, Refused: true},
	{Client: "192.0.2.2", Method: "GET", Path: "/f", Status: 404, Foreseen: true, After: 1500 * limit.Millisecond},
	{Client: "192.0.2.2", Method: "GET", Path: "/g", Failure: "reset"},
}

// Each answer counts once, by what explains it.
func TestReasons(t *testing.T) {
	r := drilled(some, nil)
	if r.Sent != 7 || r.AsPredicted != 2 || r.ByMomentsSent != 3 || r.Foreseen != 2 || r.Refused != 4 || r.Unanswered != 1 || r.LatestMS != 3 || r.Proven() {
		t.Errorf("%+v", r)
	}
	want := []ReasonCount{{Stricter, 2, 2}, {Clock, 1, 1}, {Looser, 1, 1}, {Connection, 1, 1}}
	if len(r.Reasons) != len(want) {
		t.Fatalf("%+v", r.Reasons)
	}
	for i := range want {
		if r.Reasons[i] != want[i] {
			t.Errorf("%+v, want %+v", r.Reasons[i], want[i])
		}
	}
	for _, a := range r.Answers {
		if want := map[int]Answer{0: {0, 1, 0}, 200: {200, 1, 0}, 404: {404, 1, 1}, 429: {429, 1, 1}, 503: {503, 3, 0}}[a.Status]; a != want {
			t.Errorf("%+v, want %+v", a, want)
		}
	}
	r = drilled([]Request{{Status: 200, Foreseen: true}, {Status: 200}}, func(s *Source) { s.Top = 1 })
	if len(r.Reasons) != 1 || r.Reasons[0].Reason != Missing || len(r.Differs) != 1 || r.DiffersLeftOut != 0 {
		t.Errorf("%+v", r)
	}
}

// A drill proves something if 99 of 100 verdicts are explained, and all were sent.
func TestProven(t *testing.T) {
	requests := make([]Request, 200)
	for i := range requests {
		requests[i] = Request{Status: 200, Explained: i > 1}
	}
	if r := drilled(requests, nil); !r.Proven() || r.ByMomentsPercent != 99 {
		t.Errorf("%v %%, proven %v", r.ByMomentsPercent, r.Proven())
	}
	if r := drilled(requests, func(s *Source) { s.Stopped = "it has gone" }); r.Proven() {
		t.Error("proven, and not all was sent")
	}
	requests[2].Explained = false
	if r := drilled(requests, nil); r.Proven() {
		t.Error("98.5 % are proven")
	}
	if r := drilled(nil, nil); r.Proven() {
		t.Error("nothing is proven")
	}
}

func TestOutputs(t *testing.T) {
	r := drilled(some, func(s *Source) { s.Top = 3; s.Planned = 10; s.Interrupted = true })
	for output, wants := range map[string][]string{
		"table": {
			"2 of 7 as predicted; 3 by the moments at which they were really sent (42.86 %)", "2 foreseen, 4 by the server", "interrupted before the other 3", "7 requests, at most 3 ms late;",
			"2 have another method than GET and HEAD, 1 have a path", "it must count by X-Forwarded-For", "several workers or hosts", "no answer  ", "reset",
			"the first 3 of 5", "passed    refused (503)  clock", "1 minute from ",
		},
		"markdown": {"# Drill: does the server refuse what is foreseen?", "| 503 | 3 | 3 | 0 |"},
		"csv":      {"after,client,method,path,predicted,by_moments,got,status,reason\n", "1.5,192.0.2.2,GET,/f,refused,passed,passed,404,looser\n"},
		"json":     {`"schema": "shadow.drill/1"`, `"as_predicted": 2`, `"differs_left_out": 2`, `"failure": "reset"`},
		"html":     {"<table", "stricter"},
	} {
		var b bytes.Buffer
		if output == "json" {
			r = drilled(some[6:], nil)
			r.AsPredicted, r.DiffersLeftOut = 2, 2
		}
		if err := r.Write(&b, output); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", output, want, b.String())
			}
		}
		r = drilled(some, func(s *Source) { s.Top = 3; s.Planned = 10; s.Interrupted = true })
	}
	r = drilled([]Request{{Status: 200, Foreseen: true}}, func(s *Source) { s.Header, s.Stopped, s.Stretch.Spread = "", "it has gone", true })
	var b bytes.Buffer
	if err := r.Write(&b, format.Outputs()[0]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"is a refusal answered with 429 or 503?", "told by the source address", "given up before the other 0: it has gone", "whole seconds"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q:\n%s", want, b.String())
		}
	}
}
