package rows

import "testing"

// TestInstant verifies that the text form of an instant has the same microseconds as the Parquet
// form.
func TestInstant(t *testing.T) {
	for micros, want := range map[Instant]string{0: "1970-01-01T00:00:00Z", 1: "1970-01-01T00:00:00.000001Z", 1_500_000: "1970-01-01T00:00:01.5Z", -1: "1969-12-31T23:59:59.999999Z"} {
		if got := micros.String(); got != want {
			t.Errorf("%d: %s, want %s", int64(micros), got, want)
		}
	}
}
