package headline

import "fmt"

// NotRead states how many records of a log were not read, and of how many types.
func NotRead(records, types int) string {
	verb := "were"
	if records == 1 {
		verb = "was"
	}
	return fmt.Sprintf("%s of %s %s not read", Plural(records, "record", ""), Plural(types, "unknown type", ""), verb)
}
