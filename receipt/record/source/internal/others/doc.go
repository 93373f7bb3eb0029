// Package others reads the logs of agents that need only one reader each: events of Copilot CLI,
// sessions that OpenCode exports, chats of Gemini CLI, sessions of Pi, and trajectories in the
// Agent Trajectory Interchange Format (ATIF), to which programs convert the logs of agents.
//
// docs/sources.md lists the values that they state. No format is stable, so unknown types and
// members are skipped and counted.
package others
