package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shadow/limit"
	"shadow/parse"
)

// Changes of the zone are counted across blocks, and in each format; a line that cannot be read changes none.
func TestZones(t *testing.T) {
	at := time.Date(2016, 3, 13, 6, 0, 0, 0, time.UTC)
	east := func(i int) int {
		if i >= 20_000 {
			return -4
		}
		return -5
	}
	for name, line := range map[string]func(time.Time) string{
		"combined": func(at time.Time) string {
			return fmt.Sprintf("192.0.2.7 - - [%s] \"GET / HTTP/1.1\" 200 1 \"-\" \"%s\"\n", at.Format("02/Jan/2006:15:04:05 -0700"), strings.Repeat("x", 40))
		},
		"json": func(at time.Time) string {
			return fmt.Sprintf("{\"time\":%q,\"remote_addr\":\"192.0.2.7\",\"request\":\"GET / HTTP/1.1\",\"status\":200}\n", at.Format(time.RFC3339))
		},
	} {
		var text strings.Builder
		for i := range 40_000 {
			then := at.Add(time.Duration(i) * time.Second / 5)
			text.WriteString(line(then.In(time.FixedZone("", 3600*east(i)))))
			if i%5000 == 0 {
				text.WriteString(line(then.In(time.FixedZone("", 7200)))[:60] + "\n")
			}
		}
		dir := t.TempDir()
		for _, workers := range []int{1, 3} {
			o := readingOptions(t)
			o.Workers = workers
			z := read(t, o, write(t, dir, name, text.String())).stats.Inputs[0].Zones
			change := limit.Time(at.Add(4000 * time.Second).UnixMicro())
			if z.Changes != 1 || z.At != change || z.From.String() != "-0500" || z.To.String() != "-0400" {
				t.Errorf("%s: %+v, want one change at %d", name, z, change)
			}
		}
	}
}

// Lines that name no zone are passed over.
func TestZonesThatAreNotNamed(t *testing.T) {
	var all, next Zones
	all.add(&next)
	for i, zone := range []parse.Zone{{}, {Named: true, East: 3600}, {}, {Named: true, East: 3600}, {Named: true, East: 7200}, {}} {
		next = Zones{}
		next.see(zone, limit.Time(i))
		all.add(&next)
	}
	if all.Changes != 1 || all.At != 4 || all.To.String() != "+0200" {
		t.Errorf("%+v, want one change", all)
	}
}
