package main

// stdinName is how a verb is told to read stdin.
const stdinName = "-"

func sourceName(path string) string {
	if path == stdinName {
		return "stdin"
	}
	return path
}
