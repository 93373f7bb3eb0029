package cli

// StdinName is how a verb is told to read stdin.
const StdinName = "-"

func SourceName(path string) string {
	if path == StdinName {
		return "stdin"
	}
	return path
}
