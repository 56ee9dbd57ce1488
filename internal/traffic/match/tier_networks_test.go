package match

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
)

// Networks of both families are dense here, so that they hold and equal each other.
func randomPrefix(random *rand.Rand) netip.Prefix {
	p, err := randomAddr(random).Prefix(24 + random.IntN(9))
	if err != nil {
		panic(err)
	}
	return p
}

func randomAddr(random *rand.Rand) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint32(b[:], 0x20010000+random.Uint32N(1<<10))
	if random.IntN(2) == 0 {
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	return netip.AddrFrom16(b)
}

func TestNetworkTableAgreesWithSearch(t *testing.T) {
	for seed := range uint64(200) {
		random := testneeds.Rand(t, seed, 1)
		var table networkTable
		var all []netip.Prefix
		for range random.IntN(60) {
			all = append(all, randomPrefix(random))
			table.add(all[len(all)-1], uint8(len(all)-1))
		}
		table.sort()
		for range 100 {
			addr, want := randomAddr(random), uint8(99)
			for id, p := range all {
				if p.Contains(addr) {
					want = min(want, uint8(id))
				}
			}
			if got := table.of(addr, 99); got != want {
				t.Fatalf("seed %d: %s is in %d, want %d of %v", seed, addr, got, want, all)
			}
		}
	}
}

// A list of blocked or trusted addresses may have millions of entries.
func TestMillionsOfNetworks(t *testing.T) {
	const n = 2_000_000
	networks := make([]string, n)
	for i := range networks {
		networks[i] = netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(i)*2027))).String()
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tiers, err := NewTiers([]request.Tier{{Name: "exempt", Networks: networks, Exempt: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20; grown > 24*n>>20+8 {
		t.Errorf("%d networks take %d MB", n, grown)
	}
	if id := tiers.networks.of(netip.MustParseAddr(networks[n/2]), 7); id != 0 {
		t.Errorf("a listed address is in tier %d", id)
	}
	runtime.KeepAlive(networks)
}
