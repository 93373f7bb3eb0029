// Package process tells what a process that has ended had taken.
package process
