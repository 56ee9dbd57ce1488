package tui

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/bidi"

	"shadow/internal/tail"
	"shadow/internal/testneeds"
	"shadow/limit"
)

func TestPictures(t *testing.T) {
	for _, c := range []struct {
		file          string
		frame         *Frame
		width, height int
		change        func(*Frame)
	}{
		{"shop-100x24.txt", shop(), 100, 24, nil},
		{"shop-60x15.txt", shop(), 60, 15, nil},
		{"shop-40x12.txt", shop(), 40, 12, nil},
		{"shop-200x50.txt", shop(), 200, 50, nil},
		{"shop-actions.txt", shop(), 80, 20, func(f *Frame) { f.Actions = true }},
		{"flood-100x30.txt", flood(), 100, 30, nil},
		{"stale.txt", shop(), 80, 12, func(f *Frame) { f.Now = f.Now.Add(time.Minute) }},
		{"absent.txt", shop(), 80, 12, func(f *Frame) { f.Snapshot.Absent = 1 }},
		{"colors.txt", shop(), 100, 16, func(f *Frame) { f.Color = true }},
		{"shared.txt", shared(), 100, 24, func(f *Frame) {
			f.Snapshot.Redis.Away = time.Time{}
			for i := range f.Snapshot.Policies {
				f.Snapshot.Policies[i].Degraded = time.Time{}
			}
		}},
		{"away.txt", shared(), 100, 24, nil},
		{"away-40x12.txt", shared(), 40, 12, nil},
		{"away-colors.txt", shared(), 100, 16, func(f *Frame) { f.Color = true }},
		{"back.txt", shared(), 100, 16, func(f *Frame) { f.Snapshot.Redis.Away = time.Time{}; f.Policy = 2 }},
		{"spared.txt", shared(), 100, 16, func(f *Frame) { f.Snapshot.Redis.Skipped = true; f.Now = f.Now.Add(24 * time.Hour) }},
		{"help.txt", shop(), 80, 24, func(f *Frame) { f.Help = true }},
		{"begin.txt", &Frame{Title: "access.log", History: new(History)}, 80, 24, nil},
		{"paused.txt", shop(), 100, 16, func(f *Frame) { f.Paused = true }},
		{"scripts.txt", scripts(), 90, 24, nil},
		{"client-100x24.txt", one(), 100, 24, nil},
		{"client-60x15.txt", one(), 60, 15, nil},
		{"client-40x12.txt", one(), 40, 12, nil},
		{"client-awaited.txt", one(), 80, 12, func(f *Frame) { f.Client = "192.0.2.1" }},
		{"client-unknown.txt", one(), 80, 14, func(f *Frame) { f.Snapshot.Client = &tail.Client{Name: f.Client} }},
		{"filter.txt", shop(), 100, 16, func(f *Frame) {
			f.Filter, f.Snapshot.Asked.Filter = "20", "20"
			f.Snapshot.Clients.Top, f.Snapshot.Clients.Found = f.Snapshot.Clients.Top[1:], 2
		}},
		{"typing.txt", shop(), 60, 12, func(f *Frame) { f.Typing, f.Filter = true, "2001:db8" }},
		{"small.txt", shop(), 30, 8, nil},
	} {
		c.frame.Width, c.frame.Height = c.width, c.height
		if c.change != nil {
			c.change(c.frame)
		}
		golden(t, c.file, c.frame.Text())
	}
}

// one is a shop of which one client is shown.
func one() *Frame {
	f := shop()
	f.Client = f.Snapshot.Clients.Top[0].Name
	at := f.Snapshot.At.Add(-7 * time.Second)
	token := tail.ClientRefusal{Policy: 0, Limit: "token:6/30s by client", After: 4750 * limit.Millisecond}
	leaky := tail.ClientRefusal{Policy: 1, Limit: "leaky:6/30s by client", After: limit.Never}
	c := &tail.Client{
		Name: f.Client, Since: noon, Of: 131072, Requests: 4210, Refused: 3000, Agent: "curl/8.0", Class: "tool",
		Policies: []tail.ClientPolicy{{Refused: 3000, Latest: token, At: at}, {Refused: 12, Latest: leaky, At: at}, {}},
		Actions:  []tail.ClientAction{{Name: "/login", Requests: 4000}, {Name: "GET /products/{id}/reviews", Requests: 210}},
	}
	for i := range 40 {
		r := tail.ClientRequest{At: at.Add(time.Duration(-i) * time.Second), Status: 200, Action: c.Actions[i%2].Name}
		switch i % 3 {
		case 1:
			r.Refusals = []tail.ClientRefusal{token}
		case 2:
			r.Refusals, r.Status = []tail.ClientRefusal{token, leaky}, 0
		}
		c.Latest = append(c.Latest, r)
	}
	f.Snapshot.Client = c
	return f
}

// scripts is a shop whose clients and actions have long names, in several scripts.
func scripts() *Frame {
	f := shop()
	g := *f.Snapshot
	g.Clients.Top = nil
	for i, text := range []string{
		"2001:db8:85a3:8d3:1319:8a2e:370:7348", "2001:db8:85a3:8d3:1319:8a2e:370:7349", "日本語のとても長い名前のお客様です、とても長い名前のお客様です",
		"ผู้ใช้ที่มีชื่อยาวมาก", "Người dùng có tên rất dài và rất dài", "משתמש", "हिन्दी भाषा के उपयोगकर्ता का लंबा नाम", "தமிழ்நாடு", "বাংলাদেশ", "กำลังใจ", "အသုံးပြုသူ",
	} {
		g.Clients.Top = append(g.Clients.Top, tail.Recent{Name: text, Refused: int64(19 - i), Class: "tool", Action: "/商品/一覧/" + text, Last: g.At})
	}
	f.Snapshot = &g
	return f
}

// hostile are texts that may stand in a log.
var hostile = []string{
	"\x1b[2J\x1b]0;owned\x07", "\x9b31m", "a\rb\nc\td", "\u202eevil\u202c", "日本語のとても長い名前", "e\u0301\u0302\u0303", "שלום", "مرحبا",
	"👩‍👩‍👧‍👦", "\u200b\u2060\ufeff", "\xff\xfe", strings.Repeat("x", 5000), strings.Repeat("é", 3000), "", "Müller", "Ελένη", "Иван", "ﷺ", "שלום 7", "/12/مرحبا/34", "Ａ", "ा", "\u3164",
	"हिन्दी", "தமிழ்நாடு", "กำลังใจ", "လျှော့", "ᄒᆞᆫ글", "क्षत्रिय", strings.Repeat("क्", 300), strings.Repeat("ൎ", 300), "ᄒ" + strings.Repeat("ᆞ", 300), "🇸🇪", "👍🏽", "1ำ", strings.Repeat("क्", 9) + "\u08d5",
}

// sgr are the only sequences that a picture may have.
var sgr = regexp.MustCompile(`\x1b\[(1|2|33|36|0)m`)

// Whatever a frame holds, its text fits the terminal, and holds nothing that takes up other room than is known.
func TestEveryPictureFits(t *testing.T) {
	random := testneeds.Rand(t, 1, 2)
	pick := func() string { return hostile[random.IntN(len(hostile))] }
	for range 3000 {
		f := shop()
		switch random.IntN(3) {
		case 0:
			f = flood()
		case 1:
			f = shared()
		}
		g := *f.Snapshot
		f.Title, f.Note = pick(), pick()
		g.Policies = append([]tail.Refused(nil), g.Policies...)
		g.Policies[random.IntN(len(g.Policies))].Name = pick()
		for _, l := range []*tail.List{&g.Clients, &g.Actions} {
			l.Top = append([]tail.Recent(nil), l.Top...)
			r := &l.Top[random.IntN(len(l.Top))]
			r.Name, r.Action, r.Refused = pick(), pick(), random.Int64()
			l.Total, l.Lost = random.Int64(), random.Int64()*int64(random.IntN(2))
		}
		g.Requests, g.Late, g.LagBytes = random.Int64(), random.Int64(), random.Int64()*int64(random.IntN(2))
		g.Asked.Policy, g.Asked.Filter = random.IntN(50)-1, pick()
		f.Filter, f.Typing = pick(), random.IntN(4) == 0
		if random.IntN(3) == 0 {
			c := *one().Snapshot.Client
			c.Name, c.Agent, c.Requests, c.Of = pick(), pick(), random.Int64(), random.Int64()
			c.Actions = append(c.Actions, tail.ClientAction{Name: pick(), Requests: random.Int64()})
			c.Policies[1].Latest.Limit, c.Latest[1].Action = pick(), pick()
			g.Client, f.Client = &c, c.Name
		}
		f.Snapshot = &g
		f.Policy, f.Actions, f.Color, f.Help = random.IntN(len(g.Policies)), random.IntN(2) == 0, random.IntN(2) == 0, random.IntN(20) == 0
		f.Width, f.Height = random.IntN(230), random.IntN(60)
		if random.IntN(4) == 0 {
			f.Width, f.Height = leastWidth+random.IntN(4), leastHeight+random.IntN(4)
		}
		if err := fits(f); err != nil {
			t.Fatal(err)
		}
	}
}

func fits(f *Frame) error {
	text := f.Text()
	for line := range strings.SplitSeq(text, "\n") {
		if err := sameColumns(line); err != nil {
			return err
		}
	}
	if !f.Color && strings.ContainsRune(text, '\x1b') {
		return fmt.Errorf("colours where none are wanted: %q", text)
	}
	lines := strings.Split(sgr.ReplaceAllString(text, ""), "\n")
	if len(lines) > max(1, f.Height) {
		return fmt.Errorf("%d lines in %d", len(lines), f.Height)
	}
	for _, line := range lines {
		if n := columns(line); n > f.Width {
			return fmt.Errorf("%d×%d: %d columns: %s", f.Width, f.Height, n, line)
		}
		if err := keepsPlace(line); err != nil {
			return err
		}
		for _, r := range strings.ReplaceAll(line, fence, " ") {
			if !known(r) && !strings.ContainsRune("▁▂▃▄▅▆▇█▸–≥↑↓×", r) {
				return fmt.Errorf("%q stands in %q", r, line)
			}
		}
	}
	return nil
}

// known reports whether a character of a stranger's may be shown.
func known(r rune) bool {
	return narrow(r) || unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.P) || 0x1f300 <= r && unicode.Is(unicode.So, r)
}

// Keys change the picture.
func TestKeys(t *testing.T) {
	f := shop()
	for _, c := range []struct {
		key  string
		want func() bool
	}{
		{"j", func() bool { return f.Policy == 1 }},
		{"down", func() bool { return f.Policy == 2 }},
		{"down", func() bool { return f.Policy == 2 }},
		{"k", func() bool { return f.Policy == 1 }},
		{"home", func() bool { return f.Policy == 0 }},
		{"up", func() bool { return f.Policy == 0 }},
		{"end", func() bool { return f.Policy == 2 }},
		{"s", func() bool { return f.Order == tail.ByLatest }},
		{"s", func() bool { return f.Order == tail.ByName }},
		{"s", func() bool { return f.Order == tail.ByRefused }},
		{"tab", func() bool { return f.Actions }},
		{"?", func() bool { return f.Help }},
		{"?", func() bool { return !f.Help }},
		{"space", func() bool { return f.Paused }},
		{"space", func() bool { return !f.Paused }},
		{"x", func() bool { return true }},
	} {
		if cmd := f.press(c.key, ""); cmd != nil || !c.want() {
			t.Fatalf("after %s: %d, %d, %v, %v", c.key, f.Policy, f.Order, f.Actions, f.Help)
		}
	}
	for _, key := range []string{"q", "ctrl+c", "ctrl+z"} {
		if f.press(key, "") == nil {
			t.Errorf("%s does nothing", key)
		}
	}
	for _, key := range []string{"end", "enter", "esc", "/", "backspace", "enter"} {
		(&Frame{}).press(key, "") // before there is anything to choose
	}
}

// Enter shows a client, the arrows the next ones, a text filters names, and Esc leaves all of that.
func TestClientAndFilterKeys(t *testing.T) {
	f := shop()
	f.Actions, f.Width = true, 80
	for i, c := range []struct{ key, text, client, filter string }{
		{"enter", "", "203.0.113.7", ""},
		{"down", "", "2001:db8:85a3:8d3:1319:8a2e:370:7348", ""},
		{"end", "", "198.51.100.20", ""},
		{"j", "j", "198.51.100.20", ""},
		{"k", "k", "2001:db8:85a3:8d3:1319:8a2e:370:7348", ""},
		{"esc", "", "", ""},
		{"enter", "", "203.0.113.7", ""},
		{"/", "/", "", ""},
		{"q", "q", "", "q"},
		{"space", " ", "", "q "},
		{"é", "é", "", "q é"},
		{"backspace", "", "", "q "},
		{"up", "", "", "q "},
		{"enter", "", "", "q "},
		{"down", "", "", "q "},
		{"esc", "", "", ""},
		{"/", "/", "", ""},
		{"x", strings.Repeat("x", mostTyped), "", strings.Repeat("x", mostTyped)},
		{"y", "y", "", strings.Repeat("x", mostTyped)},
		{"esc", "", "", ""},
		{"backspace", "", "", ""},
	} {
		if cmd := f.press(c.key, c.text); cmd != nil || f.Client != c.client || f.Filter != c.filter {
			t.Fatalf("%d, after %s: client %q, filter %q", i, c.key, f.Client, f.Filter)
		}
	}
	if f.Policy != 1 {
		t.Errorf("policy %d: a key chose it when it was to choose a client", f.Policy)
	}
	f.press("/", "/")
	if f.press("ctrl+c", "") == nil {
		t.Error("Ctrl-C does nothing while a filter is typed")
	}
}

// A paused picture stays as it is until something else is asked for, which it then shows.
func TestPausedPictureAnswers(t *testing.T) {
	m := newModel(Options{Feed: new(tail.Feed), Notes: NewNotes(os.Stderr, true)})
	m.frame = *shop()
	m.frame.Height, m.frame.Width = 50, 100
	leave := func(requests int64, q tail.Query) {
		g := *shop().Snapshot
		g.Requests, g.Asked = requests, q
		m.feed.Leave(&g)
		m.Update(tick(noon.Add(time.Hour)))
	}
	m.frame.Snapshot.Asked = m.frame.query()
	before := m.frame.query()
	m.frame.press("space", " ")
	leave(1, before)
	m.frame.press("enter", "")
	leave(2, before)
	if m.frame.Snapshot.Requests < 3 {
		t.Error("the picture goes on")
	}
	if leave(3, m.frame.query()); m.frame.Snapshot.Requests != 3 {
		t.Error("no answer comes while it is paused")
	}
	if leave(4, m.frame.query()); m.frame.Snapshot.Requests != 3 {
		t.Error("the picture goes on after the answer")
	}
}

// keepsPlace looks at what a terminal does that turns letters around: behind whatever it turns the
// text has a fence, before its column ends, or the line ends.
func keepsPlace(line string) error {
	var p bidi.Paragraph
	if _, err := p.SetString(line, bidi.DefaultDirection(bidi.LeftToRight)); err != nil {
		return err
	}
	order, err := p.Order()
	if err != nil {
		return err
	}
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() != bidi.RightToLeft {
			continue
		}
		_, end := run.Pos()
		before, _, closed := strings.Cut(string([]rune(line)[end+1:]), fence)
		if !closed && strings.ContainsFunc(before, unicode.IsPrint) || strings.Contains(before, "  ") {
			return fmt.Errorf("%q turns around in %q", run.String(), line)
		}
	}
	return nil
}
