package bundle

import (
	"flag"
	"strings"
)

// WithoutPaths removes absolute paths from a string.
var WithoutPaths = withoutPaths

// Update is the flag with which the tests rewrite committed files.
var Update = flag.Bool("update", false, "write testdata/draft.json and the tables of docs/bundles.md")

// A Shape is an example of one of the 16 secret formats. The source code of this file contains no
// complete example.
type Shape struct{ Name, Text string }

// Shapes returns one example of each form, in the order of the patterns.
func Shapes() []Shape {
	letters := func(n int) string { return strings.Repeat("a1B2c3D4", n/8+1)[:n] }
	upper := func(n int) string { return strings.Repeat("A1B2C3D4", n/8+1)[:n] }
	return []Shape{
		{"jwt", "ey" + "J" + letters(12) + "." + letters(20) + "." + letters(24)},
		{"github_token", "gh" + "p_" + letters(36)},
		{"github_pat_fine", "github" + "_pat_" + letters(30)},
		{"slack_token", "xo" + "xb-" + letters(20)},
		{"aws_access_key", "AK" + "IA" + upper(16)},
		{"gitlab_token", "gl" + "pat-" + letters(20)},
		{"huggingface_token", "h" + "f_" + letters(30)},
		{"cerebras_key", "cs" + "k-" + letters(24)},
		{"together_key", "tgp" + "_v1_" + letters(24)},
		{"google_api_key", "AI" + "za" + letters(35)},
		{"npm_token", "np" + "m_" + letters(36)},
		{"openai_key", "s" + "k-" + letters(32)},
		{"stripe_key", "sk" + "_live_" + letters(24)},
		{"private_key_block", "-----BEGIN " + "PRIVATE KEY-----\n" + letters(64) + "\n-----END " + "PRIVATE KEY-----"},
		{"bearer_token", "Bear" + "er " + letters(24)},
		{"sensitive_assignment", "pass" + "word=" + letters(20)},
	}
}
