package custody

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

const (
	pluginMark     = "://"
	pluginPrefix   = "sigstore-kms-"
	pluginProtocol = "v1"
)

// A pluginKey is a key that is reached through a sigstore plugin, with protocol v1 of the package
// pkg/signature/kms/cliplugin. The plugin is run once per request with two arguments, v1 and a JSON
// request. It reads the message from stdin, and writes a JSON response to stdout. Its exit status
// has no meaning.
type pluginKey struct {
	program
	resource string // ID of the key in the form that the plugin uses
	public   crypto.PublicKey
	hash     crypto.Hash // hash of the key's algorithm
}

func openPlugin(ctx context.Context, e *cli.Env, name string, o Options) (*keys.Signer, error) {
	plugin, resource, _ := strings.Cut(name, pluginMark)
	switch {
	case !isPluginName(plugin):
		return nil, cli.Usage("if the name of a file contains ://, put ./ in front of it",
			"invalid plugin name %q: must consist of letters, digits, -, _, and +", name)
	case resource == "":
		return nil, cli.Usage("NAME://KEY names a key of a plugin", "%q names no key", name)
	}

	p, err := findProgram(pluginPrefix+plugin, o.Patience)
	if err != nil {
		return nil, cli.Usage("install the plugin as the program sigstore-kms-NAME in a directory of PATH", "%q: %w", name, err)
	}
	e.Finally(p.rest)

	// The type of the key is unknown before it is fetched. Programs that call plugins use SHA-256
	// by default.
	k := &pluginKey{program: p, resource: resource, hash: crypto.SHA256}
	public, err := k.fetch(ctx)
	if ctx.Err() != nil {
		return nil, cli.Usage("", "interrupted")
	}
	if err != nil {
		return nil, cli.Usage("", "%q: %w", name, err)
	}

	// Later requests specify the hash for the type of the fetched key.
	k.public = public
	if ec, ok := public.(*ecdsa.PublicKey); ok {
		k.hash = hashOf(ec)
	}
	return newRemote(e, name, o.ID, k)
}

// isPluginName reports whether name is a valid plugin name. A valid name is a single file name and
// cannot lead to another directory.
func isPluginName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return name != "" && len(name) <= 64 && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"-_+") == ""
}

// hashOf returns the hash of the only algorithm for a curve (RFC 7518 section 3.4).
func hashOf(k *ecdsa.PublicKey) crypto.Hash {
	switch k.Params().BitSize {
	case 384:
		return crypto.SHA384
	case 521:
		return crypto.SHA512
	}
	return crypto.SHA256
}

// fetch requests the public key, which is PEM in base64.
func (k *pluginKey) fetch(ctx context.Context) (crypto.PublicKey, error) {
	text, err := k.ask(ctx, nil, "publicKey", "publicKeyPEM")
	if err != nil {
		return nil, err
	}

	// An RSA key is accepted here, so that newRemote can report why it cannot be used.
	public, err := keys.ParsePublicPEM(text, "", "")
	if err != nil {
		if public, rsa := keys.ParsePublicPEM(text, "", "PS256"); rsa == nil {
			return public.Crypto(), nil
		}
		return nil, fmt.Errorf("%s returned no public key: %w", k.name, err)
	}
	return public.Crypto(), nil
}

func (k *pluginKey) Public() crypto.PublicKey { return k.public }

func (k *pluginKey) SignContext(context.Context, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errHashed
}

// SignMessageContext requests a signature from the plugin: the 64 bytes of RFC 8032 for Ed25519, or
// DER for ECDSA, as the services return them.
func (k *pluginKey) SignMessageContext(ctx context.Context, message []byte, _ crypto.SignerOpts) ([]byte, error) {
	return k.ask(ctx, message, "signMessage", "signature")
}

// ask runs the plugin, and returns a member of its response, decoded from base64. The response has
// the form {METHOD: {MEMBER: VALUE}}.
func (k *pluginKey) ask(ctx context.Context, message []byte, method, member string) ([]byte, error) {
	text, err := k.question(method, time.Now().Add(k.patience).UTC())
	if err != nil {
		return nil, err
	}
	out, said, err := k.run(ctx, message, pluginProtocol, string(text))
	if err != nil {
		return nil, err
	}

	doc := new(canon.Document)
	if err := doc.Parse(out, canon.Limits{Bytes: maxAnswer, Depth: 64}); err != nil || doc.Root().Kind() != canon.KindObject {
		return nil, fmt.Errorf("%s did not return a JSON object%s", k.name, said)
	}

	// A plugin reports an error in errorMessage and not in its exit status.
	if why := doc.Root().Member("errorMessage").String(); why != "" {
		return nil, fmt.Errorf("%s says: %s%s", k.name, untrusted.Quote(why, maxNamed), said)
	}
	answer := doc.Root().Member(method)
	if answer.IsZero() {
		return nil, fmt.Errorf("%s returned no %s%s", k.name, method, said)
	}

	data, err := base64.StdEncoding.Strict().DecodeString(answer.Member(member).String())
	if err != nil || len(data) == 0 {
		return nil, fmt.Errorf("%s returned no %s, or not in base64", k.name, member)
	}
	return data, nil
}

// findProgram searches PATH for a plugin. It returns an error if the plugin is found in a relative
// directory, because that directory depends on the working directory.
func findProgram(name string, patience time.Duration) (program, error) {
	path, err := exec.LookPath(name)
	switch {
	case errors.Is(err, exec.ErrDot):
		return program{}, fmt.Errorf("%s is in a directory of PATH that is relative to the working directory", name)
	case err != nil:
		return program{}, fmt.Errorf("there is no program %s", name)
	}
	return program{name: name, path: path, patience: patience, running: new(runs)}, nil
}

// question returns the JSON of a request, as defined by sigstore's package cliplugin in
// common/interface.go and common/options.go. It includes all members that sigstore always sends,
// because plugins may rely on them.
func (k *pluginKey) question(method string, deadline time.Time) ([]byte, error) {
	type object = map[string]any
	rpc := object{"ctxDeadline": deadline, "keyVersion": "", "remoteVerification": false} // "" selects the version that the plugin chooses
	arguments := object{"publicKeyOptions": object{"rpcOptions": rpc}}
	if method == "signMessage" { // the message is passed on stdin, so no digest is needed
		arguments = object{"signOptions": object{"rpcOptions": rpc, "messageOptions": object{}}}
	}
	return json.Marshal(object{
		"initOptions": object{"ctxDeadline": deadline, "protocolVersion": pluginProtocol, "keyResourceID": k.resource, "hashFunc": k.hash, "rpcOptions": rpc},
		"methodName":  method,
		method:        arguments,
	})
}
