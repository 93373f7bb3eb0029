package pgserver_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
)

// asVictim is the environment variable that makes TestEnd start a server and then wait to be
// killed.
const asVictim = "PGSERVER_VICTIM"

// TestEnd verifies that no server is left running after a test is killed.
func TestEnd(t *testing.T) {
	if os.Getenv(asVictim) != "" {
		s := pgserver.Start(t)
		fmt.Println("server in", filepath.Dir(s.Data()))
		time.Sleep(time.Hour) // with select {}, the runtime could end the process because of a deadlock
	}

	victim := exec.Command(os.Args[0], "-test.run=^TestEnd$")
	victim.Env = append(os.Environ(), asVictim+"=1")
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	dir := ""
	for lines := bufio.NewScanner(out); dir == "" && lines.Scan(); {
		_, dir, _ = strings.Cut(lines.Text(), "server in ")
	}
	if dir == "" {
		victim.Wait()
		t.Skip("no server was started")
	}
	defer os.RemoveAll(dir)
	if len(serversIn(dir)) == 0 {
		t.Fatal("no server runs")
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	victim.Wait()

	left := serversIn(dir)
	for began := time.Now(); len(left) > 0 && time.Since(began) < time.Minute; left = serversIn(dir) {
		time.Sleep(20 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("the processes %q still run", left)
	}
}

// serversIn returns the processes whose working directory is inside the given directory.
func serversIn(dir string) (pids []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}
