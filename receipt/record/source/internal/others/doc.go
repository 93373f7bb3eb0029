// Package others reads the logs of agents that each need only one reader: Copilot CLI events,
// exported OpenCode sessions, Gemini CLI chats, Pi sessions, and trajectories. Trajectories have
// the Agent Trajectory Interchange Format (ATIF), to which some programs convert agent logs.
//
// docs/sources.md lists the values that these logs record. No format is stable, so unknown types
// and members are skipped and counted.
package others
