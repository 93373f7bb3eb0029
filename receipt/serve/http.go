package serve

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/receiptkit/receiptkit/internal/conn"
)

// These are limits on a connection.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute // time between two requests on a connection
	maxHeaderBytes = 16 << 10
)

// mostConnections is the default for the maximum number of open connections. Each connection uses
// about 20 KiB.
const mostConnections = 4096

// HTTPServer returns an http.Server that serves h. It sets limits that a Server does not set
// itself: 10 seconds and 16 KiB for the header of a request (net/http adds 4 KiB), two minutes
// between requests, and a maximum number of connections, which is 4096 if connections is 0. These
// limits do not apply to bodies and responses, because a stream may last for a long time; a Server
// limits each read and write instead. It supports HTTP/1.1. HTTP/2 is supported only over TLS,
// which the caller must configure. The caller must not replace ConnState and ConnContext.
//
// To accept a connection over the maximum, the server closes an existing connection. It closes the
// first of the following that exists: the connection that has waited longest without having sent a
// request, the connection without an API key that was answered longest ago, the connection without
// a key whose request has been in progress longest, and the connection with a key that has waited
// longest. A connection with a request in progress that has presented a key is never closed. At
// most a quarter of the connections may be waiting without having presented a key.
//
// A new connection has 250 ms to send its first request. During that time, it is not closed in
// favor of another connection. If there are too many new connections, further connections wait to
// be accepted.
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
