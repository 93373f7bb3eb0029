package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/conformance"
)

// TestMain lets the test binary act as a verifier that misbehaves.
func TestMain(m *testing.M) {
	if mode := os.Getenv("CONFORMANCETEST_VERIFIER"); mode != "" {
		if fault, ok := strings.CutPrefix(mode, "small:"); ok {
			smallMain(fault)
		}
		misbehave(mode)
	}
	os.Exit(m.Run())
}

// misbehave acts as a verifier with the given kind of misbehavior.
func misbehave(mode string) {
	switch mode {
	case "hang":
		time.Sleep(time.Hour)
	case "endless":
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "child": // a child process keeps stdout open
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CONFORMANCETEST_VERIFIER=hang")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			os.Exit(9)
		}
		fmt.Println(`{"verdict": "valid", "code": null}`)
	case "silent":
	case "contradiction":
		fmt.Println(`{"verdict": "invalid", "code": null}`)
	case "words":
		fmt.Println("valid")
	case "null":
		fmt.Println("null")
	case "unknown":
		fmt.Println(`{"verdict": "perhaps", "code": null}`)
	case "declines":
		os.Exit(4)
	case "crash":
		panic("a verifier that crashes")
	case "good":
		fmt.Print("{\"verdict\": \"invalid\", \"code\": null}\n\n{\"verdict\": \"valid\", \"code\": null}\n\n  \n")
	}
	os.Exit(0)
}

// TestHostileVerifiers verifies that a verifier fails if it hangs, floods its output, or
// contradicts itself, and that a verifier that declines is counted separately.
func TestHostileVerifiers(t *testing.T) {
	for _, c := range []struct {
		mode, why string
		declined  bool
	}{
		{"good", "", false},
		{"child", "", false},
		{"hang", "no answer within 300ms", false},
		{"endless", "more than 1048576 bytes of output", false},
		{"silent", "the last line is not", false},
		{"words", "the last line is not", false},
		{"null", "the last line is not", false},
		{"unknown", "the last line is not", false},
		{"contradiction", `exit status 0 contradicts the verdict "invalid"`, false},
		{"crash", "the last line is not", false}, // the exit status of a crash happens to be 2
		{"declines", "exit status 4", true},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Setenv("CONFORMANCETEST_VERIFIER", c.mode)
			patience := time.Minute
			if c.mode == "hang" {
				patience = 300 * time.Millisecond
			}
			why, declined := conformance.ErrorOf(t.Context(), []string{os.Args[0]}, patience)
			if !strings.HasPrefix(why, c.why) || why == "" != (c.why == "") || declined != c.declined {
				t.Errorf("found %q, declined %v; expected %q, %v", why, declined, c.why, c.declined)
			}
		})
	}

	why, declined := conformance.ErrorOf(t.Context(), []string{"/no/such/verifier"}, time.Minute)
	if !declined || !strings.HasPrefix(why, "does not run") {
		t.Errorf("a verifier that does not exist: %q, declined %v", why, declined)
	}
}

// TestConstantVerifiers verifies that a verifier that always returns the same answer fails, and
// that a run without any answers does not pass.
func TestConstantVerifiers(t *testing.T) {
	for _, verdict := range []string{"valid", "invalid", "undecidable"} {
		s, err := conformance.Score(t.Context(), corpus, nil, 1, always(verdict))
		if err != nil {
			t.Fatal(err)
		}
		if code := s.Exit(); code != 1 || len(s.Totals.Failed) < 100 {
			t.Errorf("always %s: exit %d, %d failures", verdict, code, len(s.Totals.Failed))
		}
	}

	s, err := conformance.Score(t.Context(), corpus, nil, 1, func(context.Context, string) (string, string, error) { return "", "", errors.New("declined") })
	if err != nil {
		t.Fatal(err)
	}
	if code := s.Exit(); code != 2 || s.Totals.Conform != 0 || len(s.Totals.NotExercised) != s.Totals.Vectors {
		t.Errorf("without answers: exit %d, %d conform, %d of %d not exercised", code, s.Totals.Conform, len(s.Totals.NotExercised), s.Totals.Vectors)
	}
	if s, err = conformance.Score(t.Context(), corpus, []string{"none"}, 1, always("valid")); err != nil || s.Exit() != 2 {
		t.Errorf("no case: %v, exit %d", err, s.Exit())
	}
}
