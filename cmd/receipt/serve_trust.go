package main

import (
	"path/filepath"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A trusted is what receipts are judged by. It may be replaced while it is in use.
type trusted struct {
	e        *env
	flags    policyFlags
	file     atomic.Pointer[keyFile]
	public   atomic.Pointer[[]byte] // the keys as a JWK Set
	verifier atomic.Pointer[serve.Verifier]
}

func newTrusted(e *env, flags policyFlags) *trusted { return &trusted{e: e, flags: flags} }

// paths are the files that load reads.
func (t *trusted) paths() (list []string) {
	if t.flags.policy != "" {
		list = append(list, t.flags.policy)
	}
	if path := trustPath(t.e, t.flags.keys); path != "" && !t.flags.integrityOnly {
		list = append(list, path)
	}
	return list
}

// load reads the keys and the policy. On error everything stays as it is.
func (t *trusted) load() error {
	policy, err := t.flags.requirements(t.e)
	if err != nil {
		return err
	}
	if t.flags.integrityOnly {
		return t.use(nil, policy)
	}
	file, err := readKeys(t.e, t.flags.keys)
	if err != nil {
		return err
	}
	return t.use(file, policy)
}

func (t *trusted) use(file *keyFile, policy receipt.Policy) error {
	var trust receipt.Trust
	var named *stream.Keys
	var public []byte
	if file != nil {
		// Clients are told which file it is, not where it lies on the server.
		trust, named = file.set, &stream.Keys{Path: filepath.Base(file.path), SHA256: file.sha256, Count: file.set.Len()}
		var all keys.File
		if err := all.Add(file.set.Keys()...); err != nil {
			return usage("", "%q: %w", file.path, err)
		}
		var err error
		if public, err = all.Marshal(); err != nil {
			return usage("", "%q: %w", file.path, err)
		}
	}
	v, err := serve.NewVerifier(trust, policy, named)
	if err != nil {
		return usage("", "%w", err)
	}
	t.file.Store(file)
	t.public.Store(&public)
	t.verifier.Store(v)
	return nil
}

// publicKeys returns the JWK Set; nil without keys.
func (t *trusted) publicKeys() []byte {
	if public := t.public.Load(); public != nil {
		return *public
	}
	return nil
}

// Bounds of a file of anchors.
const (
	maxAnchorsBytes = 1 << 20
	maxAnchors      = 100
	maxAnchorName   = 200
)

// addAnchors adds the key sets that requests may choose. The same policy holds for
// all of them.
func (o *serveOptions) addAnchors(e *env, w *fileWatch, s *serve.Options) error {
	if o.anchors == "" {
		return nil
	}
	data, err := readBounded(e, o.anchors, maxAnchorsBytes+1)
	if err != nil {
		return err
	}
	files, err := parseAnchors(data)
	if err != nil {
		return usage(`such as {"partner": "partner-keys.json"}, with paths that are relative to this file`, "%q: %w", o.anchors, err)
	}
	s.Anchors = map[string]func() *serve.Verifier{}
	for _, a := range files {
		flags := o.policyFlags
		if flags.keys = a.path; !filepath.IsAbs(a.path) {
			flags.keys = filepath.Join(filepath.Dir(o.anchors), a.path)
		}
		t := newTrusted(e, flags)
		if err := w.add("anchor "+a.name, t.load, t.paths()...); err != nil {
			return err
		}
		s.Anchors[a.name] = t.verifier.Load
	}
	return nil
}

// An anchor is a key file by the name that requests give it.
type anchor struct{ name, path string }

// parseAnchors reads a file of anchors: {"NAME": "KEY-FILE", …}.
func parseAnchors(data []byte) (list []anchor, err error) {
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: maxAnchorsBytes}); err != nil {
		return nil, err
	}
	root := doc.Root()
	if root.Kind() != canon.KindObject || root.Len() == 0 || root.Len() > maxAnchors {
		return nil, usage("", "expected an object with 1 to %d members", maxAnchors)
	}
	for name, path := range root.Members() {
		a := anchor{name.String(), path.String()}
		if a.name == "" || len(a.name) > maxAnchorName || a.path == "" || a.path == stdinName {
			return nil, usage("", "expected a name of 1 to %d bytes and the path of a key file, found %.80q and %.80q", maxAnchorName, a.name, path.Raw())
		}
		list = append(list, a)
	}
	return list, nil
}
