package main

import "runtime/debug"

// toolName is the program and its version, as reports name it.
func toolName() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "receipt " + version
}
