// Package terms says what receipts must show, for the programs that read object storage:
// the flags that ask for it, which are those of receipt verify, the exit codes that
// answer, and the words of the text form.
package terms
