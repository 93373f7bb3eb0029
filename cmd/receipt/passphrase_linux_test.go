package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"filippo.io/age"
	"filippo.io/age/armor"
	"golang.org/x/crypto/ssh"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// A typist types at a terminal in which a program with redirected streams was started.
type typist struct {
	t    *testing.T
	p    *pseudoterminal
	cmd  *exec.Cmd
	out  bytes.Buffer
	told bytes.Buffer
	read int // number of bytes of the terminal output that have been read
}

// atTerminal starts the program in a new session that has its own terminal.
func atTerminal(t *testing.T, dir, stdin string, args ...string) *typist {
	t.Helper()
	w := &typist{t: t, p: newTerminal(t, 80)}
	w.cmd = exec.Command("receipt", args...)
	w.cmd.Dir, w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = dir, strings.NewReader(stdin), &w.out, &w.told
	w.cmd.ExtraFiles = []*os.File{w.p.mine}
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill() })
	return w
}

// echoes reports whether the terminal echoes input.
func (w *typist) echoes() bool {
	var modes syscall.Termios
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, w.p.mine.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&modes))); errno != 0 {
		w.t.Fatal(errno)
	}
	return modes.Lflag&syscall.ECHO != 0
}

// asked waits for a prompt, and then until the terminal stops echoing input.
func (w *typist) asked(question string) {
	w.t.Helper()
	for began := time.Now(); !strings.Contains(w.p.String()[w.read:], question+" ") || w.echoes(); time.Sleep(time.Millisecond) {
		if time.Since(began) > patient {
			w.t.Fatalf("the prompt %s did not appear: %q, %s", question, w.p.String()[w.read:], &w.told)
		}
	}
	w.read = len(w.p.String())
}

// types responds to a prompt.
func (w *typist) types(question, text string) {
	w.t.Helper()
	w.asked(question)
	if _, err := io.WriteString(w.p.user, text); err != nil {
		w.t.Fatal(err)
	}
}

// ends waits until the program exits, and checks that the terminal echoes input again.
func (w *typist) ends(exit int) (stdout, stderr string) {
	w.t.Helper()
	defer time.AfterFunc(patient, func() { w.cmd.Process.Kill() }).Stop()
	w.cmd.Wait()
	if got := w.cmd.ProcessState.ExitCode(); got != exit {
		w.t.Errorf("%q: exit %d, expected %d: %s", w.cmd.Args, got, exit, &w.told)
	}
	if !w.echoes() {
		w.t.Errorf("%q: the terminal shows nothing that is typed", w.cmd.Args)
	}
	w.p.mine.Close()
	<-w.p.done
	if shown := w.p.String() + w.out.String() + w.told.String(); strings.Contains(shown, "correct horse") {
		w.t.Errorf("%q: the passphrase is shown: %s", w.cmd.Args, shown)
	}
	return w.out.String(), w.told.String()
}

// TestPassphrase verifies that an encrypted key signs only after its passphrase has been typed, and
// that stdin and stdout remain available for the receipt.
func TestPassphrase(t *testing.T) {
	dir := t.TempDir()
	draft := readFile(t, "../../docs/draft.json")
	const private = `passphrase of "me.key":`

	w := atTerminal(t, dir, "", "keys", "generate", "--issuer", "my_harness", "--id", "key_2026_04", "--private", "me.key", "--keys", "keys.json", "--encrypt")
	w.types(`passphrase for "me.key":`, "correct horse\n")
	w.types("the same again:", "correct horse\n")
	if _, told := w.ends(0); !strings.HasPrefix(told, "private key  me.key, encrypted with a passphrase\n") {
		t.Error(told)
	}
	text, err := os.ReadFile(filepath.Join(dir, "me.key"))
	if err != nil || !bytes.HasPrefix(text, []byte("-----BEGIN AGE ENCRYPTED FILE-----\n")) || bytes.Contains(text, []byte(`"kty"`)) {
		t.Errorf("%.100q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "me.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}

	w = atTerminal(t, dir, string(draft), "seal", "-", "--key", "me.key", "-o", "receipt.json")
	w.types(private, "correct horse\n")
	if out, told := w.ends(0); out+told != "" {
		t.Error(out, told)
	}
	cmd := exec.Command("receipt", "verify", "--keys", "keys.json", "receipt.json")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v, %s", err, out)
	}

	if !testsize.Full() { // a key that can be decrypted with less work
		writeFile(t, filepath.Join(dir, "me.key"), lightlyEncrypted(t, fixture(t, "keys/key_2026_04.private.json")))
	}
	w = atTerminal(t, dir, "", "keys", "public", "me.key")
	w.types(private, "correct horse\n")
	if out, _ := w.ends(0); !strings.Contains(out, `"kid": "key_2026_04"`) || strings.Contains(out, `"d"`) {
		t.Error(out)
	}
}

// lightlyEncrypted returns a private key in the format of "keys generate --encrypt", but with a
// lower work factor.
func lightlyEncrypted(t *testing.T, key string) []byte {
	t.Helper()
	recipient, err := age.NewScryptRecipient("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	recipient.SetWorkFactor(10)
	var file bytes.Buffer
	lines := armor.NewWriter(&file)
	text, err := age.Encrypt(lines, recipient)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(text, key)
	if err := errors.Join(err, text.Close(), lines.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestPassphraseWrong verifies that neither a receipt nor a key is written if the passphrase is
// wrong or empty.
func TestPassphraseWrong(t *testing.T) {
	dir := t.TempDir()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(key, "work", []byte("correct horse"))
	if err != nil {
		t.Fatal(err)
	}
	draft := readFile(t, "../../docs/draft.json")
	pkcs8 := readFile(t, "internal/custody/testdata/aes256-sha256.pem")
	for name, text := range map[string][]byte{"id_ed25519": pem.EncodeToMemory(block), "draft.json": draft, "key.pem": pkcs8} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	seal := []string{"seal", "draft.json", "-o", "receipt.json", "--key"}
	ssh, pem := append(seal, "id_ed25519"), append(seal, "key.pem", "--key-id", "key_2026_04")
	generate := []string{"keys", "generate", "--issuer", "x", "--private", "me.key", "--keys", "keys.json", "--encrypt"}
	const ofSSH, ofPEM, first, second = `passphrase of "id_ed25519":`, `passphrase of "key.pem":`, `passphrase for "me.key":`, "the same again:"

	for _, test := range []struct {
		args  []string
		types []string // prompts and responses, in turn
		told  string
	}{
		{ssh, []string{ofSSH, "wrong\n"}, "receipt: error: \"id_ed25519\": the passphrase is incorrect\n"},
		{ssh, []string{ofSSH, "\n"}, "receipt: error: no passphrase was typed\n"},
		{ssh, []string{ofSSH, "\x03"}, "receipt: error: interrupted\n"},
		{pem, []string{ofPEM, "wrong\n"}, "receipt: error: \"key.pem\": the passphrase is incorrect, or the file is damaged\n"},
		{generate, []string{first, "correct horse\n", second, "correct hors\n"}, "receipt: error: the passphrases differ; nothing was written\n"},
		{generate, []string{first, "\n"}, "receipt: error: no passphrase was typed\n"},
		{generate, []string{first, "correct horse\n", second, "\x03"}, "receipt: error: interrupted\n"},
	} {
		before := strings.Join(filesIn(t, dir), " ")
		w := atTerminal(t, dir, "", test.args...)
		for i := 0; i < len(test.types); i += 2 {
			w.types(test.types[i], test.types[i+1])
		}
		if out, told := w.ends(2); out != "" || told != test.told {
			t.Errorf("%q: %s, %s", test.types, out, told)
		}
		if after := strings.Join(filesIn(t, dir), " "); after != before {
			t.Errorf("%q: there is %s, want %s", test.types, after, before)
		}
	}

	// With correct responses, the same commands succeed.
	for _, test := range []struct{ args, types []string }{
		{ssh, []string{ofSSH, "correct horse\n"}},
		{pem, []string{ofPEM, "correct horse\n"}},
	} {
		w := atTerminal(t, dir, "", append(test.args, "--force")...)
		w.types(test.types[0], test.types[1])
		w.ends(0)
	}
}

// TestPassphraseWithoutTerminal verifies that a command without a terminal neither prompts over a
// pipe nor waits for input.
func TestPassphraseWithoutTerminal(t *testing.T) {
	dir := t.TempDir()
	text := readFile(t, "internal/custody/testdata/scrypt.pem")
	writeFile(t, filepath.Join(dir, "key.pem"), text)
	for _, test := range []struct {
		args []string
		told string
	}{
		{[]string{"keys", "public", "key.pem", "--id", "k"}, `receipt: error: "key.pem" is encrypted, and there is no terminal to prompt for its passphrase
receipt: hint: without a terminal, use a key in an agent or a plugin: --key agent:SHA256:… or NAME://KEY
`},
		{[]string{"keys", "generate", "--issuer", "x", "--private", "me.key", "--keys", "keys.json", "--encrypt"}, `receipt: error: there is no terminal to prompt for a passphrase; nothing was written
receipt: hint: run the command on a terminal
`},
	} {
		cmd := exec.Command("receipt", test.args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader("correct horse\ncorrect horse\n")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // there is no terminal, regardless of where the test runs
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || string(out) != test.told {
			t.Errorf("exit %d, %s", cmd.ProcessState.ExitCode(), out)
		}
	}
	if list := filesIn(t, dir); len(list) != 1 {
		t.Error(list)
	}
}

// filesIn returns the names of the files in a directory.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}
