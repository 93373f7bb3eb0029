// Package pgserver starts PostgreSQL servers for tests and kills them.
package pgserver

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Marker is the password of every server. It contains characters that must be escaped in an
// address. The password must never be printed.
const Marker = "hunter2-MARKER:/?#"

// A Server is a PostgreSQL server whose data is in a temporary directory. Clients connect to it
// through a socket in that directory.
type Server struct {
	bin, dir string
	as       *syscall.Credential // nil means the user of this process
	running  *exec.Cmd
	log      *os.File
}

// Start starts a server, which is stopped when the test ends. If PostgreSQL is not installed, the
// test is skipped, or fails if CI is set.
func Start(t testing.TB) *Server {
	t.Helper()
	bin, err := binaries()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}

	// The path of a socket is limited to about 100 bytes, and the result of t.TempDir may be
	// longer.
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{bin: bin, dir: dir}
	if err := s.initialize(); err != nil {
		t.Fatal(err)
	}
	s.Restart(t)
	t.Cleanup(func() { s.Kill() })
	return s
}

// binaries returns the directory that contains the programs of PostgreSQL. It prefers the newest
// version from Debian packages to the version in PATH.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		version := func(path string) int {
			n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
			return n
		}
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", fmt.Errorf("no PostgreSQL server is installed (Debian: apt-get install postgresql): %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}

// initialize creates the files for a server.
func (s *Server) initialize() error {
	if os.Geteuid() == 0 {
		// PostgreSQL refuses to run as root.
		as, err := unprivileged()
		if err != nil {
			return err
		}
		s.as = as
		if err := os.Chown(s.dir, int(as.Uid), int(as.Gid)); err != nil {
			return err
		}
	}

	pwfile := filepath.Join(s.dir, "pwfile")
	if err := os.WriteFile(pwfile, []byte(Marker+"\n"), 0o644); err != nil { // password of a temporary server
		return err
	}
	// Only processes are killed, not the machine, so the files do not have to be synced.
	initdb := s.command("initdb", "--pgdata="+s.Data(), "--username=ledger", "--auth=scram-sha-256", "--pwfile="+pwfile, "--encoding=UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}

	log, err := os.Create(filepath.Join(s.dir, "log"))
	s.log = log
	return err
}

// unprivileged returns the user that runs the server if the test runs as root.
func unprivileged() (*syscall.Credential, error) {
	var missing error
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			missing = err
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, missing
}

// Data returns the directory of the server's files.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	EndWithTest(c.SysProcAttr)
	return c
}

// Restart starts a server that is not running, with settings such as "fsync=off", and waits until
// the server has recovered. By default, commits do not wait for the disk, as on servers that are
// optimized for speed.
func (s *Server) Restart(t testing.TB, settings ...string) {
	t.Helper()
	args := []string{"-D", s.Data()}
	for _, setting := range append([]string{"listen_addresses=", "unix_socket_directories=" + s.dir, "max_connections=200", "synchronous_commit=off"}, settings...) {
		args = append(args, "-c", setting)
	}
	s.running = s.command("postgres", args...)
	s.running.Stdout, s.running.Stderr = s.log, s.log
	if err := s.running.Start(); err != nil {
		t.Fatal(err)
	}

	var err error
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(20 * time.Millisecond) {
		if err = s.Exec("SELECT 1"); err == nil {
			return
		}
	}
	t.Fatalf("the server does not start: %v\n%s", err, s.Log())
}

// Kill ends the server and all of its processes with SIGKILL, as if the machine had failed.
func (s *Server) Kill() {
	// After SIGSTOP, the server starts no more processes.
	syscall.Kill(s.running.Process.Pid, syscall.SIGSTOP)
	children := processesOf(s.running.Process.Pid)
	for _, pid := range children {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	s.running.Process.Kill()
	s.running.Wait()

	// A process that is still ending holds the shared memory, and the server cannot start again
	// until that memory is released.
	for _, pid := range children {
		for began := time.Now(); runs(pid) && time.Since(began) < time.Minute; {
			time.Sleep(time.Millisecond)
		}
	}
}

// processesOf returns the child processes of a process.
func processesOf(parent int) (children []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if _, of, found := status(path); found && of == strconv.Itoa(parent) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				children = append(children, pid)
			}
		}
	}
	return children
}

// runs reports whether a process is still running.
func runs(pid int) bool {
	state, _, found := status(fmt.Sprintf("/proc/%d/stat", pid))
	return found && state != "Z" && state != "X"
}

// status reads the state and the parent of a process from a file that the system provides.
func status(path string) (state, parent string, found bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", "", false
	}

	// The name in parentheses may contain any characters. It is followed by the state and the
	// parent.
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return "", "", false
	}
	return fields[0], fields[1], true
}

// Log returns the last lines that the server has printed.
func (s *Server) Log() string {
	data, _ := os.ReadFile(s.log.Name())
	return string(data[max(0, len(data)-2000):])
}

// Address returns the address of a database, including the password and connection parameters.
func (s *Server) Address(database string, parameters ...string) string {
	query := url.Values{"host": {s.dir}}
	for i := 0; i < len(parameters); i += 2 {
		query.Set(parameters[i], parameters[i+1])
	}
	return (&url.URL{Scheme: "postgres", User: url.UserPassword("ledger", Marker), Path: "/" + database, RawQuery: query.Encode()}).String()
}

// Exec executes statements in the database "postgres".
func (s *Server) Exec(statements string) error { return Exec(s.Address("postgres"), statements) }

// Exec executes statements in the database at an address. The changes are synced, so that a server
// that is killed afterward does not lose them.
func Exec(address, statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	config.RuntimeParams["synchronous_commit"] = "on"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statements)
	return err
}

// Database creates a database whose name is a plain identifier, and returns its address.
func (s *Server) Database(t testing.TB, name string) (address string) {
	t.Helper()
	if err := s.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	return s.Address(name)
}
