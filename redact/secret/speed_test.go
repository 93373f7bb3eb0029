package secret

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestScanSpeed: ordinary text is searched many times as fast as regular
// expressions could, and what repeats the beginnings of secrets, or secrets, at
// some megabytes a second. The bounds leave room for a busy machine.
func TestScanSpeed(t *testing.T) {
	if brief() {
		t.Skip("the times of short and of instrumented runs say nothing")
	}
	s := compile(t, everyday())
	perMB := func(text []byte, bound time.Duration) time.Duration {
		least := time.Hour
		for try := 0; try < 8 && least > bound; try++ {
			began := time.Now()
			s.Scan(text, nil)
			least = min(least, time.Duration(float64(time.Since(began))*1e6/float64(len(text))))
		}
		return least
	}
	const plain = 50 * time.Millisecond
	if took := perMB(ordinary(1<<20), plain); took > plain {
		t.Errorf("ordinary text: %v a megabyte", took)
	}
	const repeated = 2 * time.Second
	size := 1 << 16
	if full() {
		size = 1 << 17
	}
	for _, unit := range []string{
		"password=", `"password":"x",`, `"password":"hunter2x!",`, `{"name":"password","value":"x"},`, "https://u:p@h/", "https://h/?token=a&", "?token=aB3dE5fG7hJ9kL2m&",
		"Authorization: Bearer x ", "key=", "key: ", "api_key=", "secret=", "secret ", "kind: secret\n", "login(", "auth", "--token ", `id="password" `, "-----BEGIN PRIVATE KEY-----", "eyJ", "sk-",
	} {
		text := []byte(strings.Repeat(unit, size/len(unit)))
		if took := perMB(text, repeated); took > repeated {
			t.Errorf("%q again and again: %v a megabyte", unit, took)
		}
	}
	if took := perMB(dense(rand.New(rand.NewPCG(7, 8)), size), repeated); took > repeated {
		t.Errorf("one assignment after the other: %v a megabyte", took)
	}
}
