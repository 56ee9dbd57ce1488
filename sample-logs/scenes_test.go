package samplelogs

import (
	"bytes"
	"time"
)

// shopDay returns a Monday of a small shop: browsers, two scrapers, a guesser of passwords, a monitor, a crawler.
func shopDay() []byte {
	chrome := agents()[0].text
	return scene{
		format: Combined, seed: 11, start: "2026-03-02 00:00", length: 24 * time.Hour, clients: 120, visits: 80,
		actors: []actor{
			once(watcher, monitoring, monitorAgents[0], "2026-03-02 00:00:07", 24*time.Hour, 6*time.Minute),
			once(passwords, guesser, "Go-http-client/1.1", "2026-03-02 03:12:40", 2*time.Minute, time.Second),
			once(scraper, fastScraper, "python-requests/2.31.0", "2026-03-02 10:20:00", 5*time.Minute, 2*time.Second),
			once(scraper, slowScraper, chrome, "2026-03-02 15:05:30", 7*time.Minute, 3*time.Second),
			once(scraper, searchEngine, crawlerAgents[0], "2026-03-02 12:00:00", 40*time.Minute, 20*time.Second),
		},
	}.log()
}

// timedMorning says how long requests took, and has a server that limits already.
func timedMorning() []byte {
	limited := once(passwords, guesser, "curl/8.5.0", "2026-03-03 09:30:00", 3*time.Minute, 2*time.Second)
	limited.limited = true
	return scene{
		format: Timed, seed: 12, start: "2026-03-03 08:00", length: 3 * time.Hour, clients: 90, visits: 60,
		actors: []actor{
			once(watcher, monitoring, monitorAgents[4], "2026-03-03 08:00:03", 3*time.Hour, 2*time.Minute),
			once(scraper, fastScraper, "Scrapy/2.11.1 (+https://scrapy.org)", "2026-03-03 10:10:00", 2*time.Minute, 900*time.Millisecond),
			limited,
		},
	}.log()
}

// apiHours returns what programs ask of the shop.
func apiHours() []byte {
	return scene{
		format: JSON, seed: 13, start: "2026-03-04 13:00", length: 2 * time.Hour, clients: 80, visits: 25,
		actors: []actor{
			once(watcher, monitoring, monitorAgents[3], "2026-03-04 13:00:00", 2*time.Hour, time.Minute),
			once(caller, partner, "okhttp/4.12.0", "2026-03-04 13:40:00", 4*time.Second, 40*time.Millisecond),
			once(caller, partner, "okhttp/4.12.0", "2026-03-04 14:40:00", 4*time.Second, 40*time.Millisecond),
		},
	}.log()
}

// vhostAfternoon has three virtual hosts; one of them is scraped.
func vhostAfternoon() []byte {
	return scene{
		format: Vhost, seed: 14, start: "2026-03-05 14:00", length: 2 * time.Hour, clients: 100, visits: 45,
		actors: []actor{
			once(scraper, slowScraper, "Wget/1.21.4", "2026-03-05 15:00:00", 3*time.Minute, 2*time.Second),
		},
	}.log()
}

// rotation is one evening in three files, oldest first. The scraper is at work when the first one ends.
func rotation() [3][]byte {
	log := scene{
		format: Combined, seed: 15, start: "2026-03-06 18:00", length: 3 * time.Hour, clients: 60, visits: 45,
		actors: []actor{
			once(scraper, fastScraper, "python-requests/2.32.3", "2026-03-06 18:58:00", 4*time.Minute, 2*time.Second),
		},
	}.log()
	first := hourBegins(log, "06/Mar/2026:19:")
	second := hourBegins(log, "06/Mar/2026:20:")
	return [3][]byte{log[:first], log[first:second], log[second:]}
}

// hourBegins is the offset of the first line with such a stamp.
func hourBegins(log []byte, stamp string) int {
	at := bytes.Index(log, []byte(stamp))
	return bytes.LastIndexByte(log[:at], '\n') + 1
}
