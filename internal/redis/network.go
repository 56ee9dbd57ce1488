//go:build !nostore && !js

package redis

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"

	"shadow/internal/textfile"
)

// What addresses need of the network lies here, so that a build without Redis has neither sockets nor TLS in it.

type tlsConfig = tls.Config

// withPort returns a host with its port, or else with the usual one.
func withPort(host, usual string) string {
	if _, _, err := net.SplitHostPort(host); err != nil {
		return net.JoinHostPort(strings.Trim(host, "[]"), usual)
	}
	return host
}

// readTLS reads the options of TLS.
func readTLS(take func(name string) string) (*tlsConfig, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: take("server-name")}
	if name := take("ca"); name != "" {
		pem, err := textfile.Read(name, textfile.Most)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", name)
		}
	}
	if cert, key := take("cert"), take("key"); cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
