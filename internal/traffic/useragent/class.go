package useragent

import (
	"bytes"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
)

// Classify returns what an agent claims to be. It believes every word: what clients do shows who lies. In this order:
//
//  1. Nothing, or "-", is unknown.
//  2. Patterns, those of the maintained list and ours: if any says monitor, it is one; else crawler; else tool.
//  3. A path or a URL in the place of an agent is no name, and says no more.
//  4. What it calls itself, when no pattern says more than tool: an "uptime" or "health check" is a monitor, a word
//     that ends in "bot", "crawler" or "spider" a crawler. Who names a library and itself is what it calls itself.
//  5. What no pattern knows: a "monitor", as a word of its own or with an address to read about it; with "+http", or for
//     subscribers, a crawler.
//  6. A browser has the shape of one: Mozilla and an engine or a platform, Opera, or one of the old and small ones.
//  7. What else gives an address in brackets is a crawler, and all the rest is unknown.
func Classify(agent []byte) request.Class {
	if len(agent) == 0 || string(agent) == "-" {
		return request.Unknown
	}
	agent = agent[:min(len(agent), intern.MaxName)]
	class := patterns().match(agent)
	if class == request.Monitor || class == request.Crawler {
		return class
	}
	var buf [intern.MaxName]byte
	words := intern.LowerASCII(buf[:0], agent)
	// An app on a telephone may be of a SwitchBot or a baby monitor. It says nowhere where to read about it.
	app := holdsAny(words, "iphone", "ipad", "android") && !holdsAny(words, "http", "compatible", "@")
	switch {
	case words[0] == '/', bytes.HasPrefix(words, []byte("http://")), bytes.HasPrefix(words, []byte("https://")):
		return class
	case holdsAny(words, "uptime", "healthcheck", "health-check", "health check", "health_check"):
		return request.Monitor
	case !app && (endsWord(words, "bot") || endsWord(words, "crawler") || endsWord(words, "spider")):
		return request.Crawler
	case class == request.Tool:
		return request.Tool
	case !app && (beginsWord(words, "monitor") || holdsAny(words, "monitor") && holdsAny(words, "http")):
		return request.Monitor
	case holdsAny(words, "+http", "+ http", "feed-id=", "feed fetcher", "feedfetcher", " subscribers"):
		return request.Crawler
	case looksLikeBrowser(bytes.TrimLeft(words, ` '"=`)):
		return request.Browser
	case holdsAny(words, "(http", "; http"):
		return request.Crawler
	}
	return request.Unknown
}

// holdsAny reports whether b contains one of the words.
func holdsAny(b []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(b, []byte(w)) })
}

// notFollowed are patterns of the list that fit people, and why.
var notFollowed = map[string]string{
	`AP3A\.240617\.008`: "a build of Android 15 that many phones run, in the agent of every app on them",
	`Fluid`:             "a browser for a single site on the Mac",
	`GoogleImageProxy`:  "fetches the pictures of mails as people open them",
	`YahooMailProxy`:    "likewise",
	`WordPress\/`:       "a site's own chores and pingbacks; a tool (see ownPatterns)",
}

// ownPatterns holds patterns that the list lacks, in its syntax.
var ownPatterns = map[request.Class][]string{
	request.Monitor: {
		`kube-probe`, `GoogleHC`, `ELB-HealthChecker`, `Envoy\/HC`, `^Load Balancer Agent`, `^AlwaysOn`,
		`Edge Health Probe`, `^Prometheus\/`, `[bB]lackbox`, `[iI]cinga`, `[nN]agios`, `[mM]onit\/`, `Gatus\/`,
		`[sS]ensu`, `Dynatrace`, `Instana`, `Apica`, `internal dummy connection`,
	},
	request.Tool: {
		// libraries
		`^Java\/`, `^Java1\.`, `Java-http-client`, `Commons-HttpClient`, `HTTP-Java-Client`, `AsyncHttpClient`, `AsyncClient`, `RPT-HTTPClient`, `^unirest-java`, `^Vert\.x`,
		`^[pP]ython`, `urllib3`, `[pP]y[cC]url`, `^pip\/`, `treq\/`, `^Ruby`, `rest-client\/`, `Faraday`, `Typhoeus`,
		`^http\.rb`, `HTTParty`, `Guzzle`, `^PHP`, `^Symfony`, `^WordPress\/`, `^Go `, `^Go\/`, `go-resty`, `fasthttp`,
		`^Lavf\/`, `^reqwest`, `^hyper\/`, `^ureq`, `^node$`, `^node\/`, `undici`, `superagent`, `^got\/`, `^Deno\/`,
		`^Bun\/`, `^Dart\/`, `CFNetwork\/`, `^Dalvik\/`, `libcurl`, `^curlie`, `^libwww`, `^lwp-`, `^LWP`, `Mojolicious`,
		`^Perl`, `HTTP::Lite`, `^Lua`, `^Erlang`, `^hackney\/`, `^http-kit`, `^RestSharp`, `^Apache CXF`, `^Axis\/`,
		`^gSOAP`, `^MS-WebServices`, `^Embarcadero`, `Indy Library`,
		// programs
		`WinHttp`, `WinHTTP`, `^WinInet`, `Microsoft-WebDAV`, `^Microsoft BITS`, `Microsoft URL Control`,
		`^Microsoft-CryptoAPI`, `PowerShell\/`, `PostmanRuntime`, `[iI]nsomnia\/`, `^xh\/`, `^aria2`, `^Axel`, `^XML-RPC`, `^lftp`,
		`^libfetch`, `Thunderbird\/`, `fetch libfetch`, `^git\/`, `^JGit\/`, `^Debian APT`, `^libdnf`, `^urlgrabber`, `^Homebrew\/`,
		`^npm\/`, `^Composer\/`, `^rclone`, `^davfs2`, `^gvfs\/`, `^ansible`, `^Terraform`, `^docker\/`, `^containerd`,
		// load generators
		`ApacheBench`, `[sS]iege `, `JoeDog`, `^hey\/`, `^wrk`, `^k6\/`, `JMeter`, `[gG]atling`, `^vegeta`, `^Locust`,
		`autocannon`, `bombardier`, `^oha\/`, `^h2load`,
		// scanners
		`[gG]obuster`, `feroxbuster`, `Fuzz Faster U Fool`, `[wW]fuzz`, `w3af`, `Arachni`, `Havij`, `muieblackcat`,
		`Morfeus`, `[nN]uclei`, `[nN]etsparker`, `Jorgee`, `libredtail`, `[hH]ello,? [wW]orld`, `skipfish`, `[hH]ydra`,
		`[mM]etasploit`, `dirsearch`, `commix`, `[xX]sser`, `^NetSystems`, `Go-SCAN`, `^gbrmss`,
	},
}

// beginsWord reports whether some word begins with name.
func beginsWord(words []byte, name string) bool {
	for i := 0; ; i += len(name) {
		next := bytes.Index(words[i:], []byte(name))
		if next < 0 {
			return false
		}
		if i += next; i == 0 || words[i-1] < 'a' || words[i-1] > 'z' {
			return true
		}
	}
}

// endsWord reports whether some word ends in name. Digits, signs and spaces end words. A CUBOT is a telephone.
func endsWord(words []byte, name string) bool {
	for rest := words; ; {
		i := bytes.Index(rest, []byte(name))
		if i < 0 {
			return false
		}
		before := rest[:i]
		rest = rest[i+len(name):]
		if (len(rest) == 0 || rest[0] < 'a' || rest[0] > 'z') && !(name == "bot" && bytes.HasSuffix(before, []byte("cu"))) {
			return true
		}
	}
}

// looksLikeBrowser reports whether words begin like a browser and name an engine or a platform, as all that call
// themselves Mozilla do; other families are known by name.
func looksLikeBrowser(words []byte) bool {
	if bytes.HasPrefix(words, []byte("mozilla/")) {
		return holdsAny(words, engines...) || holdsAny(words, platforms...)
	}
	return slices.ContainsFunc(browserFamilies, func(f string) bool { return bytes.HasPrefix(words, []byte(f)) })
}

var engines = []string{"applewebkit/", "gecko/", "trident/", "msie ", "khtml", "presto/", "goanna/", "servo/"}

var platforms = []string{
	"windows", "winnt", "win9", "macintosh", "mac_", "x11", "linux", "android", "iphone", "ipad", "cros ", "symbian",
	"blackberry", "playstation", "nintendo", "tizen", "webos", "amiga", "beos", "os/2", "sunos",
}

// browserFamilies holds the beginnings of agents of browsers that do not call themselves Mozilla: old ones, those in a
// terminal, those of telephones before the smart ones.
var browserFamilies = []string{
	"opera/", "opera mini/", "ucweb/", "lynx/", "links (", "elinks", "w3m/", "dillo/", "netsurf/", "ncsa_mosaic/",
	"ncsa mosaic/", "ibrowse/", "amaya/", "icab/", "contiki/", "emacs-w3", "surf/", "blackberry", "nokia", "samsung-",
	"sonyericsson", "lg-", "mot-", "motorola-", "alcatel-", "zte-", "huawei", "sie-", "docomo/", "kddi-", "j-phone/",
	"softbank/", "vodafone/", "doris/", "mqqbrowser/",
}
