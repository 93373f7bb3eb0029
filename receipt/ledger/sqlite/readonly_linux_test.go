package sqlite_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// reads reads a ledger in a process that has no write permission.
func reads(t *testing.T, path string, attr *syscall.SysProcAttr) string {
	t.Helper()
	program := filepath.Join(filepath.Dir(filepath.Dir(path)), "program")
	if _, err := os.Stat(program); err != nil {
		data, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LEDGER_AUDITOR="+path)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprint(err, " ", string(out))
	}
	return strings.TrimSpace(string(out))
}

// backups creates a ledger in the forms that a read-only backup can have: a copy, a copy with its
// head file, and a copy whose write-ahead log was not merged, with or without the index of the log.
func backups(t *testing.T) (dir string, want map[string]string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ledger-backups-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error { return os.Chmod(path, 0o755) })
		os.RemoveAll(dir)
	})
	path := filled(t, 3)
	all := writers(t, path, 1)
	end(all, 0) // the data that the writer wrote is in the log
	twin := filepath.Join(t.TempDir(), "twin.db")
	copyFile(t, path, twin)
	copyFile(t, path+"-wal", twin+"-wal")
	execute(t, twin, "PRAGMA wal_checkpoint(TRUNCATE)")
	copied := twin // the form that ".backup" creates
	log, err := os.Stat(path + "-wal")
	if err != nil || log.Size() == 0 {
		t.Fatal(log, err)
	}
	want = map[string]string{}
	n := len(storedIn(t, copied))
	for name, parts := range map[string][]string{"copy": nil, "head": {"-head"}, "log": {"-wal"}, "all": {"-wal", "-shm", "-head"}, "log and head": {"-wal", "-head"}, "an empty log": {}} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(folder, "ledger.db")
		from := path
		if name == "copy" || name == "head" || name == "an empty log" {
			from = copied
		}
		copyFile(t, from, to)
		for _, part := range parts {
			copyFile(t, path+part, to+part)
		}
		if name == "an empty log" {
			if err := os.WriteFile(to+"-wal", nil, 0o444); err != nil {
				t.Fatal(err)
			}
		}
		want[name] = fmt.Sprintf("%d receipts, 0 faults, marked %v", n, strings.Contains(strings.Join(parts, ""), "head"))
	}
	return dir, want
}

// TestReadOnly verifies that a backup in any form can be checked without write permission, and that
// the check does not change it.
func TestReadOnly(t *testing.T) {
	dir, want := backups(t)
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // the root user has all permissions
		attr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	for name, want := range want {
		folder := filepath.Join(dir, name)
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.Chmod(file, 0o444); err != nil {
				t.Fatal(err)
			}
		}
		os.Chmod(dir, 0o755)
		if err := os.Chmod(folder, 0o555); err != nil {
			t.Fatal(err)
		}
		if got := reads(t, filepath.Join(folder, "ledger.db"), attr); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if after, _ := filepath.Glob(filepath.Join(folder, "*")); len(after) != len(files) {
			t.Errorf("%s: there are %q, there were %q", name, after, files)
		}
	}
}

// TestReadOnlyMount runs TestReadOnly as root on a file system that is mounted read-only in a
// separate namespace.
func TestReadOnlyMount(t *testing.T) {
	dir, want := backups(t)
	program := filepath.Join(dir, "program")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	mount := `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"`
	if out, err := exec.Command("unshare", "-m", "sh", "-c", mount, "sh", dir).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %v: %s", err, out)
	}
	for name, want := range want {
		cmd := exec.Command("unshare", "-m", "sh", "-c", mount+` && ! touch "$1/x" 2>/dev/null && exec "$1/program"`, "sh", dir)
		cmd.Env = append(os.Environ(), "LEDGER_AUDITOR="+filepath.Join(dir, name, "ledger.db"))
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
}

// TestReadFullDisk verifies that a ledger in any of its forms can be read on a full disk, where
// SQLite cannot create its index.
func TestReadFullDisk(t *testing.T) {
	dir, want := backups(t)
	copyFile(t, os.Args[0], filepath.Join(dir, "program"))
	if err := os.Chmod(filepath.Join(dir, "program"), 0o755); err != nil {
		t.Fatal(err)
	}
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	mount := `mount -t tmpfs -o size=16m,mode=755 tmpfs "$1"`
	if out, err := exec.Command("unshare", "-m", "sh", "-c", mount, "sh", disk).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %v: %s", err, out)
	}
	for name, want := range want {
		fill := mount + ` && cp "$2"/* "$1" && ! cat /dev/zero > "$1/fill" 2>/dev/null && exec "$3"`
		cmd := exec.Command("unshare", "-m", "sh", "-c", fill, "sh", disk, filepath.Join(dir, name), filepath.Join(dir, "program"))
		cmd.Env = append(os.Environ(), "LEDGER_AUDITOR="+filepath.Join(disk, "ledger.db"))
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
}

// TestReadOnlyChanges verifies that a ledger that was opened read-only can no longer be read after
// another process writes to it.
func TestReadOnlyChanges(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("it needs two users")
	}
	dir, _ := backups(t)
	for _, name := range []string{"copy", "log"} {
		folder := filepath.Join(dir, name)
		path := filepath.Join(folder, "ledger.db")
		for _, file := range []string{path, path + "-wal"} {
			if err := os.Chmod(file, 0o444); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		os.Chmod(dir, 0o755)
		program := filepath.Join(dir, "program")
		copyFile(t, os.Args[0], program)
		os.Chmod(program, 0o755)
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "LEDGER_AUDITOR="+path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		ask := func() string {
			fmt.Fprintln(in, "a_1")
			lines.Scan()
			return lines.Text()
		}
		if lines.Scan(); !strings.Contains(lines.Text(), "0 faults") {
			t.Fatalf("%s: %s", name, lines.Text())
		}
		if got := ask(); got != "<nil>" {
			t.Errorf("%s: %s", name, got)
		}
		l, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}).Issue(t.Context(), draft("receipt_next", "next")); err != nil {
			t.Error(err)
		}
		if got := ask(); !strings.Contains(got, "was written into") {
			t.Errorf("%s: %s", name, got)
		}
		l.Close()
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
