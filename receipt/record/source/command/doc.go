// Package command reads which git actions and test runs the text of a shell command names.
//
// A text is no evidence of what happened: the command may have failed, or a word may mean
// something else on that machine. What is found here is a hint and never an effect.
package command
