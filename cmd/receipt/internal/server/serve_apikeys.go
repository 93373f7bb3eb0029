package server

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// An apiKeyFile is the file of API keys, as it was when it last was a good one.
type apiKeyFile struct {
	e       *cli.Env
	path    string
	current atomic.Pointer[protocol.APIKeys]
}

func (f *apiKeyFile) load() error {
	data, err := input.ReadBounded(f.e, f.path, protocol.MaxAPIKeyBytes+1)
	if err != nil {
		return err
	}
	list, err := serve.ParseAPIKeys(data)
	if err != nil {
		return cli.Usage("receipt serve --new-api-key NAME --api-keys FILE adds a key to such a file", "%q: %s", f.path, refusal(err))
	}
	f.current.Store(list)
	return nil
}

// addAPIKey makes an API key and shows it, the only time that anyone sees it. The
// file gets its digest.
func addAPIKey(e *cli.Env, o *serveOptions) error {
	path := o.apiKeys
	if path == cli.StdinName {
		return cli.Usage("", "a file of API keys that is changed must be a file, found -")
	}
	if _, err := cli.MayWrite(path, true); err != nil {
		return err
	}

	before, err := input.ReadBounded(e, path, protocol.MaxAPIKeyBytes+1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	key, entry, err := protocol.NewAPIKey(rand.Reader, o.newAPIKey, e.Now())
	if err != nil {
		return cli.Usage("", "%s", refusal(err))
	}

	after, err := withAPIKey(before, entry)
	if err != nil {
		return cli.Usage("", "%q: %s; nothing was changed", path, refusal(err))
	}

	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil { // a symbolic link stays one
		target = real
	}

	// A new file is for its owner alone; another keeps its mode.
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	if err := cli.ReplaceFile(target, after, mode); err != nil {
		return err
	}

	fmt.Fprintf(e.Notes(), "API key of %s: shown once, %s keeps its SHA-256\n", cli.EscapeLine(entry.Name), cli.EscapeLine(path))
	_, err = fmt.Fprintln(e.Out, key)
	return err
}

// withAPIKey appends an entry to a file and makes sure that the whole can be read.
func withAPIKey(before []byte, entry protocol.APIKey) ([]byte, error) {
	line, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	after := bytes.Clone(before)
	if len(after) > 0 && !bytes.HasSuffix(after, []byte("\n")) {
		after = append(after, '\n')
	}
	after = append(append(after, line...), '\n')
	_, err = serve.ParseAPIKeys(after)
	return after, err
}
