package redact

// These names are exported for the tests in package redact_test.
type (
	Code         = code
	Problem      = problem
	RefusedError = refusedError
	RuleError    = ruleError
)

const (
	CodeInvalidRule    = codeInvalidRule
	CodeProtectedField = codeProtectedField
	CodeNoSuchPath     = codeNoSuchPath
	CodeSchemaBreak    = codeSchemaBreak
	CodeAlreadySealed  = codeAlreadySealed
	CodeNotObject      = codeNotObject
	CodeSizeLimit      = codeSizeLimit
	CodePrecision      = codePrecision
	MaxProblems        = maxProblems
)
