package receipt

import (
	"errors"
	"time"
)

// A Time is an instant in the format that this library writes: RFC 3339 in UTC with the suffix Z
// and at most three fractional digits.
type Time struct{ time.Time }

// At returns t with the precision of receipts, that is, in UTC and truncated to milliseconds.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// judgedAt is like At, but is used for reports. A date-time with an offset or a leap second may be
// outside the years that can be formatted. The report then contains the nearest time that can be
// formatted.
func judgedAt(t time.Time) Time {
	switch y := t.UTC().Year(); {
	case y < 0:
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case y > 9999:
		t = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	}
	return At(t)
}

// String returns the RFC 3339 text.
func (t Time) String() string { return string(t.append(nil)) }

// append appends the RFC 3339 text. The layout writes UTC as Z and omits a fraction of zero.
func (t Time) append(dst []byte) []byte {
	return t.UTC().Truncate(time.Millisecond).AppendFormat(dst, time.RFC3339Nano)
}

// MarshalText returns the RFC 3339 text. It returns an error if the year is not in the range 0000
// to 9999.
func (t Time) MarshalText() ([]byte, error) {
	if !t.written() {
		return nil, errors.New("receipt: time: year outside 0000 to 9999")
	}
	return t.append(nil), nil
}

// written reports whether t can be written as text. RFC 3339 requires years of four digits.
func (t Time) written() bool {
	y := t.UTC().Year()
	return y >= 0 && y <= 9999
}

// MarshalJSON returns the RFC 3339 text in quotation marks. It replaces the method of the embedded
// time.Time, which would keep the time zone and the nanoseconds.
func (t Time) MarshalJSON() ([]byte, error) {
	text, err := t.MarshalText()
	if err != nil {
		return nil, err
	}
	return append(append([]byte{'"'}, text...), '"'), nil
}

// UnmarshalText accepts the same text as [ParseTime].
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := ParseTime(text)
	if err != nil {
		return err
	}
	t.Time = parsed
	return nil
}

// UnmarshalJSON accepts an RFC 3339 date-time in quotation marks.
func (t *Time) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' || data[len(data)-1] != '"' {
		return errTime
	}
	return t.UnmarshalText(data[1 : len(data)-1])
}

var errTime = errors.New(`not an RFC 3339 date-time such as "2026-04-25T19:17:33Z"`)

// ParseTime parses an RFC 3339 date-time (section 5.6) with any offset and any number of fractional
// digits, which are truncated to nanoseconds. T and Z may be in uppercase or lowercase. A leap
// second, :60, is treated as the beginning of the next second, because neither Go nor POSIX
// represents leap seconds. The year must be in the range 0000 to 9999.
func ParseTime[T ~string | ~[]byte](s T) (time.Time, error) {
	// 0123456789012345678
	// 2006-01-02T15:04:05
	if len(s) < 20 || s[4] != '-' || s[7] != '-' || s[10]|0x20 != 't' || s[13] != ':' || s[16] != ':' {
		return time.Time{}, errTime
	}

	// Each field has a fixed width (RFC 3339 section 5.6).
	year, ok1 := decimal(s[0:4])
	month, ok2 := decimal(s[5:7])
	day, ok3 := decimal(s[8:10])
	hour, ok4 := decimal(s[11:13])
	minute, ok5 := decimal(s[14:16])
	second, ok6 := decimal(s[17:19])

	// The day must exist in the month, and 60 is a leap second (RFC 3339 section 5.7).
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !validDay(year, month, day) || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}, errTime
	}

	// An optional time-secfrac is followed by the time-offset (RFC 3339 section 5.6).
	nanos, rest, ok := fraction(s[19:])
	if !ok {
		return time.Time{}, errTime
	}

	offset, ok := zone(rest)
	if !ok {
		return time.Time{}, errTime
	}

	// A leap second with any fraction is mapped to the same instant.
	if second == 60 {
		nanos = 0
	}

	return time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC).Add(-offset), nil
}

func decimal[T ~string | ~[]byte](s T) (n int, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, len(s) > 0
}

func validDay(year, month, day int) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	return day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func fraction[T ~string | ~[]byte](s T) (nanos int, rest T, ok bool) {
	if s[0] != '.' {
		return 0, s, true
	}
	end := 1
	scale := 100_000_000
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		nanos += int(s[end]-'0') * scale
		scale /= 10
		end++
	}
	return nanos, s[end:], end > 1
}

func zone[T ~string | ~[]byte](s T) (time.Duration, bool) {
	if len(s) == 1 && s[0]|0x20 == 'z' {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}

	// The hours and minutes of an offset have the same ranges as the hours and minutes of a time
	// (RFC 3339 section 5.6).
	hours, ok1 := decimal(s[1:3])
	minutes, ok2 := decimal(s[4:6])
	if !ok1 || !ok2 || hours > 23 || minutes > 59 {
		return 0, false
	}

	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}

	return offset, true
}
