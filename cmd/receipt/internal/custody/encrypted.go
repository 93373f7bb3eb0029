package custody

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// ageHeader is the beginning of an encrypted file (C2SP age) without armor.
const ageHeader = "age-encryption.org/v1\n"

func isAge(data []byte) bool {
	return bytes.HasPrefix(data, []byte(ageHeader)) || isArmored(data)
}

func isArmored(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte(armor.Header))
}

// decryptAge decrypts a file, after prompting for its passphrase.
func decryptAge(ctx context.Context, e *cli.Env, path string, data []byte) ([]byte, error) {
	var in io.Reader = bytes.NewReader(data)
	if isArmored(data) {
		in = armor.NewReader(in)
	}

	out, err := age.Decrypt(in, &typist{ctx: ctx, e: e, path: path})
	switch {
	case errors.As(err, new(*cli.Failure)): // the prompt failed, and its error already explains the failure
		return nil, err
	case errors.As(err, new(*age.NoIdentityMatchError)):
		return nil, wrongPassphrase(path)
	case err != nil:
		return nil, cli.Usage("", "%q is not a readable age file: %w", path, err)
	}

	// One more byte than the limit is read, so that a longer file is rejected and not truncated.
	text, err := io.ReadAll(io.LimitReader(out, maxFile+1))
	if err != nil {
		return nil, cli.Usage("", "%q is damaged: %w", path, err)
	}
	if len(text) > maxFile {
		return nil, cli.Usage("", "%q is larger than the limit for a key file, %d bytes", path, maxFile)
	}
	return text, nil
}

// A typist is an age identity that prompts for a passphrase on the terminal if the file is
// encrypted with one.
type typist struct {
	ctx  context.Context
	e    *cli.Env
	path string
}

// Unwrap implements [age.Identity].
func (t *typist) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if n := workFactor(stanzas); n > maxWorkFactor {
		return nil, cli.Usage("decrypt it with age -d, and encrypt it again with age -p -a", "%q requires scrypt with 2^%d rounds, more than 2^%d", t.path, n, maxWorkFactor)
	}
	if !slices.ContainsFunc(stanzas, func(s *age.Stanza) bool { return s.Type == "scrypt" }) {
		return nil, cli.Usage("decrypt it with age -d -i IDENTITY, and encrypt it with age -p -a", "%q is encrypted to keys, not with a passphrase", t.path)
	}
	passphrase, err := askFor(t.ctx, t.e, t.path)
	if err != nil {
		return nil, err
	}
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(maxWorkFactor)
	return identity.Unwrap(stanzas)
}

// maxWorkFactor limits the work that a file can require. 2^20 rounds use 1 GiB of memory and take
// some seconds, as for PKCS #8. Files that the age program writes require a quarter of this work.
const maxWorkFactor = 20

// workFactor returns the largest scrypt work factor in a file (C2SP age, "The scrypt recipient
// type"). A file that exceeds the limit can therefore be rejected before the prompt. Malformed
// stanzas are skipped here, because age itself rejects them.
func workFactor(stanzas []*age.Stanza) (most int) {
	for _, s := range stanzas {
		if s.Type != "scrypt" || len(s.Args) != 2 {
			continue
		}
		if n, err := strconv.Atoi(s.Args[1]); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// Encrypt encrypts the text of a private key with a passphrase, in the same way as "age -p -a".
func Encrypt(text []byte, passphrase string) ([]byte, error) {
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}

	var b strings.Builder
	armored := armor.NewWriter(&b)
	w, err := age.Encrypt(armored, to)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := errors.Join(w.Close(), armored.Close()); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}
