package custody_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/fixtures/keyservice"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

const long = 30 * time.Second // long enough to start a process on a busy machine

// plugins adds a directory to PATH that contains the plugin under the given names.
func plugins(t *testing.T, names ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(dir, "sigstore-kms-"+name)); err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestPlugin(t *testing.T) {
	plugins(t, "test", "my-hsm_2")
	for name, algorithm := range map[string]string{
		"test://ed25519": keys.Ed25519, "my-hsm_2://ed25519": keys.Ed25519, "test://p256": "ES256", "test://p384": "ES384",
		"test://ed25519?sign=mutter": keys.Ed25519,
	} {
		e := environment(t, nil)
		key := open(t, e, name, long)
		if key.Public().Algorithm != algorithm {
			t.Errorf("%s: %s", name, key.Public().Algorithm)
		}
		check(t, key)
		if key, err := custody.Open(t.Context(), e, name, custody.Options{ID: "mine", Patience: long}); err != nil || key.Public().ID != "mine" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPluginID verifies that a key has the same ID in a plugin as elsewhere.
func TestPluginID(t *testing.T) {
	plugins(t, "test")
	public := open(t, environment(t, nil), "test://ed25519", long).Public()
	want, err := keys.FromPublic(public.Crypto(), "", "")
	if err != nil || public.ID != want.ID || !strings.HasPrefix(public.ID, "ed25519:") {
		t.Errorf("%q, want %q, %v", public.ID, want.ID, err)
	}
}

// TestPluginRefuses verifies that an invalid response from a plugin is never used as a signature.
func TestPluginRefuses(t *testing.T) {
	plugins(t, "test")
	for how, want := range map[string]string{
		"deny":          `sigstore-kms-test says: "the operator said \x1b[31mno\nand left"`,
		"silent":        `sigstore-kms-test returned nothing (exit status 0)`,
		"nonsense":      `sigstore-kms-test did not return a JSON object`,
		"list":          `sigstore-kms-test did not return a JSON object`,
		"cut":           `sigstore-kms-test did not return a JSON object`,
		"twice":         `sigstore-kms-test did not return a JSON object`,
		"text":          `sigstore-kms-test returned no signature, or not in base64`,
		"other-method":  `sigstore-kms-test returned no signMessage`,
		"loud":          `sigstore-kms-test returned more than 1048576 bytes`,
		"short":         `signer returned 63 bytes, but a signature with ed25519 has 64`,
		"other-key":     `signer returned a signature that its public key does not verify (signature_invalid: not a signature of "ed25519:c0677479be4d1285ea9adbb4303a62ff" over the stated hash)`,
		"other-message": `signer returned a signature that its public key does not verify (signature_invalid: not a signature of "ed25519:c0677479be4d1285ea9adbb4303a62ff" over the stated hash)`,
	} {
		key := open(t, environment(t, nil), "test://ed25519?sign="+how, long)
		got := signing(t.Context(), t, key)
		if rest := strings.TrimPrefix(got, `keys: signing with "`+key.Public().ID+`": `); rest != want {
			t.Errorf("%s:\n%s\nwant\n%s", how, rest, want)
		}
	}
}

// TestPluginKeyRefused verifies that an invalid response to a request for the public key is
// rejected.
func TestPluginKeyRefused(t *testing.T) {
	plugins(t, "test")
	e := environment(t, nil)
	for name, want := range map[string]string{
		"test://ed25519?key=deny":         `"test://ed25519?key=deny": sigstore-kms-test says: "the operator said \x1b[31mno\nand left"`,
		"test://ed25519?key=silent":       `"test://ed25519?key=silent": sigstore-kms-test returned nothing (exit status 0)`,
		"test://ed25519?key=loud":         `"test://ed25519?key=loud": sigstore-kms-test returned more than 1048576 bytes`,
		"test://ed25519?key=text":         `"test://ed25519?key=text": sigstore-kms-test returned no publicKeyPEM, or not in base64`,
		"test://ed25519?key=other-method": `"test://ed25519?key=other-method": sigstore-kms-test returned no publicKey`,
		"test://rsa":                      `"test://rsa" is an RSA key, which does not specify which of six algorithms it signs with`,
		"test://":                         `"test://" names no key`,
		"test://none":                     `"test://none": sigstore-kms-test says: "there is no key \"none\""`,
		"none://x":                        `"none://x": there is no program sigstore-kms-none`,
		"../bin/test://x":                 `invalid plugin name "../bin/test://x": must consist of letters, digits, -, _, and +`,
		"..://x":                          `invalid plugin name "..://x": must consist of letters, digits, -, _, and +`,
		`a\b://x`:                         `invalid plugin name "a\\b://x": must consist of letters, digits, -, _, and +`,
		"-a://x":                          `invalid plugin name "-a://x": must consist of letters, digits, -, _, and +`,
		"://x":                            `invalid plugin name "://x": must consist of letters, digits, -, _, and +`,
	} {
		if got := refused(t.Context(), t, e, name, long); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestPluginMessages verifies that an error contains the other output of the plugin, quoted and
// shortened.
func TestPluginMessages(t *testing.T) {
	plugins(t, "test")
	got := refused(t.Context(), t, environment(t, nil), "test://ed25519?key=secret", long)
	if !strings.HasPrefix(got, `"test://ed25519?key=secret": sigstore-kms-test says: "no session"; it wrote "login with ghp_`) || len(got) > 700 {
		t.Error(got)
	}
	if shown := environment(t, nil).WithoutSecrets(got); strings.Contains(shown, "0123456789abcdef") {
		t.Error(shown)
	}
}

// TestPluginSlow verifies that a plugin that does not respond is killed after the timeout.
func TestPluginSlow(t *testing.T) {
	plugins(t, "test")
	e := environment(t, nil)
	if got := refused(t.Context(), t, e, "test://ed25519?key=slow", 300*time.Millisecond); got !=
		`"test://ed25519?key=slow": sigstore-kms-test did not answer within 300ms (see --key-timeout)` {
		t.Error(got)
	}

	// This plugin returns the key but does not sign in time.
	key := open(t, e, "test://ed25519?sign=slow", 5*time.Second)
	if _, err := key.Sign(t.Context(), []byte(hash)); err == nil || !strings.HasSuffix(err.Error(), `: sigstore-kms-test did not answer within 5s (see --key-timeout)`) {
		t.Error(err)
	}
}

// TestPluginInterrupted verifies that an interruption ends the wait for a plugin immediately.
func TestPluginInterrupted(t *testing.T) {
	plugins(t, "test")
	e := environment(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	began := time.Now()
	if got := refused(ctx, t, e, "test://ed25519?key=slow", time.Hour); got != "interrupted" || time.Since(began) > long {
		t.Errorf("%s after %s", got, time.Since(began))
	}
}

// TestPluginRelativePath verifies that a program in a relative directory of PATH is never run.
func TestPluginRelativePath(t *testing.T) {
	plugins(t, "test")
	t.Chdir(filepath.SplitList(os.Getenv("PATH"))[0])
	t.Setenv("PATH", "."+string(os.PathListSeparator)+filepath.Join("..", filepath.Base(filepath.SplitList(os.Getenv("PATH"))[0])))
	if got := refused(t.Context(), t, environment(t, nil), "test://ed25519", long); got !=
		`"test://ed25519": sigstore-kms-test is in a directory of PATH that is relative to the working directory` {
		t.Error(got)
	}
}

// TestEndWaits verifies that End waits until all running plugins have exited.
func TestEndWaits(t *testing.T) {
	plugins(t, "test")
	asked, release := make(chan bool), make(chan struct{})
	socket := filepath.Join(socketFolder(t), "s")
	closed, err := keyservice.Listen(socket, func(c net.Conn) {
		asked <- true
		<-release
	})
	if err != nil {
		t.Fatal(err)
	}
	defer closed()
	t.Setenv("CUSTODYTEST_SOCKET", socket)

	e := environment(t, nil)
	key := open(t, e, "test://ed25519?sign=wait", long)
	signed := make(chan error, 1)
	go func() {
		_, err := key.Sign(t.Context(), []byte(hash))
		signed <- err
	}()
	<-asked
	ended := make(chan struct{})
	go func() {
		e.End()
		close(ended)
	}()
	select {
	case <-ended:
		t.Error("the command ended before the plugin")
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	<-ended
	if err := <-signed; err != nil {
		t.Error(err)
	}
}
