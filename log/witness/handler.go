package witness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
)

// maxBody is the maximum size of a request body in bytes. A checkpoint with a hundred ML-DSA-44
// cosignatures has about 325,000 bytes.
const maxBody = 512 << 10

// Handler returns a handler for the routes of the witness: add-checkpoint and the checkpoints for
// monitors, both under "/". The function warn is called with each error that the client did not
// cause.
func (w *Witness) Handler(warn func(error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
		if err != nil {
			http.Error(rw, "the body has more than 512 KiB, or was cut off", http.StatusBadRequest)
			return
		}
		lines, err := w.AddCheckpoint(r.Context(), body)
		refuse(rw, lines, err, warn)
	})
	mux.HandleFunc("GET /{hash}/checkpoint", func(rw http.ResponseWriter, r *http.Request) {
		note, err := w.Checkpoint(r.PathValue("hash"))
		if errors.Is(err, fs.ErrNotExist) {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Cache-Control", "no-cache")
		refuse(rw, note, err, warn)
	})
	return mux
}

// refuse responds with text if err is nil, and otherwise with the status for err.
func refuse(rw http.ResponseWriter, text []byte, err error, warn func(error)) {
	var refusal *Refusal
	switch {
	case err == nil:
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		rw.Write(text)
	case !errors.As(err, &refusal):
		warn(err)
		http.Error(rw, "the witness cannot read or write its state", http.StatusInternalServerError)
	case refusal.Status == conflict:
		rw.Header().Set("Content-Type", "text/x.tlog.size")
		rw.WriteHeader(conflict)
		fmt.Fprintf(rw, "%d\n", refusal.Size)
	default:
		http.Error(rw, refusal.Detail, refusal.Status)
	}
}
