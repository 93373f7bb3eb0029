package cli

import "runtime/debug"

// ToolName is the program and its version, as reports name it.
func ToolName() string { return "receipt " + ToolVersion() }

// ToolVersion is the version alone.
func ToolVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
