package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// readBounded reads a file that must be small.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%q has more than %d bytes", path, most)
	}
	return data, err
}

// readKey reads a private key in the JWK format that the command "receipt keys generate" writes.
func readKey(path string) (*keys.PrivateKey, error) {
	if path == "" {
		return nil, fmt.Errorf("missing --key FILE: generate a key with receipt keys generate")
	}
	data, err := readBounded(path, keys.MaxSetBytes)
	if err != nil {
		return nil, err
	}
	key, err := keys.ParsePrivate(data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return key, nil
}

// readPolicy reads a tlog-policy file.
func readPolicy(path string) (*tlog.Policy, error) {
	if path == "" {
		return nil, fmt.Errorf("missing --policy FILE: a file with the lines log, witness, group, and quorum (C2SP tlog-policy)")
	}
	data, err := readBounded(path, keys.MaxPolicyBytes)
	if err != nil {
		return nil, err
	}
	policy, err := tlog.ParsePolicy(data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return policy, nil
}

// readToken reads a token, which must be a single line. If there is no file, it returns "".
func readToken(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := readBounded(path, 4096)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if len(token) < 16 || strings.ContainsAny(token, " \t\n") {
		return "", fmt.Errorf("%q: expected a token of at least 16 characters on one line", path)
	}
	return token, nil
}
