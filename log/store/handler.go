package store

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// patience is how long a request waits for a checkpoint. After that, the client repeats the
// request.
const patience = 30 * time.Second

// Handler returns a handler for the routes of the log:
//
//	POST /add            body: a receipt hash, "sha256:" and 64 hexadecimal digits; answer: a tlog-proof
//	GET  /proof/{hash}   a tlog-proof of a hash that is in the log
//	GET  /checkpoint     the last published checkpoint
//	GET  /tile/…         tiles and entries (C2SP tlog-tiles)
//
// If token is not empty, requests to /add must present it as a bearer token (RFC 6750).
func (l *Log) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add", func(w http.ResponseWriter, r *http.Request) {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is required to add hashes", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1024))
		if err != nil {
			http.Error(w, "expected a body of 71 bytes", http.StatusBadRequest)
			return
		}
		l.serveProof(w, r, strings.TrimSuffix(string(body), "\n"), l.Add)
	})
	mux.HandleFunc("GET /proof/{hash}", func(w http.ResponseWriter, r *http.Request) {
		l.serveProof(w, r, r.PathValue("hash"), l.Proof)
	})
	mux.HandleFunc("GET /checkpoint", func(w http.ResponseWriter, r *http.Request) {
		note, err := l.Checkpoint()
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Write(note)
	})
	mux.HandleFunc("GET /tile/", l.serveTile)
	return mux
}

// serveProof responds with the proof that get returns for a hash.
func (l *Log) serveProof(w http.ResponseWriter, r *http.Request, text string, get func(context.Context, canon.Digest) ([]byte, error)) {
	hash, err := canon.ParseDigest(text)
	if err != nil {
		http.Error(w, `expected a receipt hash: "sha256:" and 64 lowercase hexadecimal digits`, http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()

	proof, err := get(ctx, hash)
	var damage *damageError
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write(proof)
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, "the log does not have this hash", http.StatusNotFound)
	case errors.As(err, &damage):
		l.warn(err)
		http.Error(w, "the log is damaged: it cannot read the hash tiles of the proof", http.StatusInternalServerError)
	case errors.Is(err, context.DeadlineExceeded):
		detail := "no published checkpoint includes this hash yet"
		if len(l.config.Policy.Witnesses) > 0 {
			detail = "no checkpoint that the witness quorum has cosigned includes this hash yet"
		}
		retry(w, detail)
	case errors.Is(err, ErrBusy), errors.Is(err, context.Canceled):
		retry(w, "the log is busy")
	default:
		l.warn(err)
		retry(w, "the log cannot add this hash now")
	}
}

// retry responds that a later request may succeed.
func retry(w http.ResponseWriter, detail string) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, detail, http.StatusServiceUnavailable)
}

// tilePath matches the paths defined by C2SP tlog-tiles, each of which has only one spelling.
var tilePath = regexp.MustCompile(`^/tile/(entries|[0-9]|[1-5][0-9]|6[0-3])((?:/x[0-9]{3})*/[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?$`)

func (l *Log) serveTile(w http.ResponseWriter, r *http.Request) {
	if !l.implied(r.URL.Path) {
		http.NotFound(w, r)
		return
	}
	data, err := os.ReadFile(filepath.Join(l.config.Dir, filepath.FromSlash(r.URL.Path)))
	full, _, partial := strings.Cut(r.URL.Path, ".p/")
	switch {
	case errors.Is(err, fs.ErrNotExist) && partial && l.implied(full): // the log may have deleted it
		http.NotFound(w, r)
		return
	case err != nil:
		l.warn(&damageError{err})
		http.Error(w, "the log is damaged: it cannot read this tile", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Write(data)
}

// implied reports whether the published checkpoint covers all hashes or entries in a tile. After a
// crash, other tiles may be written again with different content, and caches would keep the first
// version.
func (l *Log) implied(path string) bool {
	parts := tilePath.FindStringSubmatch(path)
	if parts == nil {
		return false
	}
	level, _ := strconv.Atoi(parts[1]) // 0 for entries
	number, err := strconv.ParseUint(strings.NewReplacer("/", "", "x", "").Replace(parts[2]), 10, 64)
	width := uint64(256)
	if parts[3] != "" {
		width, _ = strconv.ParseUint(parts[3], 10, 64)
	}
	switch {
	case strings.HasPrefix(parts[2], "/x000"): // the number has leading zeros
		return false
	case err != nil || width > 256 || number > math.MaxUint32 || level > 7: // more entries than any log has
		return false
	}

	l.published.mu.Lock()
	defer l.published.mu.Unlock()
	c := l.published.checkpoint
	return c != nil && number*256+width <= c.Size>>(8*level)
}
