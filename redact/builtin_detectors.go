package redact

// UpstreamDetectors returns the 16 patterns of the protocol's harness, in order.
// The last two are heuristics that hit much that is not a secret; [DefaultDetectors]
// are better, and these are what others use.
//
// Upstream's regular expressions know letters of all scripts: beside such a
// letter it sees no word boundary where this package sees one.
func UpstreamDetectors() []Detector {
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

// DefaultDetectors returns detectors for everyday use: what upstream finds but
// for placeholders and examples, tokens of services that have a form of their
// own, values that are assigned to names of services that have none, and values
// assigned to names such as password, token and secret when they look random.
func DefaultDetectors() []Detector {
	var list []Detector
	list = append(list, protocolTokens()...)
	list = append(list, serviceTokens()...)
	list = append(list, structures()...)
	list = append(list, serviceValues()...)
	list = append(list, passwords()...)
	list = append(list, assignments()...)
	list = append(list, formats()...)
	list = append(list, contexts()...)
	return append(list, commands()...)
}

// Parts of patterns. A token ends where no letter of it follows; a value is
// assigned by what stands between it and a name.
const (
	hexID = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

	assigned = `[\s'"\\\x60\])]{0,4}` + // closes the name
		`(?:[?:]{0,3}=>?|:|\|\||>|<-|,)` +
		`[\s'"\\\x60=(@]{0,6}` // opens the value
	// Stricter, for names that are words of every day.
	given = `["'\\\x60\])]{0,3}[ \t]*` +
		`(?:(?:[?:]{0,3}=>?|:|\|\||>|<-)[ \t]*(?:[|>]?-?\r?\n[ \t]+)?["'\\\x60(@]{0,4}|,[ \t]*["'\\\x60]{1,3})`

	valueEnd = `(?:[\s'"\\\x60;,)\]}<>&|]|$)`
)

// token makes a detector of a token that is known by its form.
func token(name, form string, entropy float64) Detector {
	return Detector{Name: name, Pattern: `\b(` + form + `)`, Group: 1, Entropy: entropy}
}

// bounded is a token that no letter, digit, _ or - follows.
func bounded(name, form string, entropy float64) Detector {
	d := token(name, form, entropy)
	d.Pattern += `(?:[^\w-]|$)`
	return d
}

// isolated is a token that could stand in base64 by chance.
func isolated(name, form string, entropy float64) Detector {
	return Detector{Name: name, Pattern: `(?:^|[^\w+/-])(` + form + `)(?:[^\w+/=-]|$)`, Group: 1, Entropy: entropy}
}

func (d Detector) allow(patterns ...string) Detector {
	d.Allow = append(d.Allow, patterns...)
	return d
}

// protocolTokens are those of upstream that have a form of their own, and the
// relatives that it misses.
func protocolTokens() []Detector {
	const part = `[\w/+\\-]`
	return []Detector{
		// Three parts, two, or five. A detached signature (RFC 7515 appendix F)
		// is not a secret: it has an empty second part, and no fourth.
		token("jwt", `(?:eyJ|eyA|ewo|ew0)[\w-]{4,}={0,2}\.(?:`+
			part+`{4,}={0,2}\.`+part+`{4,}(?:\.`+part+`*){0,2}={0,2}|`+
			`[\w/+-]{10,}={0,2}\.?|`+
			`\.[\w-]{8,}\.[\w-]{4,}\.[\w-]{8,})`, 3),
		// Behind a name, as in TOKEN_ghp_…, only what has the length or the shape
		// that they are issued with: any other could stand in base64url by chance,
		// or be a name itself.
		{Name: "github_token", Group: FirstGroup, Entropy: 3,
			Pattern: `(?:\b|_)(gh[oprsu]_[A-Za-z0-9]{36,}\b)|(gh[oprsu]_(?:[A-Za-z0-9]{36}|[A-Za-z0-9]{76})\b)`},
		{Name: "github_pat_fine", Group: FirstGroup, Entropy: 3,
			Pattern: `\b(github_pat_\w{20,}\b)|(github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b)`},
		token("slack_token", `(?i:xoxb-\d{8,14}-[a-z0-9-]{8,}|(?-i:xox[abceoprs](?:\.xox[bp])?-)[a-z0-9-]{24,}|(?-i:xoxd-)[a-z0-9%/+=-]{40,}|xwfp-[0-9]{6,}-[a-z0-9-]{20,}|xox[ar]-(?:\d-)?[a-z0-9]{8,}|xox[os](?:-\d+){3}-[a-f0-9]+|xapp-\d-[a-z0-9]+-\d+-[a-z0-9]+)`, 2.5).
			allow(`^[^0-9]*$`, `(?i)slack`, `^xoxp-[0-9-]*$`, `^xoxp-(?:[0-9]{1,4}-){2}`),
		token("aws_access_key", `A(?:KIA|SIA|GPA|IDA|NPA|ROA|IPA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}\b`, 2.8).allow(`EXAMPLE$`),
		token("gitlab_token", `gl(?:pat|cbt|dt|ffct|ft|imt|agent|oas|ptt|rt|rtr|soat|wt)-[\w-]{20,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,})?`, 3),
		token("huggingface_token", `(?:hf|api_org)_[A-Za-z0-9]{20,}\b`, 3),
		token("cerebras_key", `csk-[A-Za-z0-9]{20,}\b`, 3),
		token("together_key", `tgp_v1_[\w-]{20,}`, 3),
		// Keys that the documentation of Firebase and Maps shows, told by their beginnings.
		bounded("google_api_key", `AIza[\w-]{35}`, 3).allow(`^AIza(?:Syabcdef|SyAnLA7N|SyCkEhVj|SyDMAScl|SyD3asb-|yDNSXIbF|SyAdOS2z|SyASWm6H|SyANUvH9|SyA5_iVa|SyA4UrcG|SyDSb51J|SyBF2RrA|SyBcE-OO|SyB8qGxt|SyA8vmAp)`),
		token("npm_token", `(?i:npm_[a-z0-9]{36})\b`, 3),
		token("openai_key", `sk-[\w-]{20,}`, 3).allow(`^[^0-9]*$`, `^sk(?:-[a-z]+|-[0-9]{1,4})+$`, `^sk-(?:ssh|ecdsa)-`),
		token("stripe_key", `(?:[rs]k_(?:live|test|prod)|whsec)_[A-Za-z0-9]{10,}`, 2.5),
		// Without an END it goes on to the end of the text.
		{Name: "private_key_block", Group: 0, Pattern: `(?i)-{4,5} ?BEGIN[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)? ?-{4,5}` +
			`(?:(?s:.*?)-{4,5} ?END[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)? ?-{4,5}|(?:\\{1,4}[nrt]|\s|[\w:,-]+:[^\n\\]*)*[A-Za-z0-9+/]{16}(?s:.*))`},
		{Name: "private_key_putty", Pattern: `PuTTY-User-Key-File-\d(?s:.*?)Private-(?:MAC|Hash): ?[0-9a-fA-F]*`},
		// Of minisign and signify.
		token("private_key_minisign", `RW(?:RTY0Iy|RCSw)[A-Za-z0-9+/]{90,}={0,2}`, 4),
	}
}
