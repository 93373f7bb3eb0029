package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// serveHTTP serves requests until ctx ends, and then waits up to 40 seconds for the requests in
// progress. The function announce is called with the URL.
func serveHTTP(ctx context.Context, address string, handler http.Handler, announce func(url string)) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	announce("http://" + listener.Addr().String())

	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}

	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
	defer cancel()
	err = server.Shutdown(grace)
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// isLoopback reports whether an address can be reached only from this machine.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
