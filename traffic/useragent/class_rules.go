package useragent

import (
	"bytes"

	"shadow/request"
)

// notFollowed are patterns of the list that fit people, and why.
var notFollowed = map[string]string{
	`AP3A\.240617\.008`: "a build of Android 15 that many phones run, in the agent of every app on them",
	`Fluid`:             "a browser for a single site on the Mac",
	`WordPress\/`:       "a site's own chores and pingbacks; a tool (see ownPatterns)",
}

// ownPatterns are what the list lacks, in its syntax.
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
		`^libfetch`, `fetch libfetch`, `^git\/`, `^JGit\/`, `^Debian APT`, `^libdnf`, `^urlgrabber`, `^Homebrew\/`,
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

// calledItself returns what the words of an agent, in lower case, call it.
func calledItself(words []byte) request.Class {
	switch {
	case holdsAny(words, "uptime", "healthcheck", "health-check", "health check", "health_check"):
		return request.Monitor
	case endsWord(words, "bot"), endsWord(words, "crawler"), endsWord(words, "spider"):
		return request.Crawler
	}
	return request.Unknown
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

// isAddress reports whether an agent is a path or a URL, so no name at all: a log whose fields are not where they should
// be, or somebody who tries what happens.
func isAddress(words []byte) bool {
	return words[0] == '/' || bytes.HasPrefix(words, []byte("http://")) || bytes.HasPrefix(words, []byte("https://"))
}

// guessed is the class of an agent that no pattern knows.
func guessed(words []byte) request.Class {
	switch {
	case holdsAny(words, "monitor"):
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

// looksLikeBrowser reports whether words begin like a browser and name an engine or a platform, as all that call
// themselves Mozilla do; other families are known by name.
func looksLikeBrowser(words []byte) bool {
	if bytes.HasPrefix(words, []byte("mozilla/")) {
		return holdsAny(words, engines...) || holdsAny(words, platforms...)
	}
	for _, family := range browserFamilies {
		if bytes.HasPrefix(words, []byte(family)) {
			return true
		}
	}
	return false
}

var engines = []string{"applewebkit/", "gecko/", "trident/", "msie ", "khtml", "presto/", "goanna/", "servo/"}

var platforms = []string{
	"windows", "winnt", "win9", "macintosh", "mac_", "x11", "linux", "android", "iphone", "ipad", "cros ", "symbian",
	"blackberry", "playstation", "nintendo", "tizen", "webos", "amiga", "beos", "os/2", "sunos",
}

// browserFamilies are how agents of browsers begin that do not call themselves Mozilla: old ones, those in a terminal,
// those of telephones before the smart ones.
var browserFamilies = []string{
	"opera/", "opera mini/", "ucweb/", "lynx/", "links (", "elinks", "w3m/", "dillo/", "netsurf/", "ncsa_mosaic/",
	"ncsa mosaic/", "ibrowse/", "amaya/", "icab/", "contiki/", "emacs-w3", "surf/", "blackberry", "nokia", "samsung-",
	"sonyericsson", "lg-", "mot-", "motorola-", "alcatel-", "zte-", "huawei", "sie-", "docomo/", "kddi-", "j-phone/",
	"softbank/", "vodafone/", "doris/", "mqqbrowser/",
}
