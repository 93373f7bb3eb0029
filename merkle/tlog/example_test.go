package tlog_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A log signs its size and root, and a client that trusts the log's key opens the note.
func ExampleOpenSigned() {
	key := ed25519.NewKeyFromSeed([]byte("a seed of 32 bytes for examples!"))
	leaves := []merkle.Hash{merkle.LeafHash([]byte("april")), merkle.LeafHash([]byte("may"))}

	log, err := tlog.NewLog("example.com/log", key.Public().(ed25519.PublicKey))
	if err != nil {
		fmt.Println(err)
		return
	}

	checkpoint := tlog.Checkpoint{Origin: log.Name(), Size: 2, Root: merkle.Root(leaves)}
	signer := tlog.LogSigner{Log: log, SignMessage: func(_ context.Context, message []byte) ([]byte, error) {
		return ed25519.Sign(key, message), nil
	}}
	note, err := signer.SignCheckpoint(context.Background(), &checkpoint)
	if err != nil {
		fmt.Println(err)
		return
	}

	signed, err := tlog.OpenSigned(note, []*tlog.Log{log}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(signed.Origin, signed.Size, "signed by", len(signed.Logs))

	// If the note is changed in any way, OpenSigned rejects it.
	_, err = tlog.OpenSigned([]byte(strings.Replace(string(note), "\n2\n", "\n3\n", 1)), []*tlog.Log{log}, nil)
	_, forged := err.(*tlog.SignatureError)
	fmt.Println("a changed size is forged:", forged)
	// Output:
	// example.com/log 2 signed by 1
	// a changed size is forged: true
}
