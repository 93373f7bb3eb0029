package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/race"
)

// TestMain lets the test binary act as the measured command. With the arguments SUBJECT JOBS MIB
// CODE, the binary works for a time that decreases with the number of jobs, allocates the given
// number of MiB, and exits with CODE.
func TestMain(m *testing.M) {
	if len(os.Args) != 5 || os.Args[1] != "SUBJECT" {
		os.Exit(m.Run())
	}
	var n [3]int
	for i, arg := range os.Args[2:] {
		var err error
		if n[i], err = strconv.Atoi(arg); err != nil {
			panic(err)
		}
	}
	held := bytes.Repeat([]byte{1}, n[1]<<20)
	time.Sleep(600 * time.Millisecond / time.Duration(n[0])) // much longer than the start of a process takes, even on a busy machine
	runtime.KeepAlive(held)
	os.Exit(n[2])
}

func subject(t *testing.T, flags string, mib, code int) *options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(strings.Fields(flags), self, "SUBJECT", jobsMark, fmt.Sprint(mib), fmt.Sprint(code))
	o, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestMeasure(t *testing.T) {
	o := subject(t, "-runs 3 -jobs 1,4", 100, 0)
	samples, err := rounds(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(samples) != 2 || len(samples[0]) != 3 || len(samples[1]) != 3 {
		t.Fatalf("samples %v", samples)
	}
	rows := summarize(o.jobs, samples)
	if r := rows[0]; r.Jobs != 1 || r.Wall < 0.6 || r.Gain != 1 || r.LeastGain != 1 {
		t.Errorf("one job: %+v", r)
	}
	if r := rows[1]; r.Jobs != 4 || r.Gain < 1.1 || r.LeastGain > r.Gain {
		t.Errorf("four jobs: %+v", r)
	}
	for _, r := range rows {
		if runtime.GOOS != "windows" && (r.Memory < 100 || r.Memory > 200) {
			t.Errorf("%d jobs: %.1f MiB, of which 100 are held", r.Jobs, r.Memory)
		}
	}
}

// TestCores verifies that -cores limits a run to one core per job, and that the cores are not
// limited otherwise.
func TestCores(t *testing.T) {
	if o := subject(t, "-runs 1", 1, 0); o.limit(2) != 0 {
		t.Error("limited")
	}
	if o := subject(t, "-runs 1 -cores", 1, 0); o.limit(2) != 2 {
		t.Error("not limited")
	}
	if _, err := run(t.Context(), []string{"sh", "-c", `exit "$GOMAXPROCS"`}, 3, 3); err != nil && runtime.GOOS != "windows" {
		t.Error(err)
	}
}

func TestExit(t *testing.T) {
	if _, err := rounds(t.Context(), subject(t, "-runs 1 -jobs 9 -exit 3", 1, 3)); err != nil {
		t.Error(err)
	}
	if _, err := rounds(t.Context(), subject(t, "-runs 1 -jobs 9", 1, 3)); err == nil || !strings.Contains(err.Error(), "exit status 3, expected exit status 0") {
		t.Errorf("a run that fails: %v", err)
	}
	if _, err := run(t.Context(), []string{"./there-is-no-such-command"}, 0, 0); err == nil {
		t.Error("a command that is not there: no error")
	}
}

func TestSummarize(t *testing.T) {
	took := func(wall, processor, mebibytes float64) race.Usage {
		return race.Usage{Wall: wall, Processor: processor, Memory: mebibytes * (1 << 20)}
	}
	rows := summarize([]int{1, 2}, [][]race.Usage{
		{took(4, 4, 30), took(8, 8, 50), took(6, 6, 40)},
		{took(2, 4, 31), took(5, 9, 33), took(2, 5, 32)},
	})
	want := []row{{1, 6, 6, 50, 1, 1}, {2, 2, 5, 33, 2, 1.6}}
	for i, r := range rows {
		if r != want[i] {
			t.Errorf("row %+v, want %+v", r, want[i])
		}
	}
}

func TestTell(t *testing.T) {
	var b strings.Builder
	o := &options{runs: 5, command: []string{"verify", "--jobs", jobsMark}}
	if err := tell(&b, o, []row{{1, 6, 6, 50, 1, 1}, {2, 3.1, 6.25, 0, 1.94, 1.6}}); err != nil {
		t.Fatal(err)
	}
	want := `verify --jobs {jobs}
median of 5 rounds, peak RSS of all runs

  jobs    seconds  processor s  peak RSS MiB     × jobs=1  least
     1      6.000        6.000          50.0         1.00   1.00
     2      3.100        6.250       unknown         1.94   1.60
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTellJSON(t *testing.T) {
	var b strings.Builder
	if err := tellJSON(&b, nil, []row{{2, 3.1, 6.25, 0, 1.94, 1.6}}); err != nil {
		t.Fatal(err)
	}
	if want := `[{"jobs":2,"wall":3.1,"processor":6.25,"memory":0,"gain":1.94,"leastGain":1.6}]` + "\n"; b.String() != want {
		t.Errorf("got %s, expected %s", &b, want)
	}
}

func TestLimits(t *testing.T) {
	rows := []row{{Jobs: 1, Memory: 60, Gain: 1}, {Jobs: 2, Memory: 70, Gain: 1.7}}
	for _, test := range []struct {
		limits limits
		missed int
	}{
		{limits{}, 0}, {limits{70, 1.7}, 0}, {limits{64, 0}, 1}, {limits{0, 1.8}, 1}, {limits{50, 1.8}, 3},
	} {
		err, missed := test.limits.check(rows), new(missedError)
		if errors.As(err, &missed) && len(missed.missed) != test.missed || err == nil && test.missed > 0 {
			t.Errorf("%+v: %v", test.limits, err)
		}
	}
	if (limits{memory: 64}).check([]row{{Jobs: 1}}) == nil {
		t.Error("an unknown peak is within the limit")
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-jobs", "1,2,8", "x", "--jobs={jobs}", "-runs", "a {jobs} {jobs}"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q %v %d", o.line(8), o.jobs, o.runs); got != `["x" "--jobs=8" "-runs" "a 8 8"] [1 2 8] 5` {
		t.Errorf("got %s", got)
	}
	for _, line := range []string{"", "-runs 0 x {jobs}", "-jobs 0 x {jobs}", "-jobs , x {jobs}", "x", "-least-gain 2 -jobs 1 x", "-nonsense x"} {
		if _, err := parse(strings.Fields(line), io.Discard); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}
