package harness_test

import (
	"fmt"
	"sync"
	"testing"
)

// TestReadWhileChanged verifies that a reader gets a resource either as it was before a concurrent
// change or as it is afterward, but never a mix of both.
func TestReadWhileChanged(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	const times = 60
	version := func(n int) object {
		return object{"version": fmt.Sprintf("%010d", n), "again": fmt.Sprintf("%010d", n)}
	}
	c.ask("PATCH", "/v1/sessions/"+c.session, 200, object{"summary": fmt.Sprintf("%010d", 0), "metadata": version(0)})
	c.ask("PATCH", "/v1/workspaces/"+c.workspace, 200, object{"name": fmt.Sprintf("%010d", 0), "metadata": version(0)})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for _, path := range []string{"/v1/sessions/" + c.session, "/v1/workspaces/" + c.workspace} {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				r := c.get(path)
				metadata := r["metadata"].(map[string]any)
				if summary, told := r["summary"]; metadata["version"] != metadata["again"] || told && summary != metadata["version"] {
					t.Errorf("%v", r)
				}
			}
		})
	}
	for n := range times {
		c.ask("PATCH", "/v1/sessions/"+c.session, 200, object{"summary": fmt.Sprintf("%010d", n), "metadata": version(n)})
		c.ask("PATCH", "/v1/workspaces/"+c.workspace, 200, object{"name": fmt.Sprintf("%010d", n), "metadata": version(n)})
	}
	close(done)
	readers.Wait()
}
