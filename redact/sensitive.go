package redact

import "strings"

// Names of members whose values the protocol's own harness takes out of what leaves
// a machine. [Upstream] has them all.
const (
	// localPaths say where something lies on a machine. Their letters have a case, and
	// nothing else is folded.
	localPaths = `persisted_path primary run_path snapshot_ref snapshot_path source_path`

	// secretNames are without _ and -, as they are compared.
	secretNames = `authorization proxyauthorization cookie setcookie apikey xamzsecuritytoken xapikey xauthtoken xcsrftoken xxsrftoken
		accesstoken refreshtoken idtoken bearertoken clientsecret password secret passwd privatekey sessiontoken`

	// secretEndings are those of further names, without _ and - too.
	secretEndings = `token secret password apikey`
)

// Sensitive reports whether the value of a member is taken out of a session bundle
// for the member's name alone: in lower case it is one of a few names of local paths;
// or, without _ and -, one of twenty names of secrets, or it ends in token, secret,
// password or apikey. So access_token, X-Api-Key and dbPassword are sensitive, and
// input_tokens is not.
//
// It is the rule of bundles. A [Policy] folds names further, and adds to them.
func Sensitive(name string) bool {
	lower := strings.ToLower(name)
	if anyOf(localPaths, func(path string) bool { return path == lower }) {
		return true
	}

	compact := strings.ReplaceAll(strings.ReplaceAll(lower, "_", ""), "-", "")
	return anyOf(secretNames, func(name string) bool { return name == compact }) ||
		anyOf(secretEndings, func(end string) bool { return strings.HasSuffix(compact, end) })
}

// anyOf reports whether one of the words of a list is such. Every name of every document
// comes by here, so nothing is made of the list.
func anyOf(list string, is func(word string) bool) bool {
	for word := range strings.FieldsSeq(list) {
		if is(word) {
			return true
		}
	}
	return false
}

// upstreamNames are the names as a policy takes them.
func upstreamNames() (names []string) {
	names = append(strings.Fields(localPaths), strings.Fields(secretNames)...)
	for _, end := range strings.Fields(secretEndings) {
		names = append(names, "*"+end)
	}
	return names
}
