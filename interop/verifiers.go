package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// trustPath is the path of the trust file that all verifiers use, relative to this directory.
const trustPath = "../fixtures/keys/trust.json"

// A verifier returns the verdict and the code for each receipt, as in "refuted hash_mismatch".
type verifier func(receipts [][]byte) ([]string, error)

// toolkit verifies with the library.
func toolkit(receipts [][]byte) ([]string, error) {
	jwks, err := fixtures.Read("keys/trust.json")
	if err != nil {
		return nil, err
	}
	trust, err := keys.ParseSet(jwks)
	if err != nil {
		return nil, err
	}
	v, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		return nil, err
	}

	var doc canon.Document
	var rep receipt.Report
	results := make([]string, len(receipts))
	for i, data := range receipts {
		v.VerifyBytes(data, &doc, &rep)
		results[i] = fmt.Sprintf("%v %v", rep.Verdict, rep.Finding().Code)
	}
	return results, nil
}

// program returns a verifier that runs a command. It writes each receipt to the command, preceded
// by its length in 4 bytes (big-endian), and the command answers with one line per receipt.
func program(name string, args ...string) verifier {
	return func(receipts [][]byte) ([]string, error) {
		cmd := exec.Command(name, args...)
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		var messages strings.Builder
		cmd.Stderr = &messages
		if err := cmd.Start(); err != nil {
			return nil, err
		}

		go write(in, receipts)
		results := make([]string, 0, len(receipts))
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			results = append(results, lines.Text())
		}
		if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
			return nil, fmt.Errorf("%s answered %d of %d receipts: %w: %s", cmd, len(results), len(receipts), err, messages.String())
		}
		if len(results) != len(receipts) {
			return nil, fmt.Errorf("%s answered %d of %d receipts: %s", cmd, len(results), len(receipts), messages.String())
		}
		return results, nil
	}
}

// write writes receipts, each preceded by its length. If the program ends early, the code that
// reads its output reports the failure.
func write(in io.WriteCloser, receipts [][]byte) {
	defer in.Close()
	w := bufio.NewWriter(in)
	for _, r := range receipts {
		_ = binary.Write(w, binary.BigEndian, uint32(len(r)))
		_, _ = w.Write(r)
	}
	_ = w.Flush()
}

var javascript = program("node", "--no-warnings", "js/main.mjs", "--batch", trustPath)

var python = program("env", "PYTHONPATH=python", "python3", "-m", "receipt_verifier", "--batch", trustPath)

// These commands verify cases in the corpus.
var (
	javascriptCases = []string{"node", "--no-warnings", "js/main.mjs"}
	pythonCases     = []string{"env", "PYTHONPATH=python", "python3", "-m", "receipt_verifier"}
)
