package pipeline

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"shadow/internal/testneeds"
)

// Logs out of public questions, with the values that are right.

// Of a log of a login alone those who mistype are people, the service that logs in is the site's own, and the guesser is
// the attacker.
func TestLoginLog(t *testing.T) {
	var out, errs bytes.Buffer
	var a struct {
		Input struct {
			Identities map[string]struct{ Requests, Clients int }
		}
		Answer struct {
			Verdict string
			Most    []struct{ Client, Identity string } `json:"refused_most"`
		}
	}
	askJSON(t, func(l Logs) error {
		s := Suggest{Logs: l, Holdout: DefaultHoldout, Band: true, Output: "json"}
		return s.Run(t.Context(), []string{filepath.Join(testneeds.Shared(t, "cases"), "login-log-called-attack", "access.log")})
	}, Logs{Caller: called(&out, &errs)}, &out, &a)
	by := a.Input.Identities
	if by["attackers"].Clients != 1 || by["attackers"].Requests != 60 || by["own"].Requests != 40 || by["people"].Clients+by["undecided"].Clients < 19 {
		t.Errorf("%+v", by)
	}
	if n := a.Answer.Most; len(n) != 1 || n[0].Client != "203.0.113.66" {
		t.Errorf("%s refuses most %v", a.Answer.Verdict, n)
	}
}

// Where the log has no address of the peer, clients are those that the header names.
func TestOnlyForwarded(t *testing.T) {
	folder := filepath.Join(testneeds.Shared(t, "cases"), "log-only-forwarded")
	var out, errs bytes.Buffer
	r := Replay{Look: Look{Output: "json"}, Keeping: Keeping{NoStore: true}}
	r.Caller = called(&out, &errs)
	r.NginxConf, r.ClientFrom, r.Trusted = filepath.Join(folder, "nginx.conf"), "x-forwarded-for", []string{"private"}
	r.LimitsFrom = []string{r.NginxConf}
	if err := r.Run(t.Context(), []string{filepath.Join(folder, "access.log")}); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	var got struct {
		Input    struct{ Requests, Clients int }
		Policies []struct{ Refused int }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Input.Requests != 12 || got.Input.Clients != 3 || got.Policies[0].Refused != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Where a page has 320 images, a limit has room for a page at once, and people can go on at the pace at which they read.
func TestPagesOfManyImages(t *testing.T) {
	script := filepath.Join(testneeds.Shared(t, "cases"), "suggest-ceiling-fits-total", "make.py")
	text, err := exec.Command(testneeds.Program(t, "python3"), script).Output()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(log, text, 0o600); err != nil {
		t.Fatal(err)
	}
	a, _ := settle(t, &Suggest{}, log)
	if a.Limit == nil || a.Protects.Hit > 0 || a.Allows.Minute < 320+60*3 || a.Allows.Minute > 956+60*20 {
		t.Errorf("%+v", a)
	}
}
