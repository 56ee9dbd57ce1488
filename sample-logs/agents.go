package samplelogs

import "fmt"

// What visits the shop: 265 distinct user agents. Those of browsers are composed from platforms and versions, as
// browsers compose them; the others are written out.

// A species is how the owner of an agent behaves.
type species uint8

const (
	browser  species = iota // fetches a page and then what it shows
	crawler                 // fetches pages only, and robots.txt
	tool                    // calls the programming interface
	monitor                 // asks one page at exact intervals
	stranger                // sends no agent, or a text that says nothing
)

// An agent is one value of the User-Agent header.
type agent struct {
	text    string
	species species
	weight  int // its share among clients, relative to the others
}

const agentCount = 265

var crawlerAgents = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
	"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
	"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
	"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
	"Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)",
	"Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)",
	"Mozilla/5.0 (compatible; DotBot/1.2; +https://opensiteexplorer.org/dotbot; help@moz.com)",
	"Mozilla/5.0 (compatible; SeznamBot/4.0; +http://napoveda.seznam.cz/seznambot-intro/)",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
	"Mozilla/5.0 (compatible; DuckDuckBot/1.1; +http://duckduckgo.com/duckduckbot.html)",
	"CCBot/2.0 (https://commoncrawl.org/faq/)",
	"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
	"Twitterbot/1.0",
	"LinkedInBot/1.0 (compatible; Mozilla/5.0; +http://www.linkedin.com)",
	"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
	"Googlebot-Image/1.0",
	"msnbot-media/1.1 (+http://search.msn.com/msnbot.htm)",
	"ia_archiver",
}

var toolAgents = []string{
	"curl/7.68.0", "curl/7.88.1", "curl/8.5.0", "Wget/1.21.3", "Wget/1.21.4",
	"python-requests/2.25.1", "python-requests/2.28.2", "python-requests/2.31.0", "python-requests/2.32.3",
	"python-urllib3/2.2.1", "Python/3.11 aiohttp/3.9.5", "Go-http-client/1.1", "Go-http-client/2.0",
	"okhttp/4.9.3", "okhttp/4.12.0", "Java/17.0.10", "Apache-HttpClient/4.5.14 (Java/11.0.22)",
	"axios/1.6.8", "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)", "libwww-perl/6.67",
	"GuzzleHttp/7", "Ruby", "PostmanRuntime/7.37.3", "Scrapy/2.11.1 (+https://scrapy.org)",
}

var monitorAgents = []string{
	"Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
	"Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
	"check_http/v2.3.3 (monitoring-plugins 2.3.3)",
	"kube-probe/1.29", "Blackbox Exporter/0.24.0", "ELB-HealthChecker/2.0",
}

var strangerAgents = []string{"-", "Mozilla/5.0", "catalogue sync 3"}

// agents lists all of them, the browsers first.
func agents() []agent {
	var rest []agent
	add := func(s species, weight int, texts []string) {
		for _, text := range texts {
			rest = append(rest, agent{text, s, weight})
		}
	}
	add(crawler, 9, crawlerAgents)
	add(tool, 9, toolAgents)
	add(monitor, 0, monitorAgents) // monitors are no visitors: see actors
	add(stranger, 3, strangerAgents)
	return append(browsers(agentCount-len(rest)), rest...)
}

// browsers composes n agents, the newer versions before the older and more frequent than them.
func browsers(n int) []agent {
	list := make([]agent, 0, n)
	for age := 0; ; age++ {
		for _, text := range generation(age) {
			if len(list) == n {
				return list
			}
			list = append(list, agent{text, browser, 4 + 120/(1+age)})
		}
	}
}

// generation returns what the browsers sent age releases ago.
func generation(age int) []string {
	const khtml = "AppleWebKit/537.36 (KHTML, like Gecko)"
	chrome, firefox, safari := 143-age, 145-age, 26-age/8
	desktop := fmt.Sprintf("%s Chrome/%d.0.0.0 Safari/537.36", khtml, chrome)
	mobile := fmt.Sprintf("%s Chrome/%d.0.0.0 Mobile Safari/537.36", khtml, chrome)
	const webkit = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
	return []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + desktop,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " + desktop,
		"Mozilla/5.0 (Linux; Android 10; K) " + mobile,
		fmt.Sprintf("Mozilla/5.0 (iPhone; CPU iPhone OS %d_%d like Mac OS X) %s Version/%d.%d Mobile/15E148 Safari/604.1",
			safari, 7-age%8, webkit, safari, 7-age%8),
		fmt.Sprintf("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) %s Version/%d.%d Safari/605.1.15", webkit, safari, 7-age%8),
		fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:%d.0) Gecko/20100101 Firefox/%d.0", firefox, firefox),
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + desktop + fmt.Sprintf(" Edg/%d.0.0.0", chrome),
		fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0", firefox, firefox),
		"Mozilla/5.0 (X11; Linux x86_64) " + desktop,
	}
}
