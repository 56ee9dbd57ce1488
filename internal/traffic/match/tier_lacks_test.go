package match

import (
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/parse/detect"
)

// A warning says what tiers go by and a log does not have; what no tier goes by may be missing.
func TestTiersLack(t *testing.T) {
	for _, c := range []struct {
		format string
		tier   request.Tier
		want   []string
	}{
		{"$http_x_key [$time_local]", request.Tier{Networks: []string{"private"}}, []string{notLogged("the address")}},
		{"$remote_addr [$time_local]", request.Tier{Networks: []string{"private"}}, nil},
		{"$remote_addr [$time_local]", request.Tier{Users: []string{"ann"}}, []string{notLogged("the user")}},
		{"$remote_user [$time_local]", request.Tier{Users: []string{"ann"}}, nil},
	} {
		c.tier.Name = "partners"
		tiers, err := NewTiers([]request.Tier{c.tier}, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := detect.Choice{Format: c.format}.For(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := tiers.lacks(found.Format); !slices.Equal(got, c.want) {
			t.Errorf("%+v with %s: %q, want %q", c.tier, c.format, got, c.want)
		}
	}
}
