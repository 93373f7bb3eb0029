package serve

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol/conn"
)

// Bounds of a connection.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute // between requests of a connection
	maxHeaderBytes = 16 << 10
)

// MaxConnections is how many connections are open at the same time, unless
// LimitConnections says otherwise. Each takes some 20 KiB.
const MaxConnections = 4096

// HTTPServer returns an http.Server that serves h with the bounds that a Server
// does not set for itself: a request's header within 10 seconds and 16 KiB (net/http
// adds 4 KiB), two minutes between requests, [MaxConnections] connections. Bodies and
// answers have no limit there, since a stream may take long; a Server bounds every
// read and write of its own. It speaks HTTP/1.1, and HTTP/2 only over TLS when the
// caller configures it.
func HTTPServer(h http.Handler, log *slog.Logger) *http.Server {
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

	LimitConnections(hs, MaxConnections)
	return hs
}

// protocols leaves HTTP/2 without TLS out.
func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	return p
}

// LimitConnections bounds how many connections a server has open at the same time. For
// one more it closes another, of the first kind that there is: the one that has waited
// longest without ever having sent a request, without having shown an API key, the one
// that has been answered longest without one, and the one that has waited longest with
// one. Connections on which a request with a key is being answered are never closed. At
// most a quarter of the connections wait without having shown a key.
//
// A connection has a quarter of a second to send its first request: until then it is closed
// for no other, and where such connections are too many, the next wait until they are
// accepted.
//
// It sets the ConnState and the ConnContext of the server, and has to be called before
// the server is used.
func LimitConnections(hs *http.Server, most int) { conn.Limit(hs, most) }
