// Package others reads the logs of agents that need only one reader each: events of Copilot CLI,
// sessions that OpenCode exports, chats of Gemini CLI, sessions of Pi, and trajectories.
// Trajectories have the Agent Trajectory Interchange Format (ATIF), to which some programs convert
// agent logs.
//
// docs/sources.md lists the values that these logs record. No format is stable, so unknown types
// and members are skipped and counted.
package others
