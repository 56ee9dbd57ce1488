package redis

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
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
// with rediss in place of redis for TLS, then also ?ca=FILE, ?cert=FILE&key=FILE and ?server-name=NAME. An address
// may name a user, but it must not contain a password: everybody can read command lines, and the run keeps them. The
// parsers of net/url and of the client library quote parts of an address in their errors, perhaps a password, so
// neither is used.

// A topology is how servers belong together.
type topology uint8

const (
	single topology = iota
	ring
	cluster
	sentinel
	socket
)

// An Address says where Redis is.
type Address struct {
	topology topology
	hosts    []string // with ports; of a socket, its path
	master   string   // what sentinels call the server
	database int
	user     string
	tls      *tlsConfig // nil: none
}

var errPassword = errors.New("a password does not belong into the address, which others can read; " +
	"put it into SHADOW_REDIS_PASSWORD or a file")

// ParseAddress reads one or more addresses. Several must be of single servers, which then form a ring.
func ParseAddress(texts ...string) (Address, error) {
	var all Address
	for i, text := range texts {
		a, err := parseAddress(text)
		if err != nil {
			if scheme, rest, found := strings.Cut(text, "://"); found && strings.Contains(rest, "@") {
				text = scheme + "://…" + rest[strings.LastIndex(rest, "@"):] // what stands before may be a password
			}
			return Address{}, fmt.Errorf("address %q: %w", text, err)
		}
		if i == 0 {
			all = a
			continue
		}
		if a.topology > ring || all.topology > ring {
			return Address{}, errors.New("several addresses make a ring, so each must be that of a single server, redis://HOST")
		}
		all.topology, all.hosts = ring, append(all.hosts, a.hosts...)
	}
	if len(all.hosts) == 0 {
		return Address{}, errors.New("no address of a Redis server")
	}
	return all, nil
}

// schemes are the beginnings of addresses. Those with an s are encrypted.
var schemes = map[string]topology{
	"redis": single, "rediss": single, "unix": socket,
	"redis+cluster": cluster, "rediss+cluster": cluster, "redis+sentinel": sentinel, "rediss+sentinel": sentinel,
}

func parseAddress(text string) (a Address, err error) {
	scheme, rest, found := strings.Cut(text, "://")
	kind, known := schemes[scheme]
	if !found || !known {
		return a, errors.New("want one such as redis://localhost:6379, rediss://…, redis+cluster://…, " +
			"redis+sentinel://HOST/MASTER or unix:///run/redis.sock")
	}
	a.topology = kind
	rest, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return a, fmt.Errorf("its options cannot be read: %w", err)
	}
	take := func(name string) string {
		defer values.Del(name)
		return values.Get(name)
	}
	var database string
	if kind == socket {
		database = take("db")
		if rest == "" {
			return a, errors.New("names no socket")
		}
		path, err := filepath.Abs(rest)
		if err != nil {
			return a, err
		}
		a.hosts = []string{path}
	} else if database, err = a.readHosts(rest); err != nil {
		return a, err
	}
	if database != "" && kind == cluster {
		return a, errors.New("a cluster has no databases to choose from")
	}
	number, err := strconv.ParseUint(cmp.Or(database, "0"), 10, 16)
	if err != nil {
		return a, fmt.Errorf("%q is no number of a database", database)
	}
	a.database = int(number)
	if strings.HasPrefix(scheme, "rediss") {
		if a.tls, err = readTLS(take); err != nil {
			return a, err
		}
	}
	for name := range values {
		return a, fmt.Errorf("unknown option %q", name)
	}
	return a, nil
}

// readHosts reads what stands between the scheme and the options: the user, the hosts, and the name that sentinels
// know. It returns the number of the database.
func (a *Address) readHosts(text string) (database string, err error) {
	hosts, database, _ := strings.Cut(text, "/")
	if at := strings.LastIndex(hosts, "@"); at >= 0 {
		if strings.Contains(hosts[:at], ":") {
			return "", errPassword
		}
		if a.user, err = url.PathUnescape(hosts[:at]); err != nil {
			return "", err
		}
		hosts = hosts[at+1:]
	}
	port := "6379"
	if a.topology == sentinel {
		port = "26379"
		if a.master, database, _ = strings.Cut(database, "/"); a.master == "" {
			return "", errors.New("lacks what the sentinels call the server: redis+sentinel://HOST/MASTER")
		}
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host == "" {
			return "", errors.New("lacks the name of a host")
		}
		a.hosts = append(a.hosts, withPort(host, port))
	}
	if a.topology == single && len(a.hosts) > 1 {
		a.topology = ring
	}
	return database, nil
}
