package match

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

func TestPurposeOf(t *testing.T) {
	for purpose, paths := range map[Purpose]string{
		0: "/ /shop/7 /author/jane /blog/how-to-login-fast /shells/42 /loginhelp /gitlab/x /.well-known/acme-challenge/x /download/site.pdf " +
			"/a/../b /environment /backup /author/admin/2 /img/db.png /b.zip.html / // /. /.. /x.old/y /etcetera /sdkman /health/tips /live/3 /order/status " +
			"/auth/refresh /api/sessions/7/bookings /ny/hudson/home-7 /jane/shop/src/branch/main/.env /jane/shop/-/blob/main/etc/passwd",
		ForPasswords:               "/login /user/login/ /WP-Login.php /api/auth/login /Signin.aspx /administrator/index.php /login.html /auth /api/sessions/",
		ForPasswords | ForTokens:   "/oauth/token /connect/token",
		ForPasswords | ForCalls:    "/blog/xmlrpc.php",
		ForOperators:               "/wp-admin/post.php /blog/wp-admin/ /admin/orders/7 /Admin",
		ForOperators | ForVisitors: "/wp-admin/admin-ajax.php",
		ForMonitors:                "/healthz /api/health /site/ping.php /Status /metrics",
		ForSite:                    "/wp-cron.php /blog/wp-cron.php /CRON.PHP",
		ForScanners:                "/phpmyadmin/index.php /PMA/ /vendor/phpunit/phpunit/x /a/adminer.php /_ignition/execute /wp-config.php /etc/x /proc/self",
		ForScanners | ForNobody: "/.git/config /x/.GIT/HEAD /.env /api/.env /.env.local /backup.sql /db.sql.gz /www.zip /Backup.tar.gz /wp-config.php.bak " +
			"/index.php~ /id_rsa /.aws/credentials /a/.DS_Store /x/any.sql",
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := PurposeOf([]byte(path)); got != purpose {
				t.Errorf("%s is for %b, want %b", path, got, purpose)
			}
		}
	}
	long := []byte("/" + strings.Repeat("a", 9000) + "/.git/config")
	if PurposeOf(long) != 0 {
		t.Error("more than the beginning of a path is looked at")
	}
	if n := testing.AllocsPerRun(100, func() { PurposeOf([]byte("/Blog/.Git/config")) }); n > 0 {
		t.Errorf("allocates %g times", n)
	}
}

func TestIsUnasked(t *testing.T) {
	for want, paths := range map[bool]string{
		true: "/.well-known/caldav /Autodiscover/Autodiscover.xml /mail/config-v1.1.xml /principals/ /ads.txt /browserconfig.xml " +
			"/.well-known/assetlinks.json",
		false: "/ /.well-known /.well-known/x.PHP /principals.zip /shop/ads.txt /mail/config.php /well-known/caldav",
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := IsUnasked([]byte(path)); got != want {
				t.Errorf("%s: %v, want %v", path, got, want)
			}
		}
	}
}

// What the tables of two bytes let through is all that has a purpose.
func TestPurposeOfLooksAtAll(t *testing.T) {
	var names []string
	for _, m := range []map[string]Purpose{hidden, lastFiles, lastStems, folders, atTop} {
		for name := range m {
			names = append(names, name)
		}
	}
	names = append(names, "a", "shop", "", "db.sql", "a.php~", "www.7z", "backup.dump")
	testneeds.Rapid(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "segments")
		path, want, last := "", Purpose(0), len(segments)-1
		if last > 0 && segments[last] == "" { // a slash at the end
			last--
		}
		for i, segment := range segments {
			if rapid.Bool().Draw(t, "upper") {
				segment = strings.ToUpper(segment)
			}
			path += "/" + segment
			if len(segment) > 2 {
				want |= purposeOfSegment([]byte(strings.ToLower(segment)), i == last)
			}
			if i == 0 {
				want |= atTop[strings.ToLower(segment)]
			}
		}
		if got := PurposeOf([]byte(path)); got != want {
			t.Errorf("%s is for %b, want %b", path, got, want)
		}
	})
}

func BenchmarkPurposeOf(b *testing.B) {
	paths := [][]byte{[]byte("/"), []byte("/shop/product/1234"), []byte("/blog/2026/03/how-to-write"), []byte("/api/v1/items/77/comments")}
	for i := range b.N {
		PurposeOf(paths[i&3])
	}
}

func TestIsLogin(t *testing.T) {
	for action, want := range map[string]bool{
		"/login": true, "/WP-Login.php": true, "/shop": false, "/xmlrpc.php": true, "/author/…": false, "login": true, "POST /blog/login": true,
	} {
		if IsLogin(action) != want {
			t.Errorf("%s: %v", action, !want)
		}
	}
}
