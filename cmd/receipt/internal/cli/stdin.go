package cli

// StdinName is how a verb is told to read stdin.
const StdinName = "-"

// SourceName is how messages and reports name an input: its path, or stdin for "-".
func SourceName(path string) string {
	if path == StdinName {
		return "stdin"
	}
	return path
}
