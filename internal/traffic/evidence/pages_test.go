package evidence

import "testing"

// What keeps caches from answering makes no other page of a target, nor does a cursor, and any other parameter does.
func TestPages(t *testing.T) {
	for target, want := range map[string]string{
		"/a?_=1772533557999": "/a", "/a?b=1&_=1772533557999": "/a?b=1", "/a?_=17&b=1": "/a?b=1", "/a?rand=0.4711&b=1&cb=9#c": "/a?b=1", "/a?t=1772533557": "/a", "/a?rand=c5ec948e": "/a",
		"/a?b=1&since=s17_4711": "/a?b=1", "/a?cursor=dXNlcg&b=1": "/a?b=1",
	} {
		if pageOf([]byte(target)) != pageOf([]byte(want)) {
			t.Errorf("%s is not %s", target, want)
		}
	}
	for _, target := range []string{"/a?t=17725", "/a?id=1772533557999", "/a?t=x17725335579", "/a?cb=", "/a?_", "/a?offset=7"} {
		if pageOf([]byte(target)) == pageOf([]byte("/a")) {
			t.Errorf("%s is /a", target)
		}
	}
}
