package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/api"
	"golang.org/x/mod/sumdb/note"
	"k8s.io/klog/v2"

	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A signer implements note.Signer for Tessera with the log's key.
type signer struct {
	ctx    context.Context
	config Config
}

func (s *signer) Name() string    { return s.config.Key.Name() }
func (s *signer) KeyHash() uint32 { return s.config.Key.KeyHash() }

// Sign signs the text of a checkpoint. For any other text, it returns an error.
func (s *signer) Sign(text []byte) ([]byte, error) {
	c, err := tlog.ParseCheckpoint(string(text))
	if err != nil {
		return nil, err
	}
	msg, err := s.config.Sign(s.ctx, c)
	if err != nil {
		return nil, err
	}

	// The payload of a signature line consists of the key ID (four bytes) and the signature.
	n, err := note.Open(msg, note.VerifierList(s.config.Key))
	if err != nil {
		return nil, err
	}
	payload, err := base64.StdEncoding.DecodeString(n.Sigs[0].Base64)
	if err != nil {
		return nil, err
	}
	return payload[4:], nil
}

// bundles yields the entries of a log in order, up to the given size. An error ends the sequence
// and is stored in failure.
func bundles(ctx context.Context, r tessera.LogReader, size uint64, failure *error) iter.Seq2[uint64, []byte] {
	const width = 256
	return func(yield func(uint64, []byte) bool) {
		for first := uint64(0); first < size; first += width {
			data, err := r.ReadEntryBundle(ctx, first/width, uint8(min(size-first, width)%width))
			var bundle api.EntryBundle
			if err == nil {
				err = bundle.UnmarshalText(data)
			}
			if want := min(size-first, width); err == nil && uint64(len(bundle.Entries)) < want {
				err = fmt.Errorf("the bundle has %d entries, expected %d", len(bundle.Entries), want)
			}
			if err != nil {
				*failure = fmt.Errorf("reading entry %d: %w", first, err)
				return
			}
			for i, entry := range bundle.Entries {
				if index := first + uint64(i); index < size && !yield(index, entry) {
					return
				}
			}
		}
	}
}

// quietTessera passes on Tessera's warnings, and drops all other messages.
func quietTessera(warn func(error)) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	klog.SetOutputBySeverity("WARNING", warner(warn))
}

type warner func(error)

func (w warner) Write(line []byte) (int, error) {
	// The header of a log line ends with "] ".
	_, text, found := strings.Cut(strings.TrimSpace(string(line)), "] ")
	if found && w != nil {
		w(errors.New("tessera: " + text))
	}
	return len(line), nil
}
