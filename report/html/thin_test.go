package html

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/report/reporttest"
)

// pixels returns what a figure of a curve fills of each column of a drawing: from its highest to its lowest value
// there, the line that comes in from the column before included. It is the slow truth, of all points.
func pixels(points []sweep.Point, columns int, first, last float64, figure func(*sweep.Point) int64) [][2]int64 {
	filled := make([][2]int64, columns)
	at, value := 0, figure(&points[0])
	for column := range filled {
		filled[column] = [2]int64{value, value}
		for at < len(points) && min(int(math.Log(float64(points[at].Limit)/first)/math.Log(last/first)*float64(columns)), columns-1) == column {
			value = figure(&points[at])
			filled[column][0] = max(filled[column][0], value)
			filled[column][1] = min(filled[column][1], value)
			at++
		}
	}
	return filled
}

// A thinned curve fills the same pixels, whichever of its figures is drawn.
func TestThinnedIsTheSamePicture(t *testing.T) {
	random := testneeds.Rand(t, 3, 4)
	for _, size := range []int{2001, 2500, 10_000, 120_000} {
		for _, most := range []int{5, 50, 200, MostPoints} {
			points := wildCurve(random, size).Points
			must := []int{0, 7, size / 2, size - 1}
			kept := thinned(points, most, must)
			if len(kept) > most+len(must) || len(kept) == 0 {
				t.Fatalf("%d of %d points for %d columns", len(kept), size, most)
			}
			first, last := float64(points[0].Limit), float64(points[size-1].Limit)
			for class := range request.ClassCount {
				for name, figure := range map[string]func(*sweep.Point) int64{
					"refused": func(p *sweep.Point) int64 { return p.Refused[class] },
					"hit":     func(p *sweep.Point) int64 { return p.Hit[class] },
				} {
					if !slices.Equal(pixels(points, most, first, last, figure), pixels(kept, most, first, last, figure)) {
						t.Errorf("%s of %v: %d of %d points make another picture", name, class, len(kept), size)
					}
				}
			}
			for _, i := range must {
				if !slices.Contains(kept, points[i]) {
					t.Errorf("point %d is not kept", i)
				}
			}
			for _, p := range kept {
				if i, found := slices.BinarySearchFunc(points, p.Limit, func(p sweep.Point, n int64) int { return int(p.Limit - n) }); !found || points[i] != p {
					t.Errorf("%+v is no point of the curve", p)
				}
			}
		}
	}
}

func TestShortCurvesAreWhole(t *testing.T) {
	points := wildCurve(testneeds.Rand(t, 5, 6), MostPoints).Points
	if kept := thinned(points, MostPoints, nil); len(kept) != len(points) {
		t.Errorf("%d points", len(kept))
	}
}

// What the island says of a curve, put together again as the page does, is what the curve says.
func TestHTMLCurveComesBack(t *testing.T) {
	r := reporttest.SweptTown(300)
	r.Curves[1].Points = []sweep.Point{{Limit: 1, Hit: sweep.Classes{5, 1}}, {Limit: 5, Counted: true, Refused: sweep.Classes{7}, Hit: sweep.Classes{2}}, {Limit: 9, Hit: sweep.Classes{1}}, {Limit: 12, Counted: true}}
	c := &Curves{Result: r}
	for class := range c.Clients {
		c.Clients[class]++ // none is left out
	}
	classes := c.classes()
	for i := range c.Curves {
		shape := c.shape(&c.Curves[i], classes, MostPoints)
		text, err := json.Marshal(shape)
		if err != nil {
			t.Fatal(err)
		}
		if got := shape.limit(0); got != c.Curves[i].Limit(shape.Stops[0]) {
			t.Errorf("limit %s, want %s", got, c.Curves[i].Limit(shape.Stops[0]))
		}
		var h Shape
		if err := json.Unmarshal(text, &h); err != nil {
			t.Fatal(err)
		}
		if got := unpacked(h); !slices.Equal(got, c.Curves[i].Points) {
			t.Errorf("%s: %v\nwant %v", h.Title, got, c.Curves[i].Points)
		}
	}
}

// unpacked are the points of a curve of the island.
func unpacked(h Shape) []sweep.Point {
	points := make([]sweep.Point, len(h.Stops))
	for i, n := range summed(h.Stops, len(h.Stops)) {
		points[i].Limit, points[i].Counted = n, h.Counted == nil
	}
	counted := h.Counted
	if counted == nil {
		for i := range points {
			counted = append(counted, i)
		}
	}
	for class := range request.ClassCount {
		for i, n := range summed(h.Hit[class], len(points)) {
			points[i].Hit[class] = n
		}
		for j, n := range summed(h.Refused[class], len(counted)) {
			points[counted[j]].Refused[class] = n
		}
	}
	for _, i := range counted {
		points[i].Counted = true
	}
	return points
}

// summed returns so many numbers by their differences. The last one stays.
func summed(differences []int64, length int) (numbers []int64) {
	n := int64(0)
	for i := range length {
		if i < len(differences) {
			n += differences[i]
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// A page has no limits beyond what JavaScript can count to.
func TestHTMLNumbers(t *testing.T) {
	c := &Curves{Result: &sweep.Result{Clients: sweep.Classes{1}, Judged: 1, ByClass: sweep.Classes{1}}}
	curve := &sweep.Curve{Shape: sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: 1, Per: limit.Second}}, Points: []sweep.Point{
		{Limit: 1, Hit: sweep.Classes{1}}, {Limit: 2, Counted: true}, {Limit: math.MaxInt64, Counted: true},
	}}
	if h := c.shape(curve, nil, 10); !slices.Equal(h.Stops, Column{1, 2}) {
		t.Errorf("limits %v", h.Stops)
	}
}

// Curves out of a database may lack points and the classes of their requests: shares are of all requests, and the
// reader is told.
func TestCurvesOutOfADatabase(t *testing.T) {
	curve := sweep.Curve{Shape: sweep.Shape{Kind: sweep.Window, Per: limit.Minute}, Points: []sweep.Point{
		{Limit: 1, Counted: true, Refused: sweep.Classes{20}, Hit: sweep.Classes{4}}, {Limit: 9, Counted: true},
	}}
	c := &Curves{
		Result: &sweep.Result{By: request.ByClient, Judged: 80, Clients: sweep.Classes{4}, Curves: []sweep.Curve{curve}},
		From:   "From run 3.", Changes: []int64{7},
	}
	p := townReplay(reporttest.Town())
	p.Curves = c
	text := pageText(t, p)
	for _, want := range []string{
		`"requests":80,"shapes"`, "80 requests from 4 clients, counted by client. Browsers are clients that say they are", " From run 3.", "<dt>window:9/1m</dt><dd>affects none of the browsers",
		"This curve changes at 7 limits; the database keeps a selection.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	b := openTab(t, p, 1280, 900)
	b.slide(1)
	for _, row := range []string{"browser", "all"} {
		want := map[string]string{"browser": "browser protected 4 4 100.00 – 20 –", "all": "all  4 4 100.00 80 20 25.00"}[row]
		if got := eval[string](b, `[...document.querySelectorAll("#groups tbody tr")].map((tr) => [...tr.cells].map((c) => c.textContent).join(" ")).find((text) => text.startsWith(%q))`, row); got != want {
			t.Errorf("the page says %q, want %q", got, want)
		}
	}
	c.Changes = []int64{2}
	if strings.Contains(pageText(t, p), "keeps a selection") {
		t.Error("a whole curve is said to be a selection")
	}
}
