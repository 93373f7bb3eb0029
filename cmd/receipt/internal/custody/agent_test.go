package custody_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/fixtures/keyservice"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// socketFolder returns a directory whose path is short enough for a socket.
func socketFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// newAgent starts an agent with keys, and returns an environment in which SSH_AUTH_SOCK refers to
// the agent.
func newAgent(t *testing.T, names ...string) (*keyservice.Agent, *cli.Env) {
	t.Helper()
	a, err := keyservice.NewAgent(names...)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(socketFolder(t), "s")
	closed, err := keyservice.Serve(socket, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closed)
	return a, environment(t, map[string]string{"SSH_AUTH_SOCK": socket})
}

// listens starts a server that is not an agent, and returns an environment in which SSH_AUTH_SOCK
// refers to the server.
func listens(t *testing.T, answer func(net.Conn)) *cli.Env {
	t.Helper()
	socket := filepath.Join(socketFolder(t), "s")
	closed, err := keyservice.Listen(socket, answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closed)
	return environment(t, map[string]string{"SSH_AUTH_SOCK": socket})
}

// named returns the value of --key for a test key in an agent.
func named(t *testing.T, key string) string {
	t.Helper()
	fingerprint, err := keyservice.Fingerprint(key)
	if err != nil {
		t.Fatal(err)
	}
	return "agent:" + fingerprint
}

// TestAgent verifies that an agent signs with the key that has the given fingerprint, even if
// several of its keys have the same comment.
func TestAgent(t *testing.T) {
	_, e := newAgent(t, "rsa", "other-ed25519", "ed25519", "p256", "p384")
	for name, algorithm := range map[string]string{"ed25519": keys.Ed25519, "other-ed25519": keys.Ed25519, "p256": "ES256", "p384": "ES384"} {
		key := open(t, e, named(t, name), long)
		own, err := keyservice.Key(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := keys.FromPublic(own.Public(), "", "") // the same key in a file has this ID
		if err != nil || key.Public().ID != want.ID || key.Public().Algorithm != algorithm {
			t.Errorf("%s: %s, %s, %v", name, key.Public().ID, key.Public().Algorithm, err)
		}
		check(t, key)
	}
}

// TestRealAgent verifies that signing also works with OpenSSH's ssh-agent.
func TestRealAgent(t *testing.T) {
	if _, err := exec.LookPath("ssh-agent"); err != nil {
		t.Skip(err)
	}
	socket := filepath.Join(socketFolder(t), "s")
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})

	// Use the agent protocol to add keys.
	var conn net.Conn
	for began := time.Now(); conn == nil; time.Sleep(5 * time.Millisecond) {
		var err error
		if conn, err = net.Dial("unix", socket); err != nil && time.Since(began) > long {
			t.Fatal(err)
		}
	}
	defer conn.Close()
	real := agent.NewClient(conn)
	for _, name := range []string{"ed25519", "p256", "p384", "other-ed25519"} {
		key, err := keyservice.Key(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := real.Add(agent.AddedKey{PrivateKey: key, Comment: "work"}); err != nil {
			t.Fatal(err)
		}
	}

	e := environment(t, map[string]string{"SSH_AUTH_SOCK": socket})
	for _, name := range []string{"ed25519", "p256", "p384"} {
		check(t, open(t, e, named(t, name), long))
	}

	// A locked agent lists no keys and does not sign.
	key := open(t, e, named(t, "ed25519"), long)
	if err := real.Lock([]byte("x")); err != nil {
		t.Fatal(err)
	}
	const refusal = ": the ssh-agent did not sign (agent: failed to sign challenge): the key was removed, the agent was locked, or the request was declined"
	if got := signing(t.Context(), t, key); !strings.HasSuffix(got, refusal) {
		t.Error(got)
	}
	if got := refused(t.Context(), t, e, named(t, "ed25519"), long); got != `"`+named(t, "ed25519")+`": the ssh-agent has no keys` {
		t.Error(got)
	}

	// After the agent is unlocked, the key is found again. Then it is removed.
	if err := real.Unlock([]byte("x")); err != nil {
		t.Fatal(err)
	}
	key = open(t, e, named(t, "ed25519"), long)
	if err := real.RemoveAll(); err != nil {
		t.Fatal(err)
	}
	if got := signing(t.Context(), t, key); !strings.HasSuffix(got, refusal) {
		t.Error(got)
	}
}

// TestAgentSigns verifies that an invalid response from an agent is never used as a signature.
func TestAgentSigns(t *testing.T) {
	a, e := newAgent(t, "ed25519", "p256")
	for name, test := range map[string]struct {
		key  string
		sign func(ssh.PublicKey, []byte) (*ssh.Signature, error)
		want string
	}{
		"another key": {"ed25519", func(_ ssh.PublicKey, m []byte) (*ssh.Signature, error) {
			other, err := keyservice.Key("other-ed25519")
			if err != nil {
				return nil, err
			}
			s, err := ssh.NewSignerFromKey(other)
			if err != nil {
				return nil, err
			}
			return s.Sign(rand.Reader, m)
		}, "signer returned a signature that its public key does not verify"},
		"another message": {"ed25519", func(k ssh.PublicKey, m []byte) (*ssh.Signature, error) {
			return a.ExtendedAgent.Sign(k, append(m, '.'))
		}, "signer returned a signature that its public key does not verify"},
		"another message, ECDSA": {"p256", func(k ssh.PublicKey, m []byte) (*ssh.Signature, error) {
			return a.ExtendedAgent.Sign(k, append(m, '.'))
		}, "signer returned a signature that its public key does not verify"},
		"another type": {"ed25519", func(ssh.PublicKey, []byte) (*ssh.Signature, error) {
			return &ssh.Signature{Format: "ssh-rsa\x1b[31m", Blob: make([]byte, 64)}, nil
		}, `the ssh-agent returned a signature of type "ssh-rsa\x1b[31m", expected ssh-ed25519`},
		"more than a signature": {"ed25519", func(k ssh.PublicKey, m []byte) (*ssh.Signature, error) {
			s, err := a.ExtendedAgent.Sign(k, m)
			s.Rest = []byte{1}
			return s, err
		}, "the ssh-agent returned more than a signature"},
		"too short": {"ed25519", func(ssh.PublicKey, []byte) (*ssh.Signature, error) {
			return &ssh.Signature{Format: ssh.KeyAlgoED25519, Blob: make([]byte, 63)}, nil
		}, "signer returned 63 bytes, but a signature with ed25519 has 64"},
		"no numbers": {"p256", func(ssh.PublicKey, []byte) (*ssh.Signature, error) {
			return &ssh.Signature{Format: ssh.KeyAlgoECDSA256, Blob: make([]byte, 7)}, nil
		}, "the ssh-agent returned no ECDSA signature: "},
		"zeros": {"p256", func(ssh.PublicKey, []byte) (*ssh.Signature, error) {
			return &ssh.Signature{Format: ssh.KeyAlgoECDSA256, Blob: make([]byte, 8)}, nil
		}, "signer returned an invalid ASN.1 ECDSA signature"},
		"no": {"ed25519", func(ssh.PublicKey, []byte) (*ssh.Signature, error) {
			return nil, errors.New("denied")
		}, "the ssh-agent did not sign (agent: failed to sign challenge): the key was removed, the agent was locked, or the request was declined"},
	} {
		a.OnSign = test.sign
		key := open(t, e, named(t, test.key), long)
		got := signing(t.Context(), t, key)
		if rest := strings.TrimPrefix(got, `keys: signing with "`+key.Public().ID+`": `); !strings.HasPrefix(rest, test.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, rest, test.want)
		}
	}
}

// TestAgentKeys verifies that keys that cannot sign receipts are rejected, and that the error
// states the reason.
func TestAgentKeys(t *testing.T) {
	a, e := newAgent(t, "ed25519")
	ed, err := keyservice.Key("ed25519")
	if err != nil {
		t.Fatal(err)
	}
	raw := ed.Public().(ed25519.PublicKey)
	security := func(kind string, fields any) *agent.Key {
		blob := ssh.Marshal(struct {
			Kind string
			Rest []byte `ssh:"rest"`
		}{kind, ssh.Marshal(fields)})
		return &agent.Key{Format: kind, Blob: blob, Comment: "token"}
	}
	sk := security(ssh.KeyAlgoSKED25519, struct {
		Key         []byte
		Application string
	}{raw, "ssh:"})
	skKey, err := ssh.ParsePublicKey(sk.Blob)
	if err != nil {
		t.Fatal(err)
	}

	plain, err := ssh.NewPublicKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(ed)
	if err != nil {
		t.Fatal(err)
	}
	certificate := &ssh.Certificate{Key: plain, CertType: ssh.UserCert, ValidBefore: ssh.CertTimeInfinity}
	if err := certificate.SignCert(rand.Reader, signer); err != nil {
		t.Fatal(err)
	}

	rsaKey, err := keyservice.Key("rsa")
	if err != nil {
		t.Fatal(err)
	}
	rsaPublic, err := ssh.NewPublicKey(rsaKey.Public())
	if err != nil {
		t.Fatal(err)
	}

	listed := func(list ...*agent.Key) func() ([]*agent.Key, error) {
		return func() ([]*agent.Key, error) { return list, nil }
	}
	whole := func(k ssh.PublicKey) *agent.Key { return &agent.Key{Format: k.Type(), Blob: k.Marshal()} }
	unknown := security("sparkle-2030", struct{ X []byte }{raw})
	for _, test := range []struct {
		name string
		list func() ([]*agent.Key, error)
		key  string
		want string
	}{
		{"a security key", listed(sk), ssh.FingerprintSHA256(skKey),
			" is a key of the type sk-ssh-ed25519@openssh.com: a security key adds its own data to the message, so its signature does not verify for a receipt"},
		{"RSA", listed(whole(rsaPublic)), ssh.FingerprintSHA256(rsaPublic), " is an RSA key, which does not specify which of six algorithms it signs with"},
		{"a certificate", listed(whole(certificate)), ssh.FingerprintSHA256(plain), ": the ssh-agent has a certificate of this key, but not the key"},
		{"another key", listed(unknown, whole(rsaPublic)), ssh.FingerprintSHA256(plain), " is not among the 2 keys of the ssh-agent: " + ssh.FingerprintSHA256(rsaPublic)},
		{"none", listed(), ssh.FingerprintSHA256(plain), ": the ssh-agent has no keys"},
	} {
		a.OnList = test.list
		name := "agent:" + test.key
		if got := refused(t.Context(), t, e, name, long); got != `"`+name+`"`+test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}

	// Certificates and unknown key types in the agent do not prevent other keys from being found.
	a.OnList = listed(unknown, whole(certificate), whole(plain))
	check(t, open(t, e, named(t, "ed25519"), long))
}

// TestAgentNames verifies that a key can be selected only by its complete fingerprint.
func TestAgentNames(t *testing.T) {
	_, e := newAgent(t, "ed25519")
	whole := named(t, "ed25519")
	for _, name := range []string{"agent:", "agent:work", "agent:SHA256:", "agent:MD5:00:11", whole[:len(whole)-1], whole + "=", whole + "A", "agent: " + whole[6:]} {
		if got := refused(t.Context(), t, e, name, long); !strings.HasPrefix(got, "a key of an ssh-agent is named by its fingerprint, agent:SHA256: and 43 characters of base64, found ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestAgentAbsent verifies the errors that are reported if there is no agent, or if the server is
// not an agent.
func TestAgentAbsent(t *testing.T) {
	name := named(t, "ed25519")
	if got := refused(t.Context(), t, environment(t, nil), name, long); got != `"`+name+`": there is no ssh-agent: SSH_AUTH_SOCK is not set` {
		t.Error(got)
	}
	nowhere := environment(t, map[string]string{"SSH_AUTH_SOCK": filepath.Join(t.TempDir(), "none")})
	if got := refused(t.Context(), t, nowhere, name, long); !strings.HasPrefix(got, `"`+name+`": no ssh-agent: nobody listens: dial unix `) {
		t.Error(got)
	}

	read := func(c net.Conn) { // reads a request, which consists of a length and a body
		var size [4]byte
		if _, err := io.ReadFull(c, size[:]); err == nil {
			_, _ = io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(size[:])))
		}
	}
	for what, answer := range map[string]string{
		"nothing":    "",
		"half":       "\x00\x00\x00\x09\x0c\x00",
		"a page":     "HTTP/1.1 400 Bad Request\r\n\r\n",
		"too much":   "\xff\xff\xff\xff",
		"no message": "\x00\x00\x00\x00",
		"other type": "\x00\x00\x00\x01\x06",
		"failure":    "\x00\x00\x00\x01\x05",
		"many keys":  "\x00\x00\x00\x05\x0c\xff\xff\xff\xff",
		"bad keys":   "\x00\x00\x00\x0d\x0c\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x00",
	} {
		e := listens(t, func(c net.Conn) {
			read(c)
			_, _ = io.WriteString(c, answer)
		})
		if got := refused(t.Context(), t, e, name, long); !strings.HasPrefix(got, `"`+name+`": the program at `) || len(got) > 1000 {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestAgentSlow verifies that the wait for an unresponsive agent ends after a timeout or an
// interruption.
func TestAgentSlow(t *testing.T) {
	over := make(chan struct{})
	e := listens(t, func(c net.Conn) { <-over })
	defer close(over)
	name := named(t, "ed25519")
	if got := refused(t.Context(), t, e, name, 200*time.Millisecond); !strings.HasSuffix(got, " did not answer within 200ms") {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if got := refused(ctx, t, e, name, time.Hour); got != "interrupted" {
		t.Error(got)
	}

	// This agent lists its keys, but waits for the user's confirmation before it signs.
	a, e := newAgent(t, "ed25519")
	a.OnSign = func(ssh.PublicKey, []byte) (*ssh.Signature, error) {
		<-over
		return nil, errors.New("nobody came")
	}
	key := open(t, e, name, time.Second)
	if _, err := key.Sign(t.Context(), []byte(hash)); err == nil || !strings.HasSuffix(err.Error(), ": the ssh-agent did not answer within 1s (see --key-timeout)") {
		t.Error(err)
	}
}

// TestFiles verifies that an OpenSSH private key has the same ID in a file as in an agent.
func TestFiles(t *testing.T) {
	e := environment(t, nil)
	for _, name := range []string{"ed25519", "p256", "p384"} {
		own, err := keyservice.Key(name)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(own, "work")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "id")
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		key := open(t, e, path, time.Second)
		if want, err := keys.FromPublic(own.Public(), "", ""); err != nil || key.Public().ID != want.ID {
			t.Errorf("%s: %s, %v", name, key.Public().ID, err)
		}
		check(t, key)
	}
}
