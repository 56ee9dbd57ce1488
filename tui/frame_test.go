package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"shadow/tail"
	"shadow/testneeds"
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
		{"scripts.txt", scripts(), 90, 16, nil},
		{"small.txt", shop(), 30, 8, nil},
	} {
		c.frame.Width, c.frame.Height = c.width, c.height
		if c.change != nil {
			c.change(c.frame)
		}
		golden(t, c.file, c.frame.Text())
	}
}

// scripts is a shop whose clients and actions have long names, in several scripts.
func scripts() *Frame {
	f := shop()
	g := *f.Snapshot
	g.Clients.Top = nil
	for i, text := range []string{
		"2001:db8:85a3:8d3:1319:8a2e:370:7348", "2001:db8:85a3:8d3:1319:8a2e:370:7349", "日本語のとても長い名前のお客様です、とても長い名前のお客様です",
		"ผู้ใช้ที่มีชื่อยาวมาก", "Người dùng có tên rất dài và rất dài", "משתמש",
	} {
		g.Clients.Top = append(g.Clients.Top, tail.Recent{Name: text, Refused: int64(9 - i), Class: "tool", Action: "/商品/一覧/" + text, Last: g.At})
	}
	f.Snapshot = &g
	return f
}

// hostile are texts that may stand in a log.
var hostile = []string{
	"\x1b[2J\x1b]0;owned\x07", "\x9b31m", "a\rb\nc\td", "\u202eevil\u202c", "日本語のとても長い名前", "e\u0301\u0302\u0303", "שלום", "مرحبا",
	"👩‍👩‍👧‍👦", "\u200b\u2060\ufeff", "\xff\xfe", strings.Repeat("x", 5000), strings.Repeat("é", 3000), "", "Müller", "Ελένη", "Иван", "ﷺ", "Ａ", "ा", "\u3164",
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
		g.Asked.Policy = random.IntN(50) - 1
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
		for _, r := range line {
			if !narrow(r) && !unicode.IsLetter(r) && !strings.ContainsRune("▁▂▃▄▅▆▇█▸–≥↑↓×", r) {
				return fmt.Errorf("%q stands in %q", r, line)
			}
		}
	}
	return nil
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
		if cmd := f.press(c.key); cmd != nil || !c.want() {
			t.Fatalf("after %s: %d, %d, %v, %v", c.key, f.Policy, f.Order, f.Actions, f.Help)
		}
	}
	for _, key := range []string{"q", "ctrl+c", "ctrl+z"} {
		if f.press(key) == nil {
			t.Errorf("%s does nothing", key)
		}
	}
	(&Frame{}).press("end") // before there is anything to choose
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7":      "192.0.2.7",
		"Müller":         "Müller",
		"Иван":           "Иван",
		"/products/…":    "/products/…",
		"\x1b[2J":        `\x1b[2J`,
		"a\u202eb":       `a\u202eb`,
		"日":              "日",
		"ของฉัน":         `ของฉ\u0e31น`,
		"e\u0301":        `e\u0301`,
		"\u1100\u1161":   "\u1100" + `\u1161`,
		"\u0483":         `\u0483`,
		"שלום":           `\u05e9\u05dc\u05d5\u05dd`,
		"👍":              `\U0001f44d`,
		"\xff":           `\xff`,
		"\u00ad\u0378":   `\u00ad\u0378`,
		"soft × divided": `soft \u00d7 divided`,
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range plain(text) {
			if !narrow(r) && (leftwards(r) || !unicode.IsLetter(r)) {
				t.Errorf("%q lets %q through", text, r)
			}
		}
	})
}
