package parse

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/parse/lex"
)

// slowStamp reads a whole text by the layouts of package time, in a zone: the obvious twin of clock. Go knows no leap
// second; a stamp that has one is read as the second before, plus one.
func slowStamp(text string, zone *time.Location, layouts ...string) (limit.Time, bool) {
	leap, at := limit.Time(0), strings.Index(layouts[0], ":05")
	if len(text) >= at+3 && text[at:at+3] == ":60" {
		text, leap = text[:at]+":59"+text[at+3:], limit.Second
	}
	if strings.HasSuffix(text, "z") { // as RFC 3339 allows
		text = text[:len(text)-1] + "Z"
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return limit.Time(t.UnixMicro()) + leap, true
		}
	}
	return 0, false
}

var localLayouts = []string{
	"02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05", "02/Jan/2006:15:04:05Z0700",
	"02/Jan/2006:15:04:05-0700", "02/Jan/2006:15:04:05-07:00", "02/Jan/2006:15:04:05-07",
	"02/Jan/2006:15:04:05 -07:00", "02/Jan/2006:15:04:05 -07",
}

var isoLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05-07",
	"2006-01-02T15:04:05 -07:00", "2006-01-02T15:04:05 -0700", "2006-01-02T15:04:05 -07",
}

// FuzzTime holds the clock against package time: what either reads, both read alike, from a fresh clock and from one
// that has seen the stamp, or another, before.
func FuzzTime(f *testing.F) {
	for _, text := range []string{
		"10/Oct/2000:13:55:36 -0700", "31/Dec/2016:23:59:60 +0000", "29/Feb/1900:00:00:00 +0000", "01/jan/0000:00:00:00 +2359",
		"10/Oct/2000:13:55:36", "10/OCt/0000 00:00:000", "10/Oct/2000:13:55:36.125 +0100", "10/Oct/2000:13:55:36 +01", "10/Oct/2000:24:00:00 -0700",
		"2000-10-10T13:55:36.123-07:00", "2000-10-10 13:55:36Z", "2000-10-10t13:55:36,123456789+0100", "9999-12-31T23:59:60-23:59",
		"971211336.123", "0", "253402300799.999999", "253402300800", "1e9", "-1", "99999999999999999999",
		"31/Dec/1969:23:59:59", "01/Jan/1970:00:00:30", "10/Oct/2000:13:55:36,00000", "10/Oct/2000:13:55:36,000000",
		strings.Repeat("\x00", 26), strings.Repeat("\x00", 19),
	} {
		f.Add(text)
	}
	zurich, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		f.Fatal(err)
	}
	shared := map[*time.Location]*clock{time.UTC: {}, zurich: {zone: zurich}}
	f.Fuzz(func(t *testing.T, text string) {
		for zone, old := range shared {
			for _, c := range []*clock{{zone: zone}, old, old} {
				local := text
				if len(local) > 11 && local[11] == ' ' {
					local = local[:11] + ":" + local[12:]
				}
				got, n, reason := c.local([]byte(text))
				agree(t, local, zone, got, n, reason, localLayouts)
				iso := text
				if len(iso) > 10 && strings.ContainsRune("t ", rune(iso[10])) {
					iso = iso[:10] + "T" + iso[11:]
				}
				got, n, reason = c.iso([]byte(text))
				agree(t, iso, zone, got, n, reason, isoLayouts)
				if got, n, reason = c.epoch([]byte(text)); reason == "" && (n < 1 || got < 0 || got >= (lex.MaxSeconds+1)*limit.Second) {
					t.Errorf("epoch %q: %d from %d bytes", text, got, n)
				}
			}
		}
	})
}

func agree(t *testing.T, text string, zone *time.Location, got limit.Time, n int, reason string, layouts []string) {
	t.Helper()
	if n < 0 || n > len(text) || (reason == "") != (n > 0) {
		t.Fatalf("%q: %d bytes, reason %q", text, n, reason)
	}
	// What a clock takes for the end of a stamp without a zone, package time takes for an error, so that the two are
	// held together where the clock read all there is, or package time did.
	want, ok := slowStamp(text[:n], zone, layouts...)
	if n > 0 && (!ok || got != want) {
		t.Errorf("%q: the clock reads %d from %q, package time %d (%t)", text, got, text[:n], want, ok)
	}
	if want, ok := slowStamp(text, zone, layouts...); ok && (n != len(text) || got != want) && ordinary.MatchString(text) {
		t.Errorf("%q: the clock reads %d from %q, package time %d", text, got, text[:n], want)
	}
}

// ordinary returns what the clock must read if package time does. The latter takes single digits, zones of a whole day
// and minutes of 60 in them as well.
var ordinary = regexp.MustCompile(`^(\d\d/\w{3}/\d{4}:|\d{4}-\d\d-\d\dT)\d\d:\d\d:\d\d([.,]\d+)?(Z| ?[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?$`)

// TestStampsComeBack formats random moments in random zones and reads them back, to the microsecond.
func TestStampsComeBack(t *testing.T) {
	zones := []string{"UTC", "Europe/Zurich", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"}
	testneeds.Rapid(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		c := clock{zone: zone}
		from := rapid.Int64Range(1e6, 4e9).Draw(t, "from")
		for range 20 {
			from += rapid.Int64Range(-5000, 5000).Draw(t, "step")
			at := time.Unix(from, rapid.Int64Range(0, 999999).Draw(t, "micros")*1000).In(zone)
			for layout, read := range map[string]func([]byte) (limit.Time, int, string){
				"02/Jan/2006:15:04:05 -0700":       c.local,
				"02/Jan/2006:15:04:05":             c.local,
				"2006-01-02T15:04:05.000000Z07:00": c.iso,
				"2006-01-02 15:04:05.000000":       c.iso,
			} {
				text := at.Format(layout)
				want, _ := slowStamp(text, zone, layout)
				if got, n, reason := read([]byte(text + "]")); got != want || n != len(text) || reason != "" {
					t.Fatalf("%s: got %d from %d bytes %s, want %d", text, got, n, reason, want)
				}
			}
			text := fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000)
			if got, n, _ := c.epoch([]byte(text)); got != limit.Time(at.UnixMicro()) || n != len(text) {
				t.Fatalf("%s: got %d from %d bytes", text, got, n)
			}
		}
	})
}

// TestDays counts every day of ten thousand years, as package time does.
func TestDays(t *testing.T) {
	want := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
	for year := range 10000 {
		for month := 1; month <= 12; month++ {
			if got := days(year, month, 1); got != want {
				t.Fatalf("%d-%d-1: day %d, want %d", year, month, got, want)
			}
			next := time.Date(year, time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
			if got := int64(monthDays(year, month)); got != next-want {
				t.Fatalf("%d-%d has %d days, want %d", year, month, got, next-want)
			}
			want = next
		}
	}
}

// TestLayouts holds strftime's letters against the layouts of package time.
func TestLayouts(t *testing.T) {
	for ours, theirs := range map[string]string{
		"%Y-%m-%dT%H:%M:%S%z":        "2006-01-02T15:04:05-0700",
		"%a, %d %b %Y %T %z":         "Mon, 02 Jan 2006 15:04:05 -0700",
		"%A %e %B %y, %R:%S %% (%Z)": "Monday _2 January 06, 15:04:05 % (MST)",
		"%F%n%D%t%h %T":              "2006-01-02\n01/02/06\tJan 15:04:05",
	} {
		l, err := parseStrptime(ours)
		if err != nil {
			t.Fatal(err)
		}
		testneeds.Rapid(t, func(t *rapid.T) {
			at := time.Unix(rapid.Int64Range(0, 3e9).Draw(t, "at"), 0).UTC()
			text := at.Format(theirs)
			var m timestampParts
			if n := m.read(l, []byte(text)); n != len(text) {
				t.Fatalf("%s: read %d bytes of %q", ours, n, text)
			}
			if got, reason := m.time(&clock{}); got != limit.Time(at.UnixMicro()) {
				t.Fatalf("%s: %q is %d %s, want %d", ours, text, got, reason, at.UnixMicro())
			}
			for cut := range len(text) {
				if n := m.read(l, []byte(text[:cut])); n > cut {
					t.Fatalf("%s: read %d bytes of %q", ours, n, text[:cut])
				}
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		want limit.Time
		n    int
	}{
		{"", 0, 0},
		{"x", 0, 0},
		{"-1", 0, 0},
		{".5", 0, 0},
		{"12", 12e6, 2},
		{"12.", 12e6, 2},
		{"12.x", 12e6, 2},
		{"0.035 x", 35e3, 5},
		{"1.0000019", 1000001, 9},
		{"1,5", 1500000, 3},
		{"253402300799", 253402300799e6, 12},
		{"253402300800", 0, lex.TooLarge},
		{"999999999999999999", 0, lex.TooLarge},
		{"9999999999999999999", 0, lex.TooLarge},
	} {
		if got, n := lex.Seconds([]byte(c.text)); got != c.want || n != c.n {
			t.Errorf("seconds(%q) = %d, %d; want %d, %d", c.text, got, n, c.want, c.n)
		}
	}
}
