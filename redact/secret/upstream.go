package secret

// Upstream returns the 16 patterns that the protocol's own harness uses, in the same order. The
// last two patterns are heuristics that match many strings that are not secrets. These patterns are
// intended for comparison; for other purposes, [Default] has better detectors.
//
// Upstream's regular expressions treat the letters of all scripts as word characters. Next to a
// non-ASCII letter, this package therefore finds a word boundary where upstream finds none.
func Upstream() []Detector {
	const value = `[A-Za-z0-9._\-+/=]`
	return []Detector{
		{Name: "jwt", Pattern: `\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\b`},
		{Name: "github_token", Pattern: `\bgh[oprsu]_[A-Za-z0-9]{36,255}\b`},
		{Name: "github_pat_fine", Pattern: `\bgithub_pat_[A-Za-z0-9_]{20,255}\b`},
		{Name: "slack_token", Pattern: `\bxox[abprs]-[A-Za-z0-9-]{10,255}\b`},
		{Name: "aws_access_key", Pattern: `\bA(?:KIA|SIA|GPA|IDA|NPA|ROA|IPA)[A-Z0-9]{16}\b`},
		{Name: "gitlab_token", Pattern: `\bglpat-[A-Za-z0-9_-]{20,255}\b`},
		{Name: "huggingface_token", Pattern: `\bhf_[A-Za-z0-9]{20,255}\b`},
		{Name: "cerebras_key", Pattern: `\bcsk-[A-Za-z0-9]{20,255}\b`},
		{Name: "together_key", Pattern: `\btgp_v1_[A-Za-z0-9_-]{20,255}\b`},
		{Name: "google_api_key", Pattern: `\bAIza[A-Za-z0-9_-]{35}\b`},
		{Name: "npm_token", Pattern: `\bnpm_[A-Za-z0-9]{36}\b`},
		{Name: "openai_key", Pattern: `\bsk-[A-Za-z0-9_-]{20,255}\b`},
		{Name: "stripe_key", Pattern: `\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}\b`},
		{Name: "private_key_block", Pattern: `(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?-----END [A-Z0-9 ]*PRIVATE KEY-----`},
		{Name: "bearer_token", Pattern: `(?i)\bbearer\s+` + value + `{12,}`},
		{Name: "sensitive_assignment", Pattern: `(?i)\b(?:api[_-]?key|(?:access|refresh|id)[_-]?token|client[_-]?secret|password|passwd|secret|token)\s*[:=]\s*` +
			`(?:"` + value + `{6,}"|'` + value + `{6,}'|` + value + `*[0-9._\-+/=]` + value + `*|secret|hidden|hideme|password|passwd|token)`},
	}
}
