package match

import "testing"

func TestIsSearched(t *testing.T) {
	for target, want := range map[string]bool{
		"/search?q=%3Cscript%3E":                         true,
		"/search?page=2&q=union%20select&sort=new":       true,
		"/search?id=union%20select":                      false,
		"/search?q=union%20select&id=1%20union%20select": false,
		"/search/%3Cscript%3E?q=new":                     false,
		"/phpmyadmin/?q=%3Cscript%3E":                    false,
		"/search/..%2f..%2f..%2fetc/x?q=%3Cscript":       false,
	} {
		if IsSearched([]byte(target)) != want {
			t.Errorf("%s: %v", target, !want)
		}
	}
}

func TestIsAttack(t *testing.T) {
	for target, want := range map[string]bool{
		"/shop/7?q=caf%C3%A9+(new)&sort=price":        false,
		"/shop/%D8%B3%D9%84%D8%A7%D9%85/100%25":       false,
		"/a?text=line%0D%0Aline":                      false,
		"/../img/1.png":                               false,
		"/%3Ca%20href=x%3E":                           false,
		"/?q=100%":                                    false,
		"/reviews/acunetix":                           false,
		"/news/?x=%3CscRipt%3Ealert(0)":               true,
		"/a.js?x=%253cscript%253e":                    true,
		"/?id=1+UNION+ALL%20SELECT+2":                 true,
		"/show?file=../../../../etc/x":                true,
		"/..%2f..%2f..%2fx":                           true,
		"/assets/klk%0d%0ans%3a%20netsparker056650":   true,
		"/?x=${jndi:ldap://x}":                        false, // no sign that most targets lack
		"/?x=%24%7bjndi:ldap://x%7d":                  true,
		"/x?y=%22%2bgethostbyname(trim(%279hmp%27))":  true,
		"/x?y=1;waitfor%20delay%20'0:0:9'--&z=%3d%3d": true,
	} {
		if IsAttack([]byte(target)) != want {
			t.Errorf("%s: %v", target, !want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { IsAttack([]byte("/%3cScript%3e")) }); n > 0 {
		t.Errorf("allocates %g times", n)
	}
}
