package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A harness is what its tasks share.
type harness struct {
	issuer    receipt.Issuer // as receipts name it
	ledger    *ledger.Issuer
	store     *ledger.SQLite
	trust     *keys.Set // for who verifies
	trustFile string
}

// open opens a ledger and reads its key, and makes what is not there yet.
func open(ctx context.Context, path string) (*harness, error) {
	key, err := readKey(path + ".private.json")
	if err != nil {
		return nil, err
	}
	h := &harness{issuer: receipt.Issuer{ID: "toy_harness", PublicKeyID: key.ID()}, trustFile: path + ".keys.json"}
	public, file := key.Public(), new(keys.File)
	public.Issuers = []string{h.issuer.ID}
	if err := file.Add(public); err != nil {
		return nil, err
	}
	data, err := file.Marshal()
	if err == nil {
		err = writeNew(h.trustFile, data)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if h.trust, err = file.Set(); err != nil {
		return nil, err
	}
	if h.store, err = ledger.Open(ctx, path); errors.Is(err, fs.ErrNotExist) {
		h.store, err = ledger.Create(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	h.ledger = &ledger.Issuer{Store: h.store, Signer: keys.NewSigner(key, time.Now)}
	return h, nil
}

// issue makes the receipt of a draft: also when the program is told to end, since
// what the receipt is about has happened. While nobody knows whether it is stored,
// the same draft is issued again; that never makes a second receipt.
func (h *harness) issue(ctx context.Context, draft *receipt.Draft) (*receipt.Sealed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	for {
		sealed, err := h.ledger.Issue(ctx, draft) // link, look for secrets, seal, sign, commit
		var unknown *ledger.UnknownOutcomeError
		if !errors.As(err, &unknown) || ctx.Err() != nil {
			return sealed, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func readKey(path string) (*keys.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if err == nil {
		return keys.ParsePrivate(data)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key, err := keys.Generate(rand.Reader, keys.Ed25519, "")
	if err != nil {
		return nil, err
	}
	if data, err = key.MarshalPrivate(); err != nil {
		return nil, err
	}
	return key, writeNew(path, data)
}

// writeNew writes a file for its owner alone, never over another.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
