package curves

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report/format"
	"shadow/report/reporttest"
)

// The limits of policies have a row for each N that is counted, and their names harm no terminal.
func TestOfPolicies(t *testing.T) {
	swept := reporttest.SweptTown(0)
	swept.Curves = nil
	curve := sweep.WeighedCurve{
		Curve: sweep.Curve{Shape: sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: 1, Per: 1}}, Points: []sweep.Point{
			{Limit: 1, Hit: sweep.Classes{request.Browser: 9}},
			{
				Limit: 70_000, Counted: true, Refused: sweep.Classes{request.Browser: 30, request.Tool: 10},
				Hit: sweep.Classes{request.Browser: 5, request.Tool: 1}, Hidden: sweep.Doubted{Requests: 4, Clients: 1},
			},
		}},
		Subject: sweep.Subject{
			Policy: "evil\x1b[31m\u009b", Text: "token:N\x1b", By: request.BySite, Named: []int64{70_000},
			Clients: sweep.Classes{request.Browser: 11, request.Tool: 9}, Hidden: 1,
		},
	}
	texts := map[string]string{}
	for _, output := range format.Outputs() {
		var b bytes.Buffer
		if err := NewOfPolicies(swept, []sweep.WeighedCurve{curve}, townOptions).Write(&b, output); err != nil {
			t.Fatal(err)
		}
		if texts[output] = b.String(); strings.ContainsAny(texts[output], "\x1b\u009b") {
			t.Errorf("%s: a name is not escaped:\n%s", output, texts[output])
		}
	}
	row := "70,000 the policy 40 1.00 6 30.00 4 40.00"
	if !slices.ContainsFunc(strings.Split(texts["table"], "\n"), func(line string) bool { return strings.Join(strings.Fields(line), " ") == row }) {
		t.Errorf("no row %q in\n%s", row, texts["table"])
	}
	if strings.Contains(texts["table"], "\n     1 ") {
		t.Errorf("a row for what is not counted in\n%s", texts["table"])
	}
	var got struct {
		Curves []struct {
			Policy, Text, By string
			Named            []int64
			Clients          int64
			Points           []struct{ Refused *int64 }
		}
	}
	if err := json.Unmarshal([]byte(texts["json"]), &got); err != nil || len(got.Curves) != 1 {
		t.Fatalf("%v in\n%s", err, texts["json"])
	}
	c := got.Curves[0]
	if c.Policy != curve.Policy || c.Text != curve.Text || c.By != "site" || c.Clients != 20 || !slices.Equal(c.Named, curve.Named) ||
		len(c.Points) != 2 || c.Points[0].Refused != nil || *c.Points[1].Refused != 40 {
		t.Errorf("%+v", c)
	}
}
