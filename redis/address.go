package redis

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// Where Redis is, is written as
//
//	redis://HOST[:PORT][/DATABASE]                    one server; rediss:// for TLS
//	unix:///PATH[?db=N]                               one server, by its socket
//	redis://HOST,HOST…                                several that know nothing of each other: keys are spread over them
//	redis+cluster://HOST[,HOST…]                      some nodes of a cluster
//	redis+sentinel://HOST[,HOST…]/MASTER[/DATABASE]   some sentinels, and what they call the server
//
// with rediss in place of redis for TLS, then also ?ca=FILE, ?cert=FILE&key=FILE and ?server-name=NAME. There is room
// for a user but not for a password: command lines can be read by everybody, and are kept with the run.

// A topology is how servers belong together.
type topology uint8

const (
	single topology = iota
	ring
	cluster
	sentinel
)

// An Address says where Redis is.
type Address struct {
	topology topology
	network  string   // tcp or unix
	hosts    []string // with ports
	master   string   // what sentinels call the server
	database int
	user     string
	tls      *tls.Config // nil: none
}

var errPassword = errors.New("a password does not belong into the address, which others can read; put it into SHADOW_REDIS_PASSWORD or a file")

// ParseAddress reads one or more addresses. Several must be of single servers, which then form a ring.
func ParseAddress(texts ...string) (Address, error) {
	var all Address
	for i, text := range texts {
		a, err := parseAddress(text)
		if err != nil {
			return Address{}, fmt.Errorf("address %q: %w", redacted(text), err)
		}
		if i == 0 {
			all = a
			continue
		}
		if a.topology > ring || all.topology > ring || a.network != "tcp" || all.network != "tcp" {
			return Address{}, errors.New("several addresses make a ring, so each must be that of a single server, redis://HOST")
		}
		all.topology, all.hosts = ring, append(all.hosts, a.hosts...)
	}
	if len(all.hosts) == 0 {
		return Address{}, errors.New("no address of a Redis server")
	}
	return all, nil
}

// redacted is an address without what may be a password.
func redacted(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if at := strings.LastIndex(rest, "@"); found && at >= 0 {
		return scheme + "://…" + rest[at:]
	}
	return text
}

// schemes tell how an address begins. Those with an s are encrypted.
var schemes = map[string]topology{
	"redis": single, "rediss": single, "unix": single,
	"redis+cluster": cluster, "rediss+cluster": cluster, "redis+sentinel": sentinel, "rediss+sentinel": sentinel,
}

func parseAddress(text string) (Address, error) {
	scheme, rest, found := strings.Cut(text, "://")
	kind, known := schemes[scheme]
	if !found || !known {
		return Address{}, errors.New("want one such as redis://localhost:6379, rediss://…, redis+cluster://…, redis+sentinel://HOST/MASTER or unix:///run/redis.sock")
	}
	rest, query, _ := strings.Cut(rest, "?")
	options, err := url.ParseQuery(query)
	if err != nil {
		return Address{}, fmt.Errorf("its options cannot be read: %w", err)
	}
	a := Address{topology: kind, network: "tcp"}
	if scheme == "unix" {
		return a.unix(rest, options)
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if err := a.whom(&hosts); err != nil {
		return Address{}, err
	}
	if err := a.where(hosts); err != nil {
		return Address{}, err
	}
	if err := a.what(path); err != nil {
		return Address{}, err
	}
	if strings.HasPrefix(scheme, "rediss") {
		a.tls, err = secure(options)
		return a, err
	}
	return a, unknown(options)
}

// unix reads the address of a socket.
func (a Address) unix(path string, options url.Values) (Address, error) {
	a.network, a.hosts = "unix", []string{path}
	if db := options.Get("db"); db != "" {
		options.Del("db")
		if err := a.number(db); err != nil {
			return Address{}, err
		}
	}
	if path == "" {
		return Address{}, errors.New("names no socket")
	}
	return a, unknown(options)
}

// whom takes the user off the hosts.
func (a *Address) whom(hosts *string) error {
	at := strings.LastIndex(*hosts, "@")
	if at < 0 {
		return nil
	}
	user := (*hosts)[:at]
	*hosts = (*hosts)[at+1:]
	if strings.Contains(user, ":") {
		return errPassword
	}
	var err error
	a.user, err = url.PathUnescape(user)
	return err
}

// where reads the hosts.
func (a *Address) where(hosts string) error {
	port := "6379"
	if a.topology == sentinel {
		port = "26379"
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host == "" {
			return errors.New("lacks the name of a host")
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		a.hosts = append(a.hosts, host)
	}
	if a.topology == single && len(a.hosts) > 1 {
		a.topology = ring
	}
	return nil
}

// what reads the path: the name that sentinels know, the number of the database.
func (a *Address) what(path string) error {
	if a.topology == sentinel {
		a.master, path, _ = strings.Cut(path, "/")
		if a.master == "" {
			return errors.New("lacks what the sentinels call the server: redis+sentinel://HOST/MASTER")
		}
	}
	if path == "" {
		return nil
	}
	if a.topology == cluster {
		return errors.New("a cluster has no databases to choose from")
	}
	return a.number(path)
}

func (a *Address) number(text string) error {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is no number of a database", text)
	}
	a.database = int(n)
	return nil
}

// secure reads the options of TLS.
func secure(options url.Values) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: take(options, "server-name")}
	if name := take(options, "ca"); name != "" {
		pem, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", name)
		}
	}
	if cert, key := take(options, "cert"), take(options, "key"); cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, unknown(options)
}

func take(options url.Values, name string) string {
	value := options.Get(name)
	options.Del(name)
	return value
}

// unknown is the error of options that nobody took.
func unknown(options url.Values) error {
	for name := range options {
		return fmt.Errorf("unknown option %q", name)
	}
	return nil
}
