package traffic

import (
	"math"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/intern"
	"shadow/limit"
)

func TestNetworkOf(t *testing.T) {
	for _, c := range []struct {
		key          request.Key
		client, want string // "": stays alone
	}{
		{"client/24", "192.0.2.7", "192.0.2.0/24"},
		{"client/24", "192.0.2.255", "192.0.2.0/24"},
		{"client/24", "192.0.3.7", "192.0.3.0/24"},
		{"client/24", "::ffff:192.0.2.7", "192.0.2.0/24"},
		{"client/24", "2001:db8::7", ""},
		{"client/24", "192.0.2.0/24", ""},
		{"client/24", "shop.example", ""},
		{"client/24", "-", ""},
		{"client/64", "2001:db8:1:2:3::7", "2001:db8:1:2::/64"},
		{"client/64", "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"},
		{"client/64", "2001:db8:1:3::7", "2001:db8:1:3::/64"},
		{"client/64", "192.0.2.7", ""},
		{"client/64", "::ffff:192.0.2.7", ""},
		{"client/8", "192.0.2.7", "192.0.0.0/8"},
		{"client/20", "192.0.31.7", "192.0.16.0/20"},
		{"client/32", "192.0.2.7", "192.0.2.7/32"},
		{"client/33", "192.0.2.7", ""},
		{"client/32", "2001:db8::7", ""},
		{"client/33", "2001:db8:8000::7", "2001:db8:8000::/33"},
		{"client/128", "2001:db8::7", "2001:db8::7/128"},
		{"client/24/32", "192.0.2.7", "192.0.2.0/24"},
		{"client/24/32", "2001:db8:1::7", "2001:db8::/32"},
		{"client/32/40", "2001:db8:1ff::7", "2001:db8:100::/40"},
		{"client/8/64", "-", ""},
	} {
		got := ""
		if network, ok := NetworkOf(c.key.Parts()[0], c.client); ok {
			got = network.String()
		}
		if got != c.want {
			t.Errorf("%s puts %s in %q, want %q", c.key, c.client, got, c.want)
		}
	}
}

// A batch keeps its users and paths wherever its rows go.
func TestUsersAndPathsGoWithTheirRows(t *testing.T) {
	b := &Batch{
		At: []limit.Time{3, 1, 2}, Client: []int32{0, 0, 0}, Agent: make([]uint16, 3), Action: make([]uint16, 3), Status: make([]uint16, 3),
		Bytes: make([]int64, 3), User: []int32{7, NoUser, 9}, Path: []int32{4, 5, 6},
	}
	var picked Batch
	picked.Append(b, []int32{2, 0})
	if !slices.Equal(picked.Path, []int32{6, 4}) || len(picked.Rows(0, 1).Path) != 1 {
		t.Errorf("picked paths %v", picked.Path)
	}
	if picked.User[0] != 9 || picked.User[1] != 7 || picked.Rows(0, 1).Len() != 1 || len(picked.Rows(0, 1).User) != 1 {
		t.Errorf("picked %v", picked.User)
	}
	taken := NewBatch(3, Columns{User: true, Path: true})
	taken.Take(b, 1, 3)
	if !slices.Equal(taken.Path, []int32{5, 6}) {
		t.Errorf("took paths %v", taken.Path)
	}
	if len(taken.User) != 2 || taken.User[0] != NoUser || taken.User[1] != 9 {
		t.Errorf("took %v", taken.User)
	}
	b.Move(0, 1, 3)
	if !slices.Equal(b.Path, []int32{5, 6, 6}) {
		t.Errorf("moved paths to %v", b.Path)
	}
	if b.User[0] != NoUser || b.User[1] != 9 {
		t.Errorf("moved to %v", b.User)
	}
}

// Pairs get the ids that a map would give them, and come back from them.
func TestPairs(t *testing.T) {
	rng := testneeds.Rand(t, 4, 1)
	for _, most := range []int32{1, 50, 3000, math.MaxInt32} {
		var p pairs
		twin := map[[2]int32]int32{}
		for range 20_000 {
			pair := [2]int32{rng.Int32N(most), rng.Int32N(most)}
			if _, known := twin[pair]; !known {
				twin[pair] = int32(len(twin))
			}
			if id := p.id(pair[0], pair[1]); id != twin[pair] || p.n != len(twin) {
				t.Fatalf("%v has id %d of %d, want %d of %d", pair, id, p.n, twin[pair], len(twin))
			}
		}
		for pair, id := range twin {
			if firsts, seconds := p.split([]int32{id}); firsts[0] != pair[0] || seconds[0] != pair[1] {
				t.Fatalf("id %d is %d and %d, want %v", id, firsts[0], seconds[0], pair)
			}
		}
	}
}

// A copy of tables may have other clients: their networks are theirs.
func TestNetworksOfOtherClients(t *testing.T) {
	tables := NewTables()
	for _, name := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1", "-"} {
		tables.Clients.ID([]byte(name))
	}
	if of := tables.networksOf(request.Key("client/24").Parts()[0]).of; !slices.Equal(of, []int32{0, 0, 1, 2}) {
		t.Errorf("groups %v", of)
	}
	other := *tables
	other.Clients = intern.NewDict()
	for _, name := range []string{"198.51.100.7", "192.0.2.1", "2001:db8::9"} {
		other.Clients.ID([]byte(name))
	}
	if of := other.networksOf(request.Key("client/24/32").Parts()[0]).of; !slices.Equal(of, []int32{0, 1, 2}) {
		t.Errorf("groups of others %v", of)
	}
	if a := other.Addresses(); a.At(0).String() != "198.51.100.7" || !a.Is6(2) || a.At(2).String() != "2001:db8::9" {
		t.Errorf("addresses of others %v", a)
	}
}
