package trust

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A KeyFile is the file of trusted keys that a verification uses.
type KeyFile struct {
	Path   string
	SHA256 canon.Digest
	Set    *keys.Set
	Named  bool // the file was specified by --keys, so printed commands must also specify it
}

// String formats the file for results.
func (f *KeyFile) String() string { return fmt.Sprintf("%s (%d)", f.Path, f.Set.Len()) }

// Flag returns the --keys flag of a command that the user can copy, or "" if the user did not
// specify the file.
func (f *KeyFile) Flag() string {
	if f == nil || !f.Named {
		return ""
	}
	return " --keys " + cli.ShellFile(f.Path)
}

// TrustPath returns the path of the trusted keys. The path is specified by the flag, $RECEIPT_KEYS,
// or the defaults. If none of these is set, it is receipt/keys.json in the user's configuration
// directory. TrustPath returns "" if the user has no such directory, because keys are never read
// from the current directory unless the user specifies the file.
func TrustPath(e *cli.Env, flag string) string {
	if flag != "" {
		return flag
	}
	if path := e.Getenv("RECEIPT_KEYS"); path != "" {
		return path
	}
	return cmp.Or(e.Defaults.Keys, cli.ConfigFile(e, "keys.json"))
}

// ReadKeys reads the file of trusted keys. All failures have exit code 2, because a verification
// cannot run as requested without its keys.
func ReadKeys(e *cli.Env, flag string) (*KeyFile, error) {
	path := TrustPath(e, flag)
	if err := noKeyFile(e, flag, path); err != nil {
		return nil, err
	}
	if flag == "" && e.Getenv("RECEIPT_KEYS") == "" {
		if err := cli.RefuseShared(path); err != nil {
			return nil, err
		}
	}
	data, err := input.ReadBounded(e, path, keys.MaxSetBytes+1)
	if err != nil {
		return nil, err
	}

	// A file of another kind is reported with a specific message. A private key is recognized by
	// its format.
	set, err := keys.ParseSet(data)
	if err != nil {
		if wrong := input.WrongKind(path, data, "a key set", kind.Keys, kind.PrivateKey, input.Receipt); wrong != nil {
			return nil, wrong
		}
		return nil, cli.Usage(KeyHint(err), "%q: %w", path, err)
	}
	return &KeyFile{path, canon.Sum(data), set, flag != ""}, nil
}

// IssuerOf returns the only issuer for which a key may speak according to the file of trusted keys.
// It returns "" if there is no such issuer or file.
func IssuerOf(e *cli.Env, keyID string) string {
	for _, k := range usualKeys(e) {
		if k.ID == keyID && len(k.Issuers) == 1 {
			return k.Issuers[0]
		}
	}
	return ""
}

// SignsLog reports whether a key may sign the checkpoints of a log according to the file of trusted
// keys.
func SignsLog(e *cli.Env, key *keys.PublicKey, origin string) bool {
	return slices.ContainsFunc(usualKeys(e), func(k *keys.PublicKey) bool {
		return k.Thumbprint == key.Thumbprint && k.Has(receipt.RoleCheckpoint) && k.Origin == origin
	})
}

// usualKeys returns the keys in the default file of trusted keys. It returns nil if the file does
// not exist.
func usualKeys(e *cli.Env) []*keys.PublicKey {
	if _, err := os.Stat(TrustPath(e, "")); err != nil {
		return nil
	}
	file, err := ReadKeys(e, "")
	if err != nil {
		return nil
	}
	return file.Set.Keys()
}

// noKeyFile returns the failure for a missing key file that the user did not specify.
func noKeyFile(e *cli.Env, flag, path string) error {
	if flag != "" {
		return nil
	}
	const hint = "specify trusted keys with --keys FILE or $RECEIPT_KEYS, or use --integrity-only to check content without keys"
	if path == "" {
		return cli.Usage(hint, "no key file: neither --keys nor $RECEIPT_KEYS is set, and the user has no configuration directory")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if e.Getenv("RECEIPT_KEYS") != "" {
		return cli.Usage(hint, "no key file: $RECEIPT_KEYS names %q, which does not exist", path)
	}
	return cli.Usage(hint, "no key file: %q does not exist", path)
}

// PolicyFlags specifies the requirements for receipts.
type PolicyFlags struct {
	Keys, Issuer, Policy, at     string
	IntegrityOnly, plain, Strict bool
	NoInputDigest                bool // the output contains no digests of inputs
}

// Register adds the flags to a command.
func (f *PolicyFlags) Register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Keys, "keys", "k", "", "trusted keys (JWK Set) (`FILE`)")
	flags.StringVar(&f.Issuer, "issuer", "", "required issuer (`ID`)")
	flags.StringVar(&f.Policy, "policy", "", "additional requirements: JSON, or a tlog-policy (`FILE`)")
	flags.StringVar(&f.at, "at", "", "time at which keys are judged (default: issued_at) (`TIME`)")
	flags.BoolVar(&f.IntegrityOnly, "integrity-only", false, "check only content and hashes")
	flags.BoolVar(&f.plain, "plain", false, "verify without the fast paths")
	flags.BoolVar(&f.Strict, "strict", false, "report undecided if an applicable step was not checked")
}

// Requirements returns the policy that the flags specify and the keys of logs and witnesses in the
// policy file.
func (f *PolicyFlags) Requirements(e *cli.Env) (p receipt.Policy, trusted []*keys.PublicKey, err error) {
	if f.Policy != "" {
		if p, trusted, err = readPolicy(e, f.Policy); err != nil {
			return p, nil, err
		}
	}
	err = f.add(e, &p)
	return p, trusted, err
}

// readPolicy reads a policy of this project, or a C2SP tlog-policy, which also contains keys.
func readPolicy(e *cli.Env, path string) (p receipt.Policy, trusted []*keys.PublicKey, err error) {
	data, err := input.ReadBounded(e, path, keys.MaxPolicyBytes+1)
	if err != nil {
		return p, nil, err
	}
	p, trusted, err = keys.ParsePolicy(data)
	switch wrong := input.WrongKind(path, data, "a policy", kind.Policy); {
	case err == nil:
		return p, trusted, nil
	case errors.As(err, new(*tlog.PolicyError)), errors.As(err, new(*keys.SetError)):
		return p, nil, cli.Usage("", "%q: %s", path, PlainMerkle(err))
	case wrong != nil:
		return p, nil, wrong
	}
	return p, nil, cli.Usage("", "%q: %w", path, err)
}

// add adds the requirements of the other flags to the policy.
func (f *PolicyFlags) add(e *cli.Env, p *receipt.Policy) error {
	// Flags may add requirements to those in the policy file, but must not contradict it.
	if f.Issuer != "" {
		if p.Issuer != "" && p.Issuer != f.Issuer {
			return cli.Usage("", "--issuer is %q, but the policy %q requires %q", f.Issuer, f.Policy, p.Issuer)
		}
		p.Issuer = f.Issuer
	}

	if f.at != "" {
		at, err := receipt.ParseTime(f.at)
		if err != nil {
			return cli.Usage("", "--at %q: %w", f.at, err)
		}
		p.At = at
	}

	p.Now = e.Now()
	p.IntegrityOnly, p.Plain, p.Strict = f.IntegrityOnly, f.plain, f.Strict
	p.NoInputDigest = f.NoInputDigest
	return nil
}

// Verifier returns the verifier that the flags specify and its key file.
func (f *PolicyFlags) Verifier(e *cli.Env) (*receipt.Verifier, *KeyFile, error) {
	if f.IntegrityOnly && (f.Keys != "" || f.Issuer != "" || f.Policy != "") {
		return nil, nil, cli.Usage("", "--integrity-only checks no signatures, so it excludes --keys, --issuer, and --policy")
	}

	policy, trusted, err := f.Requirements(e)
	if err != nil {
		return nil, nil, err
	}

	// If signatures are not checked, no key file is needed.
	if f.IntegrityOnly {
		v, err := receipt.NewVerifier(nil, policy)
		return v, nil, err
	}

	file, err := ReadKeys(e, f.Keys)
	if err != nil {
		return nil, nil, err
	}

	// A policy may contain keys that the key file does not contain.
	set, err := file.Set.With(trusted...)
	var v *receipt.Verifier
	if err == nil {
		v, err = receipt.NewVerifier(set, policy)
	}
	if err != nil {
		if f.Policy != "" {
			return nil, nil, cli.Usage("receipt keys list shows the trusted keys with their roles and fingerprints", "%q: %w", f.Policy, err)
		}
		return nil, nil, cli.Usage("", "%w", err)
	}

	return v, file, nil
}

// VerifierIfKeys returns a verifier for a command that describes receipts. It uses the trusted
// keys. If no file is specified and the default file does not exist, the verifier checks only
// integrity, and the key file is nil.
func VerifierIfKeys(e *cli.Env, flag string) (*receipt.Verifier, *KeyFile, error) {
	f := PolicyFlags{Keys: flag}
	if flag == "" && e.Getenv("RECEIPT_KEYS") == "" && e.Defaults.Keys == "" {
		_, err := os.Stat(TrustPath(e, ""))
		f.IntegrityOnly = errors.Is(err, fs.ErrNotExist)
	}
	return f.Verifier(e)
}

// KeyHint returns instructions for creating a key file from a file in another format.
func KeyHint(err error) string {
	var bad *keys.SetError
	if !errors.As(err, &bad) {
		return ""
	}
	switch bad.Form {
	case "PEM", "OpenSSH", "JWK":
		return "receipt keys import FILE --issuer ID adds its key to a trust file"
	case "PEM private key":
		return "receipt keys import PUBLIC_PEM --issuer ID adds the public half to a trust file"
	case "private JWK":
		return "receipt keys generate wrote the public half to its --keys file"
	}
	return ""
}
