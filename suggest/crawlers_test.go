package suggest

import "testing"

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
	for name, want := range map[string]bool{"Googlebot-Image": true, "Slurp": true, "AhrefsBot": false} {
		if isSearchEngine(name) != want {
			t.Errorf("%s: search engine: %v", name, !want)
		}
	}
}
