//go:build !nostore

package redis

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"shadow/internal/redis/redistest"
)

func TestParseAddress(t *testing.T) {
	tcp := func(kind topology, hosts ...string) Address {
		return Address{topology: kind, hosts: hosts}
	}
	with := func(a Address, change func(*Address)) Address { change(&a); return a }
	for text, want := range map[string]Address{
		"redis://localhost":                           tcp(single, "localhost:6379"),
		"redis://10.0.0.1:7000/3":                     with(tcp(single, "10.0.0.1:7000"), func(a *Address) { a.database = 3 }),
		"redis://me@[::1]":                            with(tcp(single, "[::1]:6379"), func(a *Address) { a.user = "me" }),
		"redis://[::1]:7000":                          tcp(single, "[::1]:7000"),
		"redis://a,b:7":                               tcp(ring, "a:6379", "b:7"),
		"redis://a redis://b":                         tcp(ring, "a:6379", "b:6379"),
		"redis+cluster://a:1,b:2":                     tcp(cluster, "a:1", "b:2"),
		"redis+sentinel://a,b:9/main/2":               with(tcp(sentinel, "a:26379", "b:9"), func(a *Address) { a.master, a.database = "main", 2 }),
		"unix:///run/redis.sock?db=1":                 {topology: socket, hosts: []string{"/run/redis.sock"}, database: 1},
		"redis://us%40er@h":                           with(tcp(single, "h:6379"), func(a *Address) { a.user = "us@er" }),
		"redis://localhost:6379/":                     tcp(single, "localhost:6379"),
		"redis+cluster://a redis://b":                 {}, // and the rest are errors
		"unix:///a unix:///b":                         {},
		"localhost":                                   {},
		"http://localhost":                            {},
		"redis://":                                    {},
		"redis://a,,b":                                {},
		"redis://localhost/x":                         {},
		"redis://localhost/70000":                     {},
		"redis://:secret@localhost":                   {},
		"redis://localhost?ca=x":                      {},
		"redis+cluster://a/1":                         {},
		"redis+sentinel://a":                          {},
		"redis+sentinel://a/main/x":                   {},
		"unix://":                                     {},
		"unix:///a?db=x":                              {},
		"rediss://localhost?ca=/nowhere":              {},
		"rediss://localhost?cert=/nowhere&key=/never": {},
		"rediss://localhost?frob=1":                   {},
	} {
		got, err := ParseAddress(strings.Fields(text)...)
		if (err != nil) != (len(want.hosts) == 0) {
			t.Errorf("%s: error %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", text, err)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	if _, err := ParseAddress(); err == nil {
		t.Error("no address is no error")
	}
}

// Encrypted, with a user and a password.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key)
	s := startTCP(t)
	port := fmt.Sprint(redistest.FreePort(t))
	s.Kill()
	s.Args = append(s.Args, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert,
		"--tls-auth-clients", "no", "--user", "me", "on", ">secret", "~*", "+@all")
	s.Start()
	for text, wrong := range map[string]bool{
		"rediss://me@127.0.0.1:" + port + "?ca=" + cert:                        false,
		"rediss://me@127.0.0.1:" + port + "?server-name=other.test&ca=" + cert: true,
		"rediss://me@127.0.0.1:" + port:                                        true,
		"redis://me@127.0.0.1:" + port:                                         true,
		"rediss://you@127.0.0.1:" + port + "?ca=" + cert:                       true,
	} {
		a, err := ParseAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		r := Open(Options{Address: a, Password: "secret", Host: "h"})
		if err := r.Ping(context.Background()); (err != nil) != wrong {
			t.Errorf("%s: %v", text, err)
		}
		r.Close()
	}
}

// writeCertificate writes a certificate for 127.0.0.1 that vouches for itself.
func writeCertificate(t *testing.T, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
