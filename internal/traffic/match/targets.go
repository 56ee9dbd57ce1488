package match

import (
	"bytes"
	"slices"
	"strings"

	"shadow/internal/traffic/intern"
)

// What a target is for shows in its path, whatever folder a site lies in:
//
//	/blog/wp-login.php    passwords are tried there
//	/wp-cron.php          the site asks for it by itself
//	/.git/config          must not be public: who asks for it pries
//	/cgi-bin/luci         only scanners ask for it
//	/wp-admin/edit.php    for those who run the site
//	/api/health           says whether the site is up
//
// Names of pages are no sign: a shop may sell a shell, and a blog may have a page /author.

// A Purpose says what a path is for; several may be.
type Purpose uint16

// The purposes.
const (
	ForPasswords Purpose = 1 << iota // passwords are tried there
	ForSite                          // the site's own work
	ForScanners                      // only scanners ask for it
	ForNobody                        // likewise, and an answer gives something away
	ForOperators                     // the administration of the site
	ForVisitors                      // pages ask for it, wherever it lies
	ForMonitors                      // says whether the site is up
	ForCalls                         // answers right and wrong passwords alike: the answer is a document that tells
	ForTokens                        // gives tokens for passwords, and renews them without
)

// PurposeOf returns what a path is for, by its segments and its ending. It allocates nothing, and most paths cost it a look at
// the first two bytes of each segment.
func PurposeOf(path []byte) (p Purpose) {
	if len(path) > mostOfPath {
		path = path[:mostOfPath]
	}
	path = bytes.TrimSuffix(path, []byte("/"))
	for at, depth := 0, 0; ; depth++ {
		next := bytes.IndexByte(path[at:], '/')
		end := at + next
		if next < 0 {
			end = len(path)
		}
		if end-at > 2 && (firsts[pair(path[at], path[at+1])] || next < 0 && lasts[pair(path[end-2], path[end-1])]) {
			var buf [mostOfPath]byte
			segment := intern.LowerASCII(buf[:0], path[at:end])
			if depth > 2 && sources[string(segment)] && next >= 0 { // what follows is the name of a file that is shown
				return p
			}
			if p |= purposeOfSegment(segment, next < 0); at == 1 {
				p |= atTop[string(segment)]
			}
		}
		if next < 0 {
			return p
		}
		at = end + 1
	}
}

// IsUnasked reports whether a path is one that mail programs, telephones and browsers ask of any server, to learn whether it is
// there. That it is not says nothing of who asks. Scanners look for code at such places, and pictures are files.
func IsUnasked(path []byte) bool {
	var buf [mostOfPath]byte
	low := intern.LowerASCII(buf[:0], path[:min(len(path), mostOfPath)])
	return !bytes.HasSuffix(low, []byte(".php")) && slices.ContainsFunc(unasked, func(begin []byte) bool { return bytes.HasPrefix(low, begin) })
}

// unasked are the beginnings of such paths.
var unasked = [][]byte{
	[]byte("/.well-known/"), []byte("/autodiscover/"), []byte("/mail/config-v1."), []byte("/principals/"),
	[]byte("/apple-app-site-association"), []byte("/assetlinks.json"), []byte("/ads.txt"), []byte("/app-ads.txt"), []byte("/sellers.json"), []byte("/browserconfig.xml"),
	[]byte("/humans.txt"), []byte("/security.txt"),
}

// IsLogin reports whether an action is one at which passwords are tried, by its path or by its name: login, POST /login.
func IsLogin(action string) bool {
	_, path, _ := strings.Cut(action, " ")
	if path == "" {
		path = action
	}
	return PurposeOf([]byte("/"+path))&ForPasswords != 0
}

const mostOfPath = 256 // bytes that are looked at

// firsts and lasts mark the first and the last two bytes, in lower case, of segments that have a purpose.
var firsts, lasts = func() (firsts, lasts [1 << 16]bool) {
	for _, m := range []map[string]Purpose{hidden, lastFiles, lastStems, folders, atTop} {
		for name := range m {
			firsts[pair(name[0], name[1])] = true
		}
	}
	for name := range sources {
		firsts[pair(name[0], name[1])] = true
	}
	for _, m := range []map[string]bool{dumps, copies} {
		for ending := range m {
			lasts[pair(ending[len(ending)-2], ending[len(ending)-1])] = true
		}
	}
	return firsts, lasts
}()

func pair(a, b byte) int { return int(lowerByte(a))<<8 | int(lowerByte(b)) }

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

func purposeOfSegment(segment []byte, last bool) Purpose {
	if segment[0] == '.' && segment[1] != '.' {
		return hidden[string(segment)]
	}
	if last {
		stem, ending := segment, []byte(nil)
		if i := bytes.IndexByte(segment, '.'); i >= 0 {
			stem, ending = segment[:i], segment[i:]
		}
		if lastFiles[string(segment)] != 0 {
			return lastFiles[string(segment)]
		}
		if dumps[string(ending)] && (dumped[string(stem)] || bytes.HasPrefix(ending, []byte(".sql"))) || copies[string(ending)] {
			return ForScanners | ForNobody
		}
		segment = stem // /login.html, /signin.aspx
		if lastStems[string(stem)] != 0 {
			return lastStems[string(stem)]
		}
	}
	return folders[string(segment)]
}

var (
	hidden = purposes(ForScanners|ForNobody, ".git", ".env", ".svn", ".hg", ".aws", ".ssh", ".htpasswd", ".htaccess", ".ds_store", ".npmrc",
		".vscode", ".idea", ".docker", ".bash_history", ".env.local", ".env.production", ".env.bak", ".env.old", ".env.save", ".env.dev",
		".kube", ".netrc", ".pgpass", ".git-credentials", ".gitconfig")
	lastFiles = join(
		purposes(ForPasswords, "wp-login.php"),
		purposes(ForPasswords|ForCalls, "xmlrpc.php"),
		purposes(ForSite, "wp-cron.php", "cron.php", "scheduler.php"),
		purposes(ForVisitors, "admin-ajax.php", "admin-post.php"),
		purposes(ForScanners|ForNobody, "id_rsa", "id_ed25519", "phpinfo.php", "docker-compose.yml", "credentials.json",
			"passwd", "heapdump", "web.config", "config.php.bak", "database.yml", "secrets.yml"),
		purposes(ForScanners, "eval-stdin.php", "setup.cgi", "adminer.php", "wlwmanifest.xml", "wp-config.php", "shell.php", "wso.php", "c99.php", "alfa.php",
			"invoker", "sdk", "formlogin", "luci"),
	)
	lastStems = join(purposes(ForPasswords, "auth", "session", "sessions"), purposes(ForPasswords|ForTokens, "token"), purposes(ForMonitors, "alive", "health", "health-check", "health_check", "healthcheck", "healthz", "heartbeat",
		"liveness", "livez", "metrics", "nginx_status", "ping", "readiness", "ready", "readyz", "server-status", "stub_status", "up"))
	folders = join(
		purposes(ForPasswords, "login", "signin", "sign-in", "sign_in", "logon", "log-in", "authenticate", "administrator"),
		purposes(ForScanners, "phpmyadmin", "boaform", "hnap1", "_ignition", "phpunit", "mysqladmin", "gponform"),
		purposes(ForOperators, "wp-admin"),
	)
	atTop = join(
		purposes(ForOperators, "admin", "backend", "backoffice", "cpanel", "adminpanel"), // elsewhere they may be an author's name
		purposes(ForMonitors, "status"),                       // elsewhere it is that of an order
		purposes(ForScanners, "pma", "hudson", "etc", "proc"), // elsewhere it may be a river
	)
	sources = setOf("blob", "blame", "raw", "tree", "branch", "commit", "tag") // in /owner/project/src/branch/main/.env
	dumps   = setOf(".sql", ".sql.gz", ".sql.zip", ".sql.bz2", ".zip", ".tar.gz", ".tgz", ".rar", ".7z", ".bak", ".old", ".dump")
	dumped  = setOf("backup", "backups", "dump", "database", "db", "www", "site", "public_html", "htdocs", "wwwroot", "html", "web", "old", "mysql")
	copies  = setOf(".php~", ".php.bak", ".php.old", ".php.save", ".php.swp", ".php.txt", ".php.orig")
)

func purposes(p Purpose, names ...string) map[string]Purpose {
	all := make(map[string]Purpose, len(names))
	for _, name := range names {
		all[name] = p
	}
	return all
}

func join(maps ...map[string]Purpose) map[string]Purpose {
	all := map[string]Purpose{}
	for _, m := range maps {
		for name, p := range m {
			all[name] |= p
		}
	}
	return all
}
