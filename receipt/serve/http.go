package serve

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/receiptkit/receiptkit/internal/conn"
)

// Limits for a connection.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute // between requests on a connection
	maxHeaderBytes = 16 << 10
)

// mostConnections is the default maximum number of open connections. Each connection uses about 20
// KiB.
const mostConnections = 4096

// HTTPServer returns an http.Server that serves h within limits that a Server does not set itself:
// 10 seconds and 16 KiB for a request's header (net/http adds 4 KiB), two minutes between requests,
// and a maximum number of connections, which is 4096 if the argument is 0. These limits do not
// apply to bodies and responses, because a stream may last long; a Server limits each read and
// write. It supports HTTP/1.1. HTTP/2 is supported only over TLS, if the caller configures TLS. The
// caller must not replace its ConnState and ConnContext.
//
// To accept another connection, it closes an existing connection, of the first kind that exists:
// the connection that has waited longest without sending a request or presenting an API key, the
// connection that was answered longest ago without a key, or the connection that has waited longest
// with a key. Connections with a request in progress that has a key are never closed. At most a
// quarter of the connections may be waiting without having presented a key.
//
// A connection has 250 ms to send its first request. During that time, it is not closed in favor of
// another connection. If there are too many such connections, additional connections wait to be
// accepted.
func HTTPServer(h http.Handler, log *slog.Logger, connections int) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}

	hs := &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		Protocols:                    protocols(),
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	conn.Limit(hs, orElse(connections, mostConnections))
	return hs
}

// protocols returns HTTP/1 and HTTP/2. HTTP/2 is used only over TLS.
func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	return p
}
