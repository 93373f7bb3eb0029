package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// An httpServer runs a server until its context ends.
type httpServer struct {
	server  *serve.Server
	handler http.Handler
	log     *slog.Logger
	files   *watchedFiles
	grace   time.Duration
	clients string // description of the accepted clients, for the log

	connections int // maximum number of connections; 0 means the default
}

// run serves requests until ctx is done, and then waits for current requests to end.
func (h *httpServer) run(ctx context.Context, e *cli.Env, addr string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return ListenFailure(addr, err)
	}

	// From here on, the first signal ends ctx, and a second signal ends requests that are still
	// running.
	e.MayTake(h.grace + time.Second)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	server := serve.HTTPServer(h.handler, h.log, h.connections)

	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()

	stopWatch := h.startWatch()
	defer stopWatch()

	// Other programs may wait for this line. The server accepts connections from here on.
	h.log.Info("listening", "address", listener.Addr().String(), "clients", h.clients)
	if _, err := fmt.Fprintf(e.Out, "listening on http://%s\n", listener.Addr()); err != nil {
		server.Close()
		return err
	}

	select {
	case err := <-failed:
		return cli.Usage("", "%w", err)
	case <-ctx.Done():
	}

	return h.shutdown(server, signals)
}

// startWatch reloads files when they change, and reloads all files on SIGHUP on systems that have
// this signal.
func (h *httpServer) startWatch() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() { defer close(ended); h.files.run(ctx, watchInterval, signals) }()
	return func() { signal.Stop(signals); cancel(); <-ended }
}

// shutdown rejects new requests, and waits for current requests to end. It returns early if the
// grace period ends or a second signal arrives.
func (h *httpServer) shutdown(server *http.Server, signals <-chan os.Signal) error {
	h.server.Drain()
	h.log.Info("shutting down; a second signal ends requests that are still being answered", "timeout", h.grace.String())
	ctx, cancel := context.WithTimeout(context.Background(), h.grace)
	defer cancel()

	// Shutdown returns when the requests have ended or the grace period is over.
	ended := make(chan error, 1)
	go func() { ended <- server.Shutdown(ctx) }()
	for came := 0; came < 2; {
		select {
		case err := <-ended:
			if err != nil {
				server.Close()
				return cli.Usage("allow more time with --shutdown-timeout", "requests were aborted: they did not end within %s", h.grace)
			}
			h.log.Info("stopped")
			return nil
		case <-signals: // this channel also receives the first signal
			came++
		}
	}

	server.Close()
	return cli.Usage("", "requests were aborted by a second signal")
}

// ListenFailure describes why a port could not be opened.
func ListenFailure(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return cli.Usage("stop the other program, or specify another port with --addr; port 0 selects a free one", "%q: the port is in use", addr)
	case errors.Is(err, fs.ErrPermission):
		return cli.Usage("ports below 1024 need a privilege (on Linux CAP_NET_BIND_SERVICE); others do not", "%q: this user may not listen on this port", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT):
		return cli.Usage("specify an address of this machine", "%q: this machine has no such address", addr)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return cli.Usage("", "%q: %w", addr, err)
}
