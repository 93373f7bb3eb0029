package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

const (
	shapeVariable    = "RECORD_SHAPE"    // name of the shape that a separate process records
	gigabyteVariable = "RECORD_GIGABYTE" // "all", or a substring of the names of the shapes that TestGigabyte records

	mostMemory = 256 // maximum memory in MiB
	leastSpeed = 20  // MB/s
)

// TestGigabyte records a gigabyte of each shape in a separate process. It prints the memory use and
// the number of megabytes read per second of processor time.
//
//	RECORD_GIGABYTE=all go test -run Gigabyte -v -timeout 1h ./receipt/record
func TestGigabyte(t *testing.T) {
	wanted := os.Getenv(gigabyteVariable)
	if wanted == "" {
		t.Skip(gigabyteVariable + " is not set")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes() {
		if wanted != "all" && !strings.Contains(s.name, wanted) {
			continue
		}
		alone := exec.Command(self, "-test.run=^TestShapeAlone$")
		alone.Env = append(os.Environ(), shapeVariable+"="+s.name, "GOGC=50") // same value as in the command
		out, err := alone.CombinedOutput()
		line, _, _ := strings.Cut(string(out), "\n")
		fields := strings.SplitN(line, "\t", 3)
		if err != nil || len(fields) != 3 {
			t.Errorf("%s: %v: %s", s.name, err, out)
			continue
		}
		read, errRead := strconv.ParseFloat(fields[0], 64)
		memory, errMemory := strconv.ParseFloat(fields[1], 64)
		if err := errors.Join(errRead, errMemory); err != nil {
			t.Fatal(err)
		}
		speed := read / (alone.ProcessState.UserTime() + alone.ProcessState.SystemTime()).Seconds()
		t.Logf("%-42s %5.0f MB read, %4.0f MB/s, %4.0f MiB: %s", s.name, read, speed, memory, fields[2])
		if memory > mostMemory {
			t.Errorf("%s: %.0f MiB, expected at most %d", s.name, memory, mostMemory)
		}
		if speed < leastSpeed && read > 100 { // the speed is not meaningful if a log is rejected immediately
			t.Errorf("%s: %.0f MB/s, expected at least %d", s.name, speed, leastSpeed)
		}
	}
}

// TestShapeAlone is the separate process that [TestGigabyte] runs. It prints the megabytes read,
// the memory use in MiB, and the result.
func TestShapeAlone(t *testing.T) {
	name := os.Getenv(shapeVariable)
	if name == "" {
		t.Skip("it is run by TestGigabyte")
	}
	for _, s := range shapes() {
		if s.name != name {
			continue
		}
		in := &counted{in: s.open(1 << 30)}
		_, err := Read(in, shapeOptions(), s.form)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		outcome := "a draft"
		if err != nil {
			outcome = "refused: " + err.Error()
		}
		fmt.Printf("%f\t%f\t%s\n", float64(in.n)/1e6, float64(m.Sys-m.HeapReleased)/(1<<20), outcome)
	}
}

// TestKept verifies that a recording counts the memory that it keeps, because this memory is
// limited to MaxKept bytes. The test reads a part of every shape that has no maximum number of
// lines. The memory in use must not exceed a limit, which depends on this count and on the longest
// line.
func TestKept(t *testing.T) {
	size := int64(testsize.Of(256<<10, 8<<20, 32<<20))
	room := int64(testsize.Of(128<<10, 2<<20))        // the memory that any log needs
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // only the memory that remains after a collection is measured
	for _, s := range shapes() {
		if s.most > 0 {
			continue
		}
		before := inUse()
		r, longest := readShape(t, s, size)
		used := int64(r.budget().Total())
		if got, most := inUse()-before, used+used/4+12*int64(longest)+room; got > most {
			t.Errorf("%s: %d bytes are in use, expected at most %d: %d are counted, and the longest line has %d", s.name, got, most, used, longest)
		}
		if s.name == "other sessions" && used > 1<<16 {
			t.Errorf("%s: %d bytes of skipped data are kept", s.name, used)
		}
		runtime.KeepAlive(r)
	}
}

// A shapeReader contains everything that stays in memory during a recording: the reader and the
// latest document.
type shapeReader struct {
	reader
	doc canon.Document
}

func (r *shapeReader) budget() *event.Budget {
	if r.frames != nil {
		return r.frames.recorder.run.Budget
	}
	return r.recorder.run.Budget
}

// readShape reads the given number of bytes of a shape, or stops when a line is rejected. It
// returns the reader and the length of the longest line.
func readShape(t *testing.T, s shape, size int64) (r *shapeReader, longest int) {
	t.Helper()
	lines := event.NewLines(s.open(size))
	r = &shapeReader{reader: reader{log: Log{Form: s.form}, options: shapeOptions()}}
	for {
		text, err := lines.Next()
		if err == io.EOF {
			return r, longest
		}
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, len(text))
		var limit *event.LimitError
		var wrong *Error
		if err := event.Parse(&r.doc, text); err != nil {
			wrong = event.Unparsed(r.log.Lines+1, "", err)
		}
		if err := r.line(lines.Line(), &r.doc, wrong); errors.As(err, &limit) {
			if limit.Most == 0 || limit.Found <= limit.Most || limit.Do == "" || !strings.Contains(err.Error(), limit.Name) {
				t.Errorf("%s: %#v: %v", s.name, limit, err)
			}
			return r, longest
		} else if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
}

// TestTextsOfDraft verifies that the size of a draft is checked before the draft is marshaled, and
// that a string that is stored only once is counted each time it occurs in the draft.
func TestTextsOfDraft(t *testing.T) {
	for _, s := range shapes() {
		if s.name != "calls with one long name, 10000" {
			continue
		}
		r, _ := readShape(t, s, 1<<30)
		var limit *event.LimitError
		if _, err := r.finish(); !errors.As(err, &limit) || limit.Name != "receipt.MaxBytes" || limit.Found < 10_000*event.MaxText {
			t.Errorf("%v", err)
		}
		return
	}
	t.Error("the shape does not exist")
}

// inUse returns the number of reachable bytes on the heap.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func shapeOptions() Options {
	return Options{Issuer: receipt.Issuer{ID: "i"}, TaskID: "t", SessionID: "s", WorkspaceRef: "w", Tier: "act_auto"}
}

// counted is a reader that counts the bytes read.
type counted struct {
	in io.Reader
	n  int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}
