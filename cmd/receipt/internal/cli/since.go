package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// SinceTime parses --since. A date means midnight UTC.
func SinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	at, err := receipt.ParseTime(text)
	if err != nil {
		return time.Time{}, Usage("", "--since %q: expected a duration such as 24h or 7d, a date such as 2026-04-25, or a time such as 2026-04-25T18:00:00Z", text)
	}
	return at, nil
}

// ParseDuration parses a time.ParseDuration string, or a number of days such as 7d.
func ParseDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * day, err
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = strconv.ErrRange
	}
	return d, err
}
