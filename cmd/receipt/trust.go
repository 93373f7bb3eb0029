package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A keyFile is the file of trusted keys that a verification used.
type keyFile struct {
	path   string
	sha256 canon.Digest
	set    *keys.Set
	named  bool // by --keys, so that commands to copy name it too
}

// String is how results name the file.
func (f *keyFile) String() string { return fmt.Sprintf("%s (%d)", f.path, f.set.Len()) }

// trustPath is where trusted keys are: the flag, $RECEIPT_KEYS, or
// receipt/keys.json in the user's configuration folder. It is "" when the user
// has none: keys are never taken from the current folder unasked.
func trustPath(e *env, flag string) string {
	if flag != "" {
		return flag
	}
	if path := e.getenv("RECEIPT_KEYS"); path != "" {
		return path
	}
	if dir := configDir(e); filepath.IsAbs(dir) {
		return filepath.Join(dir, "receipt", "keys.json")
	}
	return ""
}

// configDir is os.UserConfigDir over the variables of e.
func configDir(e *env) string {
	home := e.getenv("HOME")
	switch runtime.GOOS {
	case "windows":
		return e.getenv("AppData")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	if dir := e.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home, ".config")
}

// readKeys reads the file of trusted keys. All its failures are exit 2: a
// verification without its keys cannot be run as asked.
func readKeys(e *env, flag string) (*keyFile, error) {
	path := trustPath(e, flag)
	if err := noKeyFile(e, flag, path); err != nil {
		return nil, err
	}
	data, err := readBounded(e, path, keys.MaxSetBytes+1)
	if err != nil {
		return nil, err
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		return nil, usage("", "%q: %w", path, err)
	}
	return &keyFile{path, canon.Sum(data), set, flag != ""}, nil
}

// noKeyFile explains where keys were sought when the user named none.
func noKeyFile(e *env, flag, path string) error {
	if flag != "" {
		return nil
	}
	const hint = "name a file of trusted keys by --keys FILE or $RECEIPT_KEYS; --integrity-only checks the content without keys"
	if path == "" {
		return usage(hint, "no key file: neither --keys nor $RECEIPT_KEYS is given, and the user has no configuration folder")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if e.getenv("RECEIPT_KEYS") != "" {
		return usage(hint, "no key file: $RECEIPT_KEYS names %q, which does not exist", path)
	}
	return usage(hint, "no key file: %q does not exist", path)
}

// policyFlags are the flags that say what a receipt must show.
type policyFlags struct {
	keys, issuer, policy, at     string
	integrityOnly, plain, strict bool
	noInputDigest                bool // nothing that is written tells it
}

func (f *policyFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.keys, "keys", "", "trusted keys, a JWK Set `FILE`")
	flags.StringVar(&f.issuer, "issuer", "", "the `ID` of the issuer that receipts must have")
	flags.StringVar(&f.policy, "policy", "", "what more is demanded, a JSON `FILE`: issuer, witnesses, checkpoint")
	flags.StringVar(&f.at, "at", "", "judge keys at this `TIME` (RFC 3339) instead of issued_at")
	flags.BoolVar(&f.integrityOnly, "integrity-only", false, "check content and hash, not signatures")
	flags.BoolVar(&f.plain, "plain", false, "decide without this program's fast paths, to cross-check them")
	flags.BoolVar(&f.strict, "strict", false, "undecided when any applicable step was not checked")
}

// requirements makes the policy of the flags.
func (f *policyFlags) requirements(e *env) (receipt.Policy, error) {
	p := receipt.Policy{}
	if f.policy != "" {
		data, err := readBounded(e, f.policy, keys.MaxPolicyBytes+1)
		if err != nil {
			return p, err
		}
		if p, err = keys.ParsePolicy(data); err != nil {
			return p, usage("", "%q: %w", f.policy, err)
		}
	}
	if f.issuer != "" {
		if p.Issuer != "" && p.Issuer != f.issuer {
			return p, usage("", "--issuer says %q, the policy %q says %q", f.issuer, f.policy, p.Issuer)
		}
		p.Issuer = f.issuer
	}
	if f.at != "" {
		at, err := receipt.ParseTime(f.at)
		if err != nil {
			return p, usage("", "--at %q: %w", f.at, err)
		}
		p.At = at
	}
	p.Now = e.now()
	p.IntegrityOnly, p.Plain, p.Strict = f.integrityOnly, f.plain, f.strict
	p.NoInputDigest = f.noInputDigest
	return p, nil
}

// verifier makes the verifier of the flags, and names the key file it uses.
func (f *policyFlags) verifier(e *env) (*receipt.Verifier, *keyFile, error) {
	if f.integrityOnly && (f.keys != "" || f.issuer != "" || f.policy != "") {
		return nil, nil, usage("", "--integrity-only looks at no signatures, so it excludes --keys, --issuer and --policy")
	}
	policy, err := f.requirements(e)
	if err != nil {
		return nil, nil, err
	}
	if f.integrityOnly {
		v, err := receipt.NewVerifier(nil, policy)
		return v, nil, err
	}
	file, err := readKeys(e, f.keys)
	if err != nil {
		return nil, nil, err
	}
	v, err := receipt.NewVerifier(file.set, policy)
	if err != nil {
		return nil, nil, usage("", "%w", err)
	}
	return v, file, nil
}
