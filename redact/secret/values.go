package secret

import "strings"

// serviceValues returns detectors for service keys that have no distinctive form. The keys are
// recognized by the name to which they are assigned.
func serviceValues() []Detector {
	var list []Detector
	for line := range strings.Lines(services) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		d := Detector{Name: f[0] + "_value", Group: 1, Entropy: 2.5,
			Pattern: `(?i)(?:` + f[1] + `)[\w .\t-]{0,25}` + assigned + `(` + strings.ReplaceAll(f[2], "UUID", hexID) + `)` + valueEnd,
			Allow:   []string{words}}
		if len(f) > 3 {
			d.Entropy = 2
		}
		list = append(list, d)
	}

	return list
}

// services has one line per service: its name, a pattern for names that refer to it, and a pattern
// for its keys. A line ends with 2 if the keys contain few distinct characters.
const services = `
adafruit     adafruit                              [a-z0-9_-]{32}
adobe        adobe                                 [a-f0-9]{32}
airtable     airtable                              [a-z0-9]{17}
algolia      algolia                               [a-z0-9]{32}
alibaba      alibaba                               [a-z0-9]{30}
asana        asana                                 [a-z0-9]{32}|[0-9]{16}                   2
atlassian    atlassian|confluence|(?-i:JIRA|[Jj]ira)  [a-z0-9]{20}[a-f0-9]{4}
beamer       beamer                                b_[a-z0-9=_-]{44}
bitbucket    bitbucket                             [a-z0-9=_-]{64}|[a-z0-9]{32}
bittrex      bittrex                               [a-z0-9]{32}
cloudflare   cloudflare                            [a-z0-9_-]{40}|[a-f0-9]{37}
codecov      codecov                               [a-z0-9]{32}|UUID
cohere       cohere|co_api_key                     [a-z0-9]{40}
coinbase     coinbase                              [a-z0-9_-]{64}
confluent    confluent                             [a-z0-9+/]{64}|[a-z0-9]{16}
contentful   contentful                            [a-z0-9=_-]{43}
datadog      datadog|dd_api_key|dd_app_key         [a-z0-9]{40}|[a-f0-9]{32}
discord      discord                               [a-f0-9]{64}|[a-z0-9=_-]{32}|[0-9]{17,20}|[\w-]{23,28}\.[\w-]{6}\.[\w-]{27,38}  2
droneci      drone[_-]?ci                          [a-z0-9]{32}
dropbox      dropbox                               [a-z0-9]{11}A{10}[a-z0-9_=-]{43}|sl\.[a-z0-9_=-]{130,}|[a-z0-9]{15}
etsy         (?-i:ETSY|[Ee]tsy)                    [a-z0-9]{24}
facebook     facebook                              [a-f0-9]{32}
fastly       fastly                                [a-z0-9=_-]{32}
finicity     finicity                              [a-f0-9]{32}|[a-z0-9]{20}
finnhub      finnhub                               [a-z0-9]{20}
flickr       flickr                                [a-z0-9]{32}
freshbooks   freshbooks                            [a-z0-9]{64}
gitter       gitter                                [a-z0-9_-]{40}
gocardless   gocardless                            (?:live|sandbox)_[a-z0-9_=-]{40}
heroku       heroku                                UUID
hubspot      hubspot                               UUID
intercom     intercom                              [a-z0-9=_-]{60}
jfrog        jfrog|artifactory|bintray|xray        [a-z0-9]{73}|[a-z0-9]{64}
kraken       kraken                                [a-z0-9/=_+-]{80,90}
kucoin       kucoin                                [a-f0-9]{24}|UUID
launchdarkly launchdarkly                          [a-z0-9=_-]{40}
linear       linear                                [a-f0-9]{32}
linkedin     linked[_-]?in                         [a-z0-9]{16}|[a-z0-9]{14}
lob          lob                                   (?:live|test)_(?:pub_)?[a-f0-9]{31,35}
looker       looker                                [a-z0-9]{24}|[a-z0-9]{20}
mailchimp    mailchimp                             [a-f0-9]{32}-us\d\d
mailgun      mailgun                               (?:pub)?key-[a-f0-9]{32}|[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}
mattermost   mattermost                            [a-z0-9]{26}
meraki       (?-i:[Mm]eraki|MERAKI)                [0-9a-f]{40}
messagebird  message[_-]?bird                      [a-z0-9]{25}|UUID
netlify      netlify                               [a-z0-9=_-]{40,46}
newrelic     new[_-]?relic                         [a-z0-9]{64}|NRJS-[a-f0-9]{19}|NRII-[a-z0-9-]{32}|NRAK-[a-z0-9]{27}
nytimes      nytimes|new-york-times|newyorktimes   [a-z0-9=_-]{32}
okta         (?-i:[Oo]kta|OKTA)                    00[\w=-]{40}
plaid        plaid                                 [a-z0-9]{30}|[a-z0-9]{24}
privateai    private[_-]?ai                        [a-z0-9]{32}
rapidapi     rapidapi                              [a-z0-9_-]{50}
sendbird     sendbird                              [a-f0-9]{40}|UUID
sentry       sentry                                [a-f0-9]{64}
snyk         snyk                                  UUID
sonar        sonar                                 (?:sq[aup]_)?[a-z0-9=_-]{40}
sourcegraph  sourcegraph                           [a-f0-9]{40}
square       squareup|square[_-]?(?:secret|access|client|token|key)  [\w-]{22,60}
squarespace  squarespace                           UUID
sumologic    (?-i:[Ss]umo|SUMO)                    [a-z0-9]{64}|su[a-z0-9]{12}
telegram     telegr                                [0-9]{5,16}:(?-i:A)[a-z0-9_-]{34}
travis       travis                                [a-z0-9]{22}
twitch       twitch                                [a-z0-9]{30}
twitter      twitter                               A{22}[a-z0-9%]{80,100}|[0-9]{15,25}-[a-z0-9]{20,40}|[a-z0-9]{50}|[a-z0-9]{45}|[a-z0-9]{25}
yandex       yandex                                t1\.[\w-]+={0,2}\.[\w-]{86}={0,2}|AQVN[\w-]{35,38}|YC[\w-]{38}
zendesk      zendesk                               [a-z0-9]{40}
`

const (
	// words matches text that consists of one or more words, such as a person might write in place
	// of a value.
	words = `^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[ _./:+=-]+(?:[A-Z]?[a-z]+|[A-Z]+))*$`

	// identifier matches the name of an object in a program: words with separators, each of which
	// may contain one number.
	identifier = `^` + segment + `(?:[_.:/=-]+` + segment + `)+$`
	segment    = `(?:[A-Z]{1,12}|[A-Z]?[a-z]{1,20}(?:[A-Z][a-z]{1,20}){0,4})?[0-9]{0,10}[A-Z]?[a-z]{0,12}`

	// camel matches a name in camel case, optionally with one number inside and one at the end.
	camel = `^(?:[A-Z]?[a-z]{2,}|[A-Z]{2,6})*[0-9]{0,5}(?:[A-Z]?[a-z]{2,}|[A-Z]{2,6})*[0-9]{0,3}$`

	// member matches an expression in a program, such as out.BeforeSHA256 or f.n.Seen++.
	member = `^[a-z]{1,12}(?:\.[A-Za-z]+[0-9]{0,3})+(?:\+\+|--)?$`

	// publicKey matches the public keys in did:key: identifiers (Ed25519, X25519, P-256, and
	// secp256k1).
	publicKey = `^z(?:6Mk|6LS|Dn|Q3s)[1-9A-HJ-NP-Za-km-z]{40,}$`

	// numbered matches a word that may end in a number.
	numbered = `^[A-Za-z]*[0-9]{0,4}$`
)

// assignments returns detectors for secrets that are recognized by the name to which they are
// assigned and by their random appearance.
func assignments() []Detector {
	const (
		tail  = `[\w.-]{0,24}`
		typed = `(?:[ \t]{1,3}(?:string|str|&str|char|text|varchar))?` // of a declaration
		value = `((?:base64:)?[\w+/.=~-]{10,})`
	)

	strong := `(?:secret|token|credential|creds|api[_.-]?key|(?:access|account|admin|aes|app(?:lication)?|auth|backup|cipher|client|consumer|cookie|crypto|data|decrypt|decryption|deploy|encrypt|encryption|hmac|jwt|license|master|private|recovery|root|rpc|security|server|service|session|shared|sign|signing|ssh|storage|subscription|unseal|webhook|wrapping)[_.-]?key|[_.-](?:salt|pepper))`
	weak := `(?:key|auth|access)`
	return []Detector{
		{Name: "secret_value", Group: 1, Entropy: 3.2,
			Pattern: `(?i)` + strong + tail + typed + given + value + valueEnd,
			Allow:   []string{words, identifier, camel, numbered, member, `^[\w/]+-[A-Za-z0-9]{6}$`}, StopWords: placeholders(),
			Allowed: []Allowance{{Target: TargetWord, Patterns: []string{notSecret}}}},

		// A quoted value can contain any character.
		{Name: "secret_text", Group: FirstGroup, Entropy: 3.2,
			Pattern:   `(?i)` + strong + tail + closes + typing + equals + `[\[({]{0,2}(?:` + quoted + `)`,
			StopWords: placeholders(),
			Allowed:   []Allowance{{Patterns: append(references(), words, identifier, camel, numbered, `^[^0-9]*$`, `^.{1,7}$`, `\s`)}, {Target: TargetWord, Patterns: []string{notSecret}}}},
		{Name: "key_value", Group: 1, Entropy: 3.6,
			Pattern: `(?i)` + weak + tail + given + value + valueEnd,
			Allow:   []string{words, identifier, camel, numbered, member, `^[0-9a-fA-F]+$`, `^(?i:` + hexID + `)$`, publicKey}, StopWords: placeholders(),
			Allowed: []Allowance{{Target: TargetWord, Patterns: []string{notSecret}}}},
	}
}

// notSecret matches names that contain a word for secret but do not denote a secret.
const notSecret = `(?i)^[\w.-]*(?:` +
	`public|pub[_-]?key|pubkey|csrf|xsrf|page[_-]?token|next[_-]?token|continuation|cancellation|author(?:$|[^i])|` +
	`access(?:or|ib)|access[_.-]?id|rapid|turkey|monkey|donkey|keyboard|keyword|keystore|keyframe|keying|keystone|` +
	`(?:bucket|cache|foreign|hot|idx|natural|partition|primary|routing|schema|sequence|sort|map|object|group|dedup\w*|idempotency)[_.-]?key|` +
	`key[_.-]?(?:alias|code|frame|id|length|len|mesh|name|pair|press|ring|selector|signature|size|type|up|down|left|right|hash|file|path|usage|version|fingerprint)|` +
	`token[_.-]?(?:count|limit|usage|budget|type|id|name|url|uri|endpoint|file|path|expir|ttl|length|len|size|index|hash|addr)|tokens|tokeni[sz]|` +
	`secret[_.-]?(?:name|id|arn|version|manager|ref|path|length|size|type|hash)|user_?secrets_?id|` +
	`(?:credentials?|creds)[_.-]?(?:id|file|path|url|type|name|provider|scope)|with_?credentials|` +
	`api[_.-]?(?:id|name|version|url)|authentication-results|auth[_.-]?(?:type|url|uri|mode|method|provider|id|name)|vault` +
	`)`
