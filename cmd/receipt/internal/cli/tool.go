package cli

import "runtime/debug"

// ToolName is the program and its version, as reports name it.
func ToolName() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "receipt " + version
}
