package server

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A trusted value contains the keys and the policy that are used to verify receipts. Both may be
// replaced while they are in use.
type trusted struct {
	e        *cli.Env
	flags    trust.PolicyFlags
	file     atomic.Pointer[trust.KeyFile]
	public   atomic.Pointer[[]byte] // the keys, as a JWK Set
	verifier atomic.Pointer[serve.Verifier]
}

func newTrusted(e *cli.Env, flags trust.PolicyFlags) *trusted { return &trusted{e: e, flags: flags} }

// paths returns the paths of the files that load reads.
func (t *trusted) paths() (list []string) {
	if t.flags.Policy != "" {
		list = append(list, t.flags.Policy)
	}
	if path := trust.TrustPath(t.e, t.flags.Keys); path != "" && !t.flags.IntegrityOnly {
		list = append(list, path)
	}
	return list
}

// load reads the keys and the policy. If there is an error, nothing changes.
func (t *trusted) load() error {
	policy, others, err := t.flags.Requirements(t.e)
	if err != nil {
		return err
	}
	if t.flags.IntegrityOnly {
		return t.use(nil, nil, policy)
	}
	file, err := trust.ReadKeys(t.e, t.flags.Keys)
	if err != nil {
		return err
	}
	set, err := file.Set.With(others...)
	if err != nil {
		return cli.Usage("", "%q: %w", t.flags.Policy, err)
	}
	return t.use(file, set, policy)
}

// use starts to verify with policy and with the keys in set. These keys are from file and from a
// policy file. If file is nil, it verifies without keys.
func (t *trusted) use(file *trust.KeyFile, set *keys.Set, policy receipt.Policy) error {
	var trust receipt.Trust
	var named *stream.Keys
	var public []byte
	if file != nil {
		// Clients learn the name of the file, but not its path on the server.
		trust, named = set, &stream.Keys{Path: filepath.Base(file.Path), SHA256: file.SHA256, Count: file.Set.Len()}
		var all keys.File
		if err := all.Add(file.Set.Keys()...); err != nil {
			return cli.Usage("", "%q: %w", file.Path, err)
		}
		var err error
		if public, err = all.Marshal(); err != nil {
			return cli.Usage("", "%q: %w", file.Path, err)
		}
	}

	v, err := serve.NewVerifier(trust, policy, named)
	if err != nil {
		return cli.Usage("", "%w", err)
	}

	// The new values are stored only after all of them have been created, so that an error changes
	// nothing.
	t.file.Store(file)
	t.public.Store(&public)
	t.verifier.Store(v)
	return nil
}

// publicKeys returns the keys as a JWK Set, or nil if there are none.
func (t *trusted) publicKeys() []byte {
	if public := t.public.Load(); public != nil {
		return *public
	}
	return nil
}

// Limits for a file of anchors.
const (
	maxAnchorsBytes = 1 << 20
	maxAnchors      = 100
	maxAnchorName   = 200
)

// addAnchors adds the key sets from which requests can select. All of these key sets use the same
// policy.
func addAnchors(o *serveOptions, e *cli.Env, w *watchedFiles, s *serve.Options) error {
	if o.anchors == "" {
		return nil
	}

	data, err := input.ReadBounded(e, o.anchors, maxAnchorsBytes+1)
	if err != nil {
		return err
	}

	files, err := ParseAnchors(data)
	if err != nil {
		return cli.Usage(`such as {"partner": "partner-keys.json"}, with paths that are relative to this file`, "%q: %w", o.anchors, err)
	}

	s.Anchors = map[string]func() *serve.Verifier{}
	for _, a := range files {
		flags := o.PolicyFlags
		// Paths are relative to the directory of the anchors file.
		if flags.Keys = a.path; !filepath.IsAbs(a.path) {
			flags.Keys = filepath.Join(filepath.Dir(o.anchors), a.path)
		}
		t := newTrusted(e, flags)
		if err := w.add("anchor "+a.name, t.load, t.paths()...); err != nil {
			return err
		}
		s.Anchors[a.name] = t.verifier.Load
	}

	return nil
}

// An Anchor is a key file, together with the name by which requests select it.
type Anchor struct{ name, path string }

// ParseAnchors parses a file of anchors: {"NAME": "KEY-FILE", …}.
func ParseAnchors(data []byte) (list []Anchor, err error) {
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: maxAnchorsBytes}); err != nil {
		return nil, err
	}

	root := doc.Root()
	if root.Kind() != canon.KindObject || root.Len() == 0 || root.Len() > maxAnchors {
		return nil, cli.Usage("", "expected an object with 1 to %d members", maxAnchors)
	}

	for name, path := range root.Members() {
		a := Anchor{name.String(), path.String()}
		if a.name == "" || len(a.name) > maxAnchorName || a.path == "" || a.path == cli.StdinName {
			return nil, cli.Usage("", "expected a name of 1 to %d bytes and the path of a key file, found %.80q and %.80q", maxAnchorName, a.name, path.Raw())
		}
		list = append(list, a)
	}

	return list, nil
}

// An apiKeyFile is a file of API keys. It stores the most recent valid content of the file.
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
		return cli.Usage("add a key with receipt serve --new-api-key NAME --api-keys FILE", "%q: %s", f.path, refusal(err))
	}
	f.current.Store(list)
	return nil
}

// Authenticate returns the client that sent a request.
func (f *apiKeyFile) Authenticate(r *http.Request) (*protocol.Client, error) {
	return f.current.Load().Authenticate(r)
}

// addAPIKey creates an API key, prints it once, and adds its digest to the file.
func addAPIKey(e *cli.Env, o *serveOptions) error {
	path := o.apiKeys
	if path == cli.StdinName {
		return cli.Usage("", "--api-keys must be a file, not -")
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

	// The new content is checked before it replaces the old content, so that an error changes
	// nothing.
	after, err := withAPIKey(before, entry)
	if err != nil {
		return cli.Usage("", "%q: %s; nothing was changed", path, refusal(err))
	}

	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil { // keep a symbolic link
		target = real
	}

	// Only the owner can read a new file. An existing file keeps its mode.
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

// withAPIKey appends an entry to the content of a file, and checks that the result can be parsed.
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
