package testneeds

import (
	"net"
	"os"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

// Records holds the records of a database of networks, by their prefixes: texts, numbers and further maps.
type Records map[string]map[string]any

// MMDB writes a database of networks.
func MMDB(name, kind string, records Records) error {
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: kind, IncludeReservedNetworks: true})
	if err != nil {
		return err
	}
	for prefix, record := range records {
		_, network, err := net.ParseCIDR(prefix)
		if err != nil {
			return err
		}
		if err := tree.Insert(network, mmdbMap(record)); err != nil {
			return err
		}
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err := tree.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}

func mmdbMap(record map[string]any) mmdbtype.Map {
	m := mmdbtype.Map{}
	for key, value := range record {
		switch v := value.(type) {
		case string:
			m[mmdbtype.String(key)] = mmdbtype.String(v)
		case uint32:
			m[mmdbtype.String(key)] = mmdbtype.Uint32(v)
		case map[string]any:
			m[mmdbtype.String(key)] = mmdbMap(v)
		}
	}
	return m
}

// Owner returns the record of a network as MaxMind and DB-IP have it.
func Owner(asn uint32, name, country string) map[string]any {
	return map[string]any{
		"autonomous_system_number": asn, "autonomous_system_organization": name, "country": map[string]any{"iso_code": country},
	}
}
