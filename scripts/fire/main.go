// Command fire sends HTTP requests to servers that listen on Unix sockets, all of them at the same moments: a fixed
// schedule of ten seconds and a dozen clients, each of which names itself in the header X-Client. No request waits for the
// answer to another.
//
//	fire SOCKET…
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: fire SOCKET…")
		os.Exit(2)
	}
	var failed sync.Map
	var all sync.WaitGroup
	start := time.Now().Add(100 * time.Millisecond)
	for _, socket := range os.Args[1:] {
		client := clientOf(socket)
		for _, s := range schedule() {
			all.Go(func() {
				time.Sleep(time.Until(start.Add(s.at)))
				if err := send(client, s.client); err != nil {
					failed.Store(socket, err)
				}
			})
		}
	}
	all.Wait()
	status := 0
	failed.Range(func(socket, err any) bool {
		fmt.Fprintf(os.Stderr, "fire: %v: %v\n", socket, err)
		status = 1
		return true
	})
	os.Exit(status)
}

// clientOf returns an HTTP client that finds every host behind the socket.
func clientOf(socket string) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 100}}
}

// send makes one request. Whatever the server answers will do.
func send(client *http.Client, name string) error {
	r, err := http.NewRequest(http.MethodGet, "http://localhost/", nil)
	if err != nil {
		return err
	}
	r.Header.Set("X-Client", name)
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
