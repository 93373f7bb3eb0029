package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Log is a log of receipt hashes that is served over HTTP.
type Log struct {
	URL    string
	Token  string       // sent with each request that adds a hash; empty for none
	Policy *tlog.Policy // policy that each proof must meet
	HTTP   http.Client
}

// A StatusError indicates a response that is not a proof.
type StatusError struct {
	Status int
	Detail string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the log answered %d: %s", e.Status, e.Detail)
}

// A ProofError indicates that a log returned data that is not a proof of the hash under the policy.
// If it wraps [tlog.ErrUnmet], evidence is missing. Otherwise, the response is invalid.
type ProofError struct{ Err error }

func (e *ProofError) Error() string { return "the proof of the log: " + e.Err.Error() }

// Unwrap returns the error from the policy.
func (e *ProofError) Unwrap() error { return e.Err }

// A TimeoutError indicates that the log returned no proof before the context ended. The log may
// nevertheless contain the hash.
type TimeoutError struct {
	Last error // error of the last request that ctx did not interrupt or, if there is none, of the first request
	Err  error // error of the context
}

// Error describes the last request.
func (e *TimeoutError) Error() string {
	var timeout interface{ Timeout() bool }
	if errors.As(e.Last, &timeout) && timeout.Timeout() {
		return "gave up: the log did not respond in time"
	}
	return fmt.Sprintf("gave up: %v", e.Last)
}

// Unwrap returns both errors.
func (e *TimeoutError) Unwrap() []error { return []error{e.Last, e.Err} }

// isTemporary reports whether a request is repeated after a response with the given status. A proxy
// responds with 502 or 504 if the log did not respond.
func isTemporary(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Add adds a hash to the log. It returns the inclusion proof and the index of the hash. If the log
// is busy, cannot be reached, or does not respond, Add repeats the request until ctx ends, and then
// returns a [*TimeoutError]. Repeated requests do not add a second entry.
func (l *Log) Add(ctx context.Context, hash canon.Digest) (proof []byte, index uint64, err error) {
	var last error // before ctx ended
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		proof, err := l.post(ctx, hash)
		if err == nil {
			return l.check(proof, hash)
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		status := (*StatusError)(nil)
		busy := errors.As(err, &status) && isTemporary(status.Status)
		if status != nil && !busy || errors.As(err, new(*ProofError)) {
			return nil, 0, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, 0, &TimeoutError{last, ctx.Err()}
		}
	}
}

// check verifies a proof under the policy.
func (l *Log) check(text []byte, hash canon.Digest) ([]byte, uint64, error) {
	proof, err := tlog.ParseProof(text)
	if err == nil {
		_, err = l.Policy.CheckProof(proof, hash[:])
	}
	if err != nil {
		return nil, 0, &ProofError{err}
	}
	return text, proof.Index, nil
}

func (l *Log) post(ctx context.Context, hash canon.Digest) ([]byte, error) {
	url := strings.TrimSuffix(l.URL, "/") + "/add"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(hash.String()))
	if err != nil {
		return nil, err
	}
	if l.Token != "" {
		request.Header.Set("Authorization", "Bearer "+l.Token)
	}
	response, err := l.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()

	const most = 1 << 20
	body, err := readAnswer(response.Body, most)
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, &StatusError{response.StatusCode, fmt.Sprintf("%.200q", strings.TrimSpace(string(body)))}
	case errors.Is(err, errTooLarge):
		return nil, &ProofError{err}
	}
	return body, err
}

var errTooLarge = errors.New("the answer is too large")

// readAnswer reads the body of a response. If it returns an error, the result is the beginning of
// the body.
func readAnswer(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return data[:most], fmt.Errorf("%w: more than %d bytes", errTooLarge, most)
	}
	return data, err
}
