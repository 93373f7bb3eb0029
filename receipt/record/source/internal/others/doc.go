// Package others reads the logs of agents that need one reader each: events of Copilot CLI,
// sessions that OpenCode exports, chats of Gemini CLI, sessions of Pi, and trajectories in the Agent
// Trajectory Interchange Format (ATIF), into which programs convert the logs of agents.
//
// docs/sources.md lists their statements. No format is a contract, so unknown types and members
// are skipped and counted.
package others
