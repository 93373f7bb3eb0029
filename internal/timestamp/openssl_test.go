package timestamp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// opensslConfig is the OpenSSL configuration for a root, an authority, and the authority's
// responses.
const opensslConfig = `
[req]
distinguished_name=dn
[dn]
[ca]
basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign
[leaf]
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=critical,timeStamping
[tsa]
default_tsa=t
[t]
serial=serial
crypto_device=builtin
signer_cert=tsa.crt
signer_key=tsa.key
signer_digest=sha256
default_policy=1.3.6.1.4.1.32473.1
other_policies=1.3.6.1.4.1.32473.2
digests=sha256
accuracy=secs:1,millisecs:500
ess_cert_id_alg=sha256
`

// An openssl is an authority that the openssl command operates in a directory.
type openssl string

// newOpenssl creates an authority with the given type of key. Its certificate is valid for one day.
func newOpenssl(t *testing.T, newkey ...string) openssl {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil && os.Getenv("CI") == "" {
		t.Skip("openssl is not installed")
	}
	o := openssl(t.TempDir())
	o.write(t, "tsa.cnf", []byte(opensslConfig))
	o.write(t, "serial", []byte("01\n"))
	key := append([]string{"-newkey"}, newkey...)
	o.run(t, append([]string{"req", "-x509", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-days", "3650", "-subj", "/CN=Root", "-config", "tsa.cnf", "-extensions", "ca"}, key...)...)
	o.run(t, append([]string{"req", "-new", "-nodes", "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=TSA", "-config", "tsa.cnf"}, key...)...)
	o.run(t, "x509", "-req", "-in", "tsa.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", "2", "-days", "1", "-extfile", "tsa.cnf", "-extensions", "leaf", "-out", "tsa.crt")
	return o
}

func (o openssl) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("openssl", args...)
	cmd.Dir = string(o)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (o openssl) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(string(o), name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (o openssl) read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(string(o), name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// answer returns the response to a stamp's request.
func (o openssl) answer(t *testing.T, s *Stamp) []byte {
	t.Helper()
	query, err := s.Query()
	if err != nil {
		t.Fatal(err)
	}
	o.write(t, "q.tsq", query)
	o.run(t, "ts", "-reply", "-config", "tsa.cnf", "-queryfile", "q.tsq", "-out", "r.tsr")
	return o.read(t, "r.tsr")
}

// TestOpenssl verifies the responses of an authority that is operated with openssl, and verifies
// that openssl also accepts them.
func TestOpenssl(t *testing.T) {
	for kind, newkey := range map[string][]string{"P-256": {"ec", "-pkeyopt", "ec_paramgen_curve:P-256"}, "RSA": {"rsa:2048"}} {
		t.Run(kind, func(t *testing.T) {
			o := newOpenssl(t, newkey...)
			roots, err := ParseRoots(o.read(t, "ca.crt"))
			if err != nil {
				t.Fatal(err)
			}
			s, _ := request(t, "1.3.6.1.4.1.32473.2")
			before := time.Now()
			if err := s.Attach(o.answer(t, s)); err != nil {
				t.Fatal(err)
			}
			p, err := s.Verify(roots, time.Now())
			if err != nil || p.Authority != "TSA" || p.Accuracy != 1500*time.Millisecond || p.Before().Before(before) || p.Time.After(time.Now()) {
				t.Fatalf("%+v, %v", p, err)
			}
			o.run(t, "ts", "-verify", "-queryfile", "q.tsq", "-in", "r.tsr", "-CAfile", "ca.crt")

			// After the certificate expires, the token must remain valid.
			if _, err := s.Verify(roots, time.Now().AddDate(3, 0, 0)); err != nil {
				t.Error(err)
			}
			for i, old := range s.Token {
				s.Token[i] ^= 0x55
				if _, err := s.Verify(roots, time.Now()); err == nil {
					t.Errorf("byte %d of the token was changed", i)
				}
				s.Token[i] = old
			}

			// Use another head, and then a policy that the authority does not support.
			other := *s
			other.Digest = canon.Sum([]byte("another head"))
			if got, text := outcome2(other.Verify(roots, time.Now())); got != "refuted" {
				t.Errorf("another head: %s: %s", got, text)
			}
			other = *s
			other.Policy = "1.3.6.1.4.1.32473.3"
			if err := other.Attach(o.answer(t, &other)); err == nil || !strings.Contains(fmt.Sprint(err), "status 2") {
				t.Errorf("another policy: %v", err)
			}
		})
	}
}
