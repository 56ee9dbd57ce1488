package logfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The names of real servers.
func TestDatedOf(t *testing.T) {
	for name, want := range map[string]struct{ log, when string }{
		"access.20261121.log":                 {"access.*.log", "20261121"},               // rotatelogs access.%Y%m%d.log
		"access_log-2026-11-21":               {"access_log-*", "20261121"},               // rotatelogs access_log-%F
		"access.2026-11-21-13_00_00.log":      {"access.*.log", "20261121130000"},         // its manual's example
		"access-20261121-13.log":              {"access-*.log", "2026112113"},             // by the hour
		"access_log.1795219200":               {"access_log.*", "1795219200"},             // rotatelogs without a date
		"localhost_access_log.2026-11-21.txt": {"localhost_access_log.*.txt", "20261121"}, // Tomcat
		"jetty-2026_11_21.request.log":        {"jetty-*.request.log", "20261121"},        // Jetty
		"2026_11_21.request.log":              {"*.request.log", "20261121"},
		"access.log-20261121":                 {"access.log-*", "20261121"}, // logrotate's dateext
		"web1-2026.11.21T09:30.access.log":    {"web1-*.access.log", "202611210930"},
		"access-20261121-8080.log":            {"access-*-8080.log", "20261121"}, // a port is no time of day
		"access.log":                          {},
		"access.1.log":                        {},
		"access-8080.log":                     {},
		"access-20261321.log":                 {}, // no month
		"access-120261121.log":                {},
		"access-202611210.log":                {},
		"access.1795219200.log":               {},
		"access.log.0795219200":               {},
	} {
		d, ok := DatedOf("dir/" + name)
		if want.log == "" {
			if ok {
				t.Errorf("%s: %+v", name, d)
			}
			continue
		}
		if !ok || d.Name() != "dir/"+want.log || d.When != want.when || d.Day.Format("20060102") != "20261121" {
			t.Errorf("%s: %v, %q, %q, %v", name, ok, d.Name(), d.When, d.Day)
		}
		if SeriesNamed(d.Name()) != d.Series || !d.Has("dir/"+name+".gz") || d.Has(name) {
			t.Errorf("%s: is not found again by %q", name, d.Name())
		}
	}
}

// Every log of which a file may be an earlier one is named, and no other.
func TestCurrentsOf(t *testing.T) {
	for name, want := range map[string][]string{
		"access.1.log": {"access.log"}, "access.log.1": {"access.log"}, "access.log.2.gz": {"access.log"},
		"access-20261121.log": {"access.log"}, "access.log-20261121.zst": {"access.log"}, "access_log-2026-11-21": {"access_log"},
		"access.log.old": {"access.log"}, "access.log": nil, "access-8080.log": nil, "access.1.2.log": {"access.1.log"},
	} {
		got := CurrentsOf(name)
		for _, log := range want {
			if !slices.Contains(got, log) {
				t.Errorf("%s: %q lacks %s", name, got, log)
			}
		}
		for _, log := range got {
			if !IsRotated(log, name) {
				t.Errorf("%s: %s is no log of its", name, log)
			}
		}
	}
}

// The files of a series come in the order of their dates, whenever they were written, and those of no other.
func TestSeriesSiblings(t *testing.T) {
	dir := t.TempDir() + "/"
	for _, name := range []string{"a.20261122.log", "a.20261030.log", "a.20261121.log", "b.20261121.log", "a.log", "a.20261101.log.gz", "a.20261123.log"} {
		if err := os.WriteFile(dir+name, []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	all, _ := new(Siblings).OfSeries(Series{dir, "a.", ".log"}, dir+"a.20261123.log")
	for _, r := range all {
		got = append(got, filepath.Base(r.Path))
	}
	if want := []string{"a.20261030.log", "a.20261121.log", "a.20261122.log"}; !slices.Equal(got, want) { // the .gz is not
		t.Errorf("%q, want %q", got, want)
	}
}
