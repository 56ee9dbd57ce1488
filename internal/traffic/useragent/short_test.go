package useragent

import (
	"strings"
	"testing"
)

func TestCrawlerName(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":                          "Googlebot",
		"Mozilla/5.0 (compatible; Googlebot-Image/1.0)":                                                     "Googlebot-Image",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116 Safari/537": "bingbot",
		"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)":               "Baiduspider",
		"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)":               "Slurp",
		"Mozilla/5.0 (compatible; Qwantify/2.4w; +https://www.qwant.com/)/2.4w":                             "Qwantify",
		"Mozilla/5.0 (compatible; seoscanners.net/1; +spider@seoscanners.net)":                              "seoscanners.net",
		"Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)":                               "YandexImages",
		"Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)":                           "Sogou",
		"Aboundex/0.3 (http://www.aboundex.com/crawler/)":                                                   "Aboundex",
		"BUbiNG (+http://law.di.unimi.it/BUbiNG.html)":                                                      "BUbiNG",
		"Mozilla/5.0 (compatible; Linux x86_64; Mail.RU_Bot/2.0; +http://go.mail.ru/help/robots)":           "Mail.RU_Bot",
		"AdsBot-Google (+http://www.google.com/adsbot.html)":                                                "AdsBot-Google",
		"-": "-",
		"ia_archiver (+http://www.alexa.com/site/help/webmasters)": "ia_archiver",
		"facebookexternalhit/1.1":                                  "facebookexternalhit",
		"":                                                         "",
	} {
		if got := CrawlerName(agent); got != want {
			t.Errorf("%q names itself %q, want %q", agent, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	const windows, webkit = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)", " AppleWebKit/537.36 (KHTML, like Gecko)"
	for agent, want := range map[string]string{
		windows + webkit + " Chrome/143.0.0.0 Safari/537.36":                                                                  "Chrome 143 / Windows",
		windows + webkit + " HeadlessChrome/120.0.6099.199 Safari/537.36":                                                     "HeadlessChrome 120 / Windows",
		windows + webkit + " Chrome/143.0.0.0 Safari/537.36 Edg/142.0.0.0":                                                    "Edge 142 / Windows",
		windows + webkit + " Chrome/143.0.0.0 Safari/537.36 OPR/106.0.0.0":                                                    "Opera 106 / Windows",
		"Mozilla/5.0 (Linux; Android 14; K)" + webkit + " Chrome/143.0.0.0 Mobile Safari/537.36":                              "Chrome 143 / Android",
		"Mozilla/5.0 (Linux; Android 10; K)" + webkit + " SamsungBrowser/27.0 Chrome/125.0 Mobile Safari/537.36":              "Samsung Internet 27 / Android",
		"Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0":                                              "Firefox 131 / Linux",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)" + webkit + " Chrome/127.0.0.0 Safari/537.36":                               "Chrome 127 / ChromeOS",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.1 Safari/605.1.15":                   "Safari 18 / macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1": "Safari 17 / iPhone",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 CriOS/143.0 Mobile/15E148 Safari/604.1":  "Chrome 143 / iPhone",
		"Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 FxiOS/131.0 Mobile/15E148 Safari/605.1.15":        "Firefox 131 / iPad",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21E219":       "WebKit / iPhone",
		"Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko":                                                "Internet Explorer 11 / Windows",
		"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)":                                                             "Internet Explorer 6 / Windows",
		"Opera/9.80 (Windows NT 6.1; U; en) Presto/2.12.388 Version/12.18":                                                    "Opera 12 / Windows",
		windows + webkit + " Chrome/99999999999999 Safari/537.36":                                                             "Chrome / Windows",
		windows + webkit + " Chrome/<b> Safari/537.36":                                                                        "Chrome / Windows",
		"Lynx/2.8.9rel.1 libwww-FM/2.14 SSL-MM/1.4.1":                                                                         "Lynx/2.8.9rel.1",
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":                                            "Googlebot",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116 Safari/537":                   "bingbot",
		"curl/8.5.0":                      "curl/8.5.0",
		"python-requests/2.32.3 and more": "python-requests/2.32.3",
		"Mozilla/5.0 zgrab/0.x":           "Mozilla/5.0 zgrab/0.x",
		"(further browser agents)":        "(further browser agents)",
		strings.Repeat("é", 500):          strings.Repeat("é", 39) + "…",
		"-":                               "-",
		"":                                "-",
		"\xff\xfe":                        "\xff\xfe",
	} {
		if got := Short(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
}
