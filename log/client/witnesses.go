package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

const (
	witnessTimeout = 10 * time.Second       // time limit for a request to a witness
	witnessGrace   = 200 * time.Millisecond // time to wait for other witnesses after the quorum is met
	maxAttempts    = 3                      // maximum number of requests if a witness responds with its size
	maxAnswer      = 64 << 10               // maximum length of a response in bytes
)

// Witnesses requests cosignatures from the witnesses in a policy (C2SP tlog-witness).
type Witnesses struct {
	policy *tlog.Policy
	http   http.Client

	mu    sync.Mutex
	sizes map[*tlog.Witness]uint64 // sizes that the witnesses last cosigned, if known
}

// NewWitnesses returns the witnesses in a policy that have a URL.
func NewWitnesses(policy *tlog.Policy) *Witnesses {
	return &Witnesses{policy: policy, http: http.Client{Timeout: witnessTimeout}, sizes: map[*tlog.Witness]uint64{}}
}

// Cosign returns a checkpoint with cosignatures that meet the policy. The argument tree must be the
// tree of the checkpoint. If the quorum is not met, the error wraps [tlog.ErrUnmet] and the reasons
// from the witnesses, on one line.
func (w *Witnesses) Cosign(ctx context.Context, note []byte, tree *tile.Tree) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		lines []byte
		err   error
	}
	answers := make(chan answer, len(w.policy.Witnesses))
	waiting := 0
	for _, p := range w.policy.Witnesses {
		if p.URL == "" {
			continue
		}
		waiting++
		go func() {
			lines, err := w.request(ctx, &p, note, tree)
			if err != nil {
				err = fmt.Errorf("witness %s: %w", p.Name, err)
			}
			answers <- answer{lines, err}
		}()
	}

	cosigned := bytes.Clone(note)
	_, unmet := w.policy.Open(cosigned)
	var failures []error
	var grace <-chan time.Time
	for ; waiting > 0; waiting-- {
		if unmet == nil && grace == nil {
			grace = time.After(witnessGrace)
		}
		select {
		case a := <-answers:
			if a.err != nil {
				failures = append(failures, a.err)
				continue
			}
			cosigned = append(cosigned, a.lines...)
			_, unmet = w.policy.Open(cosigned)
		case <-grace:
			return cosigned, nil
		}
	}
	if unmet != nil {
		for _, f := range failures {
			unmet = fmt.Errorf("%w; %w", unmet, f)
		}
		return nil, unmet
	}
	return cosigned, nil
}

// request returns the signature lines from one witness.
func (w *Witnesses) request(ctx context.Context, p *tlog.PolicyWitness, note []byte, tree *tile.Tree) ([]byte, error) {
	w.mu.Lock()
	old := w.sizes[p.Witness]
	w.mu.Unlock()

	old = min(old, tree.Size) // if the size was actually larger, the witness states it again
	for range maxAttempts {
		proof, err := tree.Consistency(ctx, old)
		if err != nil {
			return nil, err
		}
		body := fmt.Appendf(nil, "old %d\n", old)
		for _, h := range proof {
			body = fmt.Appendf(body, "%v\n", h)
		}
		lines, size, err := w.post(ctx, p, append(append(body, '\n'), note...))
		if err != nil {
			return nil, err
		}

		// Instead of cosignatures, the witness returned the size from which the proof must start. A
		// size that is larger than the log is not stored, because it may be wrong.
		if lines == nil && size > tree.Size {
			return nil, fmt.Errorf("it states that it has cosigned a tree of size %d, and this log has %d: the log was rolled back, or its key is used elsewhere", size, tree.Size)
		}
		w.mu.Lock()
		if lines != nil {
			size = tree.Size
		}
		w.sizes[p.Witness], old = size, size
		w.mu.Unlock()
		if lines != nil {
			return ofWitness(note, lines, p.Witness)
		}
	}
	return nil, errors.New("it states another size after each request")
}

// post sends a request, and returns either the lines in the response or the size that the witness
// states.
func (w *Witnesses) post(ctx context.Context, p *tlog.PolicyWitness, body []byte) (lines []byte, size uint64, err error) {
	url := strings.TrimSuffix(p.URL, "/") + "/add-checkpoint"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	response, err := w.http.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	answer, err := readAnswer(response.Body, maxAnswer)
	if err != nil {
		return nil, 0, err
	}

	switch {
	case response.StatusCode == http.StatusOK:
		return answer, 0, nil
	case response.StatusCode == http.StatusConflict && response.Header.Get("Content-Type") == "text/x.tlog.size":
		text := strings.TrimSuffix(string(answer), "\n")
		size, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("expected a size, found %.40q", text)
		}
		return nil, size, nil
	}
	return nil, 0, fmt.Errorf("status %d: %.200q", response.StatusCode, answer)
}

// ofWitness returns the first line that is a cosignature by a witness. Further lines would let one
// witness exceed the number of lines that a checkpoint may have. Signature lines by other keys are
// dropped.
func ofWitness(note, lines []byte, w *tlog.Witness) (kept []byte, err error) {
	for line := range bytes.Lines(lines) {
		s, err := tlog.OpenSigned(append(bytes.Clone(note), line...), nil, []*tlog.Witness{w})
		if err != nil {
			return nil, err
		}
		if len(s.Cosignatures) > 0 && kept == nil {
			kept = line
		}
	}
	if kept == nil {
		return nil, errors.New("its answer has no cosignature of its key")
	}
	return kept, nil
}
