package detect

import (
	"fmt"
	"net/http"
	"testing"
)

// All statuses that are registered are known.
func TestStatuses(t *testing.T) {
	others := map[int]bool{0: true, 444: true, 460: true}
	for status := range 1000 {
		known := http.StatusText(status) != "" || others[status] || status >= 494 && status <= 499 || status >= 520 && status <= 530
		if value := fmt.Sprintf("%03d", status); isStatus(value) != known {
			t.Errorf("%s: known is %t, want %t", value, isStatus(value), known)
		}
	}
	for value, want := range map[string]bool{"-": true, "": false, "20": false, "0200": false, "abc": false} {
		if isStatus(value) != want {
			t.Errorf("%q: want %t", value, want)
		}
	}
}
