package detect

import (
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/parse"
)

// Logs out of public questions are read without a flag: each line, with the values that are right.
func TestSharedCases(t *testing.T) {
	const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/121.0.0.0 Safari/537.36"
	for name, want := range map[string]string{ // of the third line
		"log-time-before-referer": "stamp=1772445604000000 start=1772445603949000 client=203.0.113.1 method=GET path=/en/resources " +
			"referer=https://shop.example/ agent=" + chrome + " status=404 bytes=76848 took=51000",
		"log-proposal-port": "stamp=1772445604000000 start=1772445603949000 client=203.0.113.1 method=GET path=/en/resources " +
			"referer=https://shop.example/ agent=" + chrome + " status=404 bytes=76848 took=51000",
		"log-werkzeug": "stamp=1772445604000000 client=203.0.113.1 method=GET path=/en/resources status=404",
		"log-ltsv": "stamp=1772445604000000 start=1772445603949000 client=203.0.113.1 method=GET path=/en/resources host=shop.example " +
			"referer=https://shop.example/ agent=" + chrome + " status=404 bytes=76848 took=51000",
		"log-keyvalue-splunk": "stamp=1772445604000000 start=1772445603949000 client=203.0.113.1 method=GET path=/en/resources host=www.shop.example " +
			"referer=https://shop.example/ agent=" + chrome + " status=404 bytes=76848 took=51000",
		"log-csv-header": "stamp=1772445604090000 client=203.0.113.1 method=GET path=/en/resources agent=" + chrome + " status=404 bytes=76848",
		"log-gin":        "stamp=1772445604000000 start=1772445603949000 client=203.0.113.1 method=GET path=/en/resources status=404 took=51000",
		"log-npm-two-forms": "stamp=1772445604000000 client=203.0.113.1 method=GET path=/en/resources host=shop.example " +
			"referer=https://shop.example/ agent=" + chrome + " status=404 bytes=76848",
		"log-pino": "stamp=1772445604090000 start=1772445604039000 client=::ffff:10.0.0.2 method=GET path=/en/resources agent=" + chrome +
			" forwarded=203.0.113.1 status=404 took=51000",
		"log-syslog-no-colon": "stamp=1772445604000000 client=203.0.113.1 method=GET path=/en/resources referer=https://shop.example/ " +
			"agent=" + chrome + " status=404 bytes=76848",
		"log-only-forwarded": "stamp=1772445604000000 method=POST path=/eligibility/confirm referer=https://b.example/eligibility/start " +
			"agent=Mozilla/5.0 (iPhone) Safari/604.1 forwarded=203.0.113.3, 10.1.1.4 status=302",
	} {
		t.Run(name, func(t *testing.T) {
			log := testneeds.Content(t, filepath.Join(testneeds.Shared(t, "cases"), name, "access.log"))
			d, err := detected(log, parse.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			p, r := d.Format.NewParser(), new(parse.Record)
			for _, line := range sampleLines(log) {
				switch fault := p.Parse(line, r); {
				case fault == parse.Comment:
				case fault.OK():
					got = append(got, described(r))
				default:
					t.Errorf("%s: %+v in %s", d.Format.Name, fault, line)
				}
			}
			if len(got) < 5 || got[2] != want {
				t.Errorf("%s reads %d lines, the third as\n%s\nwant\n%s", d.Format.Name, len(got), strings.Join(got[min(2, len(got)):min(3, len(got))], ""), want)
			}
		})
	}
}
