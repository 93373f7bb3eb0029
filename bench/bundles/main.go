// Command bundles measures the time and memory for exporting, sanitizing, checking, importing,
// and drafting a large session bundle, each in a separate process. See ../README.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// Limits for a bundle of 64 MB.
const (
	mostSeconds = 3
	mostMemory  = 4 // times its size
)

func main() {
	size := flag.Int("mb", 64, "`MB` of the run record and of the bundle")
	must := flag.Bool("must", false, "exit 1 when one takes longer or more than it may")
	work := flag.String("work", "", "do this `WORK` with the file or folder, which is how the processes are started")
	flag.Parse()
	if *work != "" && flag.NArg() == 1 {
		debug.SetGCPercent(50) // as the command does
		end(do(*work, flag.Arg(0)))
	}
	if flag.NArg() > 0 || *size < 1 {
		flag.Usage()
		os.Exit(2)
	}
	end(table(os.Stdout, *size, *must))
}

func end(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "bundles: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// works returns the operations on a run record and those on its local bundle.
func works() (ofRun, ofBundle []string) {
	return []string{"export", "export replay_only"}, []string{"check", "sanitize", "sanitize replay_only", "import", "draft"}
}

// table writes a line for each operation.
func table(w io.Writer, mb int, must bool) error {
	dir, err := os.MkdirTemp("", "bundles")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	run, local := filepath.Join(dir, "run.json"), filepath.Join(dir, "bundle.json")
	// In a separate process, because a child never reports less peak memory than its parent.
	if _, err := measure("write "+strconv.Itoa(mb), dir); err != nil {
		return err
	}

	fmt.Fprintf(w, "one core, %s\n\n%-22s %6s %9s %9s\n", runtime.Version(), "work", "MB", "seconds", "× memory")
	ofRun, ofBundle := works()
	slow := false
	for _, with := range []struct {
		file string
		list []string
	}{{run, ofRun}, {local, ofBundle}} {
		info, err := os.Stat(with.file)
		if err != nil {
			return err
		}
		for _, work := range with.list {
			usage, err := measure(work, with.file)
			if err != nil {
				return fmt.Errorf("%s: %w", work, err)
			}
			times := usage.Memory / float64(info.Size())
			fmt.Fprintf(w, "%-22s %6.0f %9.2f %9.1f\n", work, float64(info.Size())/1e6, usage.Processor, times)
			slow = slow || usage.Processor > mostSeconds || times > mostMemory
		}
	}
	if must && slow {
		return fmt.Errorf("expected at most %d s and %d times the size", mostSeconds, mostMemory)
	}
	return nil
}

// measure runs an operation in a process and returns its usage.
func measure(work, file string) (race.Usage, error) {
	self, err := os.Executable()
	if err != nil {
		return race.Usage{}, err
	}
	cmd := exec.Command(self, "-work", work, file)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	return race.Run(cmd)
}

// do runs one operation.
func do(work, file string) error {
	if mb, ok := strings.CutPrefix(work, "write "); ok {
		n, err := strconv.Atoi(mb)
		return errors.Join(err, write(filepath.Join(file, "run.json"), filepath.Join(file, "bundle.json"), n<<20))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if work == "export" || work == "export replay_only" {
		run, err := bundle.ParseRun(data)
		if err != nil {
			return err
		}
		return written(bundle.Export(run, bundle.Options{Mode: mode(work == "export replay_only")}))
	}

	b, err := bundle.Parse(data)
	if err != nil {
		return err
	}
	switch work {
	case "check":
		_, err = bundle.Check(b, bundle.RefuseMarkers)
		if wrong := (*bundle.Error)(nil); errors.As(err, &wrong) && wrong.Kind == bundle.UnsafeSecretMarker { // the markers are present, found at the end
			err = nil
		}
		return err
	case "sanitize", "sanitize replay_only":
		return written(bundle.Sanitize(b, mode(work != "sanitize"), false))
	case "import":
		return written(bundle.Import(b, bundle.AllowMarkers))
	case "draft":
		_, err = bundle.Draft(b, bundle.DraftOptions{Issuer: receipt.Issuer{ID: "bench"}, Markers: bundle.AllowMarkers})
		return err
	}
	return fmt.Errorf("unknown work %q", work)
}

func mode(withheld bool) bundle.Mode {
	if withheld {
		return bundle.ReplayOnly
	}
	return bundle.Sanitized
}

func written(text *bundle.Text, err error) error {
	if err != nil {
		return err
	}
	_, err = text.WriteTo(io.Discard)
	return err
}

// write writes a run record of size bytes, and a local bundle of about the same size from a run
// of half the size, because a bundle contains the transcript twice.
func write(run, local string, size int) error {
	if err := os.WriteFile(run, record(size), 0o600); err != nil {
		return err
	}
	half, err := bundle.ParseRun(record(size / 2))
	if err != nil {
		return err
	}
	text, err := bundle.Export(half, bundle.Options{Mode: bundle.Local})
	if err != nil {
		return err
	}
	f, err := os.Create(local)
	if err != nil {
		return err
	}
	_, err = text.WriteTo(f)
	return errors.Join(err, f.Close())
}

// record returns a run record with messages and calls. One call in ten has a sensitive name, and
// one message in a hundred a secret.
func record(size int) []byte {
	const prose = "the bed was dry and the tap was open, so water went in for a while: max_tokens=200, see https://example.org/a?page=2 and src/beds.go line 12. "
	words := prose + prose + prose + prose + prose + prose
	b := []byte(`{"_type":"run_record","id":"run_bench","workflow_id":"wf_bench","task":"Water what is dry","status":"completed",` +
		`"started_at":"2026-05-04T10:00:00Z","finished_at":"2026-05-04T10:00:09Z","transcript":{"messages":[`)
	for i := 0; len(b) < size; i++ {
		secret, key := "", ""
		if i%10 == 9 {
			key = `,"api_key":"k"`
		}
		if i%100 == 99 {
			secret = "AKIA" + "IOSFODNN7EXAMPLE"
		}
		b = fmt.Appendf(b, `{"role":"assistant","content":"%s%s","tool_calls":[{"id":"call_%d","name":"soil.read","arguments":{"bed":%d,"note":"%s"%s}}]},`,
			words[:100+i*37%700], secret, i, i, words[:i*13%300], key)
		b = append(b, '\n')
	}
	return append(b, `{"role":"user","content":"done"}]},"tool_recordings":[]}`...)
}
