package secret

// PrivateJWK is the name of the detector for the private members of a JWK. If a policy has this
// detector, package redact also withholds these members in JSON objects.
const PrivateJWK = "jwk_private_key"

// serviceTokens returns detectors for tokens that are recognized by their form anywhere in a
// string. The forms are documented by the services, or were collected by gitleaks.
func serviceTokens() []Detector {
	return []Detector{
		token("onepassword_secret_key", `A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b`, 3.5),
		token("onepassword_service_token", `ops_ey[A-Za-z0-9+/_-]{100,}={0,3}`, 4),
		token("adobe_secret", `p8e-(?i:[a-z0-9]{32})\b`, 2.5),
		token("age_secret_key", `(?i:age-secret-key-(?:pq-)?1[02-9ac-hj-np-z]{58,})`, 3),
		token("amazon_mws_token", `amzn\.mws\.`+hexID, 3),
		token("amplitude_assembly_key", `aai_[a-f0-9]{32}\b`, 3),
		token("airtable_token", `pat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b`, 3),
		isolated("alibaba_access_key", `LTAI(?i:[a-z0-9]{12}|[a-z0-9]{20})`, 2.5),
		token("anthropic_key", `sk-ant-[a-z]+[0-9]+-[\w-]{60,}`, 3),
		token("artifactory_key", `AKCp[A-Za-z0-9]{69,}`, 4),
		token("artifactory_token", `cmVmd[A-Za-z0-9]{59}\b`, 4),
		token("atlassian_token", `AT(?:ATT|CTT)[A-Za-z0-9_=-]{60,}|ATBB[A-Za-z0-9_=-]{28,}`, 3.5),
		token("atlassian_trello_token", `ATTA[a-f0-9]{72}\b`, 3),
		token("authress_key", `(?:sc|ext|scauth|authress)_(?i:[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{30,120})`, 3),
		token("aws_bedrock_key", `ABSK[A-Za-z0-9+/]{100,}={0,2}`, 3),
		token("aws_bedrock_session", `bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=_-]*`, 3),
		token("aws_session_token", `(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9+/=]{60,}`, 4),
		{Name: "azure_client_secret", Group: 1, Entropy: 3.3, Pattern: `(?:^|[^\w~.-])([\w~.]{3}\dQ~[\w~.-]{31,34})(?:[^\w~.-]|$)`},
		{Name: "azure_account_key", Group: 1, Entropy: 4, Pattern: `(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})`},
		{Name: "azure_devops_token", Group: 1, Entropy: 4, Pattern: `\b([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})\b`},
		token("braintree_token", `access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}\b`, 3),
		token("brevo_smtp_key", `xsmtpsib-[a-f0-9]{64}-(?i:[a-z0-9]{16})`, 3),
		token("buildkite_token", `bk(?:ua|aj|at|ct)_[a-f0-9]{40}\b`, 3),
		token("circleci_token", `CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}\b`, 3),
		bounded("clickup_token", `pk_\d{5,12}_[A-Z0-9]{32}`, 3.5),
		token("clickhouse_key", `4b1d[A-Za-z0-9]{38}\b`, 3),
		token("clojars_token", `(?i:clojars_[a-z0-9]{60})`, 3),
		token("cloudflare_origin_key", `v1\.0-[a-f0-9]{24}-[a-f0-9]{146}`, 3),
		bounded("contentful_token", `CFPAT-[\w-]{43}`, 3.5),
		bounded("crates_token", `cio[A-Za-z0-9]{32}`, 3.8).allow(`^[^0-9]*$`),
		token("databricks_token", `dapi[a-f0-9]{32}(?:-\d)?\b`, 3),
		token("dbt_token", `dbt[cu]_[\w-]{30,}={0,2}`, 3.5),
		token("defined_networking_token", `(?i:dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52})`, 3),
		token("digitalocean_token", `(?i:do[opr]_v1_[a-f0-9]{64})`, 3),

		// The first part of the token is an account number of twelve or more digits.
		{Name: "discord_token", Group: 1, Entropy: 3.5, Pattern: `\b([MNO][DTjz][AEIMQUYcgk][0-5w-z](?:[MNO][DTjz][AEIMQUYcgk][0-5w-z]){3,5}[\w-]{0,5}\.[\w-]{6}\.[\w-]{27,38})(?:[^\w-]|$)`},
		isolated("discord_bot_token", `[MNO][\w-]{22,27}\.[\w-][\w-]{5}\.[\w-]{27,38}`, 4),
		bounded("discord_mfa_token", `mfa\.[\w-]{80,95}`, 4),
		token("docker_token", `dckr_(?:pat|oat)_[\w-]{20,}`, 3),
		token("doppler_token", `dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,40}\.)?(?i:[a-z0-9]{40,})`, 3),
		token("dropbox_token", `sl\.(?:u\.)?[\w-]{130,}`, 3.5),
		token("duffel_token", `duffel_(?:test|live)_[\w=-]{43}`, 3),
		token("dynatrace_token", `dt0[a-z]\d\d\.(?i:[a-z0-9]{24}\.[a-z0-9]{64})`, 3.5),
		token("easypost_key", `EZ[AT]K(?i:[a-z0-9]{54})\b`, 3),
		isolated("facebook_token", `EAA[A-Z](?i:[a-z0-9]{90,})`, 3.8),
		{Name: "facebook_app_token", Group: 1, Entropy: 3, Keywords: []string{"facebook"}, Pattern: `\b(\d{15,16}(?:\||%7[Cc]|%)[\w-]{27,40})`},
		isolated("firebase_key", `AAAA[\w-]{7}:[\w-]{100,}`, 4),
		token("elevenlabs_key", `sk_[a-f0-9]{48}\b`, 3),
		token("figma_token", `fig[dou]_?r?_[\w-]{38,}`, 3),
		bounded("fireworks_key", `fw_[A-Za-z0-9]{22,24}`, 3.5).allow(`^[A-Za-z_]*[0-9]{0,4}$`),
		token("flutterwave_key", `FLW(?:SEC|PUB)K(?:_TEST)?-(?i:[a-z0-9]{12,32})(?:-X)?`, 2.5),
		token("flyio_token", `(?:fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{60,}={0,3}|fm2_[A-Za-z0-9+/]{60,}={0,3})`, 3.5),
		token("frameio_token", `fio-u-(?i:[a-z0-9_=-]{64})`, 3),
		token("gitlab_runner_token", `GR1348941[\w-]{20,}`, 3),
		{Name: "gitlab_session", Group: 1, Entropy: 3, Pattern: `_gitlab_session=([0-9a-z]{32})`},
		token("google_oauth_secret", `GOCSPX-[\w-]{24,}`, 3),
		token("google_hmac_key", `GOOG1E[A-Z0-9]{57}\b`, 3.5),
		token("google_refresh_token", `1//0[\w-]{40,}`, 3.5),
		token("google_oauth_token", `ya29\.[\w-]{30,}`, 3),
		token("grafana_key", `eyJrIjoi[A-Za-z0-9]{60,}={0,3}`, 3),
		token("grafana_cloud_token", `glc_[A-Za-z0-9+/]{32,}={0,3}`, 3),
		token("grafana_service_token", `(?i:glsa_[a-z0-9]{32}_[a-f0-9]{8})`, 3),
		token("groq_key", `gsk_[A-Za-z0-9]{40,}`, 3.5),
		token("harness_key", `[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}\b`, 3),
		token("heroku_key", `HRKU-[\w-]{30,}`, 3.5),
		token("honeycomb_key", `hc[abx]i[kc]_[a-z0-9]{58}\b`, 3.5),
		token("hubspot_token", `pat-(?:na|eu)\d-`+hexID, 3),
		{Name: "infracost_token", Group: 1, Entropy: 3, Pattern: `(?:^|[^\w.-])(ico-[A-Za-z0-9]{32})` + valueEnd},
		token("intra42_secret", `s-s4t2(?:ud|af)-(?i:[a-f0-9]{64})`, 3),
		token("infisical_token", `st\.`+hexID+`\.[a-f0-9]{16,64}\.[a-f0-9]{16,64}\b`, 3),
		token("langsmith_key", `lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}\b`, 3),
		token("launchdarkly_key", `sdk-`+hexID, 3),
		token("linear_key", `lin_(?:api|oauth)_(?i:[a-z0-9]{40,})`, 3),
		token("mailchimp_key", `[a-f0-9]{32}-us\d{1,2}\b`, 3),
		token("mailgun_key", `(?:pub)?key-[a-f0-9]{32}\b`, 3),
		token("mapbox_token", `(?i:[ps]k\.[a-z0-9]{60}\.[a-z0-9]{22})\b`, 3.5),
		token("maxmind_key", `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b`, 3.5),
		{Name: "teams_webhook", Group: 1, Pattern: `(?i)\.webhook\.office\.com/webhookb2/([a-z0-9@-]{36,80}/IncomingWebhook/[a-z0-9]{20,40}/[a-z0-9-]{36})`},
		token("netlify_token", `nf[bcopu]_[A-Za-z0-9]{36,}`, 3.5),
		token("new_relic_key", `(?i:NRAK-[a-z0-9]{27}|NRII-[a-z0-9_-]{32}|NRJS-[a-f0-9]{19}|NRRA-[a-f0-9]{42})`, 3),

		// This is the private key of a signed note, as used by the Go checksum database and by
		// transparency logs.
		{Name: "note_private_key", Group: 1, Entropy: 3, Pattern: `(PRIVATE\+KEY\+[^\s+]+\+[0-9a-fA-F]{8}\+[A-Za-z0-9+/]{40,}={0,2})`},
		bounded("nats_seed", `S[ACNOUX][A-Z2-7]{56}`, 3.8),
		token("neon_key", `napi_[a-z0-9A-Z]{48,}`, 3.5),
		token("nostr_key", `nsec1[02-9ac-hj-np-z]{58}\b`, 3),
		token("notion_token", `ntn_[0-9]{11}[A-Za-z0-9]{35}\b`, 3.5),
		token("notion_secret", `secret_[A-Za-z0-9]{43}\b`, 4),
		token("npm_legacy_token", `oy2[a-z0-9]{43}\b`, 3.5),
		token("nvidia_key", `nvapi-[\w-]{50,}`, 3.5),
		{Name: "octopus_key", Group: 1, Entropy: 3, Pattern: `\b(API-[A-Z0-9]{26})` + valueEnd},
		bounded("openshift_token", `sha256~[\w-]{43}`, 3.6),
		token("perplexity_key", `pplx-[A-Za-z0-9]{40,}`, 3.5),
		token("pinecone_key", `pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,}`, 3.5),
		token("plaid_token", `(?i:access-(?:sandbox|development|production)-`+hexID+`)`, 3),
		token("planetscale_token", `(?i:pscale_(?:tkn|oauth|pw)_[\w=.-]{32,})`, 3),
		token("postman_key", `PMAK-(?i:[a-f0-9]{24}-[a-f0-9]{34})`, 3),
		token("prefect_key", `pn[ub]_[A-Za-z0-9]{36}\b`, 3),
		token("pulumi_token", `pul-[a-f0-9]{40}\b`, 2.5),
		token("pypi_token", `pypi-AgE[\w-]{50,}`, 3),
		bounded("receipt_key", `rk_[\w-]{43}`, 3.5),
		token("readme_key", `rdme_[a-z0-9]{70}`, 3),
		token("render_key", `rnd_[A-Za-z0-9]{28,}\b`, 3.5).allow(`^[^0-9]*$`),
		token("replicate_token", `r8_[A-Za-z0-9]{37}\b`, 3),
		bounded("runpod_key", `rpa_[A-Za-z0-9]{40,}`, 3.5),
		bounded("resend_key", `re_[A-Za-z0-9]{7,9}_[A-Za-z0-9]{20,24}`, 3.8).allow(`^[A-Za-z_]*[0-9]{0,4}$`),
		token("rubygems_key", `rubygems_[a-f0-9]{48}\b`, 2.5),
		token("scalingo_token", `tk-us-[\w-]{48}`, 3),
		token("sendgrid_key", `SG\.(?i:[\w=.-]{66}|[\w-]{16,}\.[\w-]{16,})`, 3),
		token("sendinblue_key", `xkeysib-[a-f0-9]{64}-(?i:[a-z0-9]{16})`, 3),
		token("sentry_token", `(?:sntrys_ey[A-Za-z0-9+/=]{40,}_[A-Za-z0-9+/]{40,}|sntry[ur]_[a-f0-9]{64})`, 3),
		token("settlemint_token", `sm_[aps]at_[A-Za-z0-9]{16}\b`, 3),
		token("shippo_token", `shippo_(?:live|test)_[a-fA-F0-9]{40}`, 3),
		token("shopify_token", `shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{32}\b`, 2.5),
		{Name: "slack_webhook", Group: 1, Pattern: `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,80})`},
		{Name: "discord_webhook", Group: 1, Pattern: `discord(?:app)?\.com/api/webhooks/(\d{15,20}/[\w-]{50,80})`},
		token("sonar_token", `sq[aup]_[a-f0-9]{40}\b`, 3),
		token("sourcegraph_token", `(?i:sgp_(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40})\b`, 3),
		token("square_token", `sq0(?:atp|csp|idp)-[\w-]{22,60}`, 2.5),
		token("stytch_secret", `secret-(?:live|test)-[\w-]{30,}={0,2}`, 3.5),
		isolated("square_access_token", `EAAA[\w-]{22,60}`, 3.5),
		token("supabase_token", `sb(?:p|_secret)_[\w-]{20,}`, 3),
		token("tailscale_key", `tskey-(?:[a-z]{1,20}-)?[A-Za-z0-9]{8,40}-[A-Za-z0-9]{20,}`, 3.5),
		token("tavily_key", `tvly-(?:[a-z]{1,10}-)?[A-Za-z0-9]{24,}`, 3.5),
		{Name: "telegram_token", Group: 1, Entropy: 3, Pattern: `\b(?:bot)?([0-9]{8,12}:AA[\w-]{33})(?:[^\w-]|$)`},
		token("twilio_key", `SK[0-9a-fA-F]{32}\b`, 3),
		token("terraform_token", `(?i:[a-z0-9]{14}\.atlasv1\.[a-z0-9_=-]{60,})`, 3.5),
		token("typeform_token", `tfp_[\w.=-]{40,}`, 3),
		token("vault_token", `hv[bsr]\.[\w-]{24,}`, 3.5),
		token("vercel_blob_token", `vercel_blob_rw_[A-Za-z0-9]{10,}_[A-Za-z0-9]{20,}`, 3.5),
		bounded("vercel_token", `vc[pkiar]_[A-Za-z0-9]{24,}`, 3.8).allow(`^[A-Za-z_]*[0-9]{0,4}$`),
		token("vault_legacy_token", `s\.[A-Za-z0-9]{24}\b`, 3.5).allow(`^s\.[A-Za-z]+$`, `^s\.(?:[A-Z]?[a-z]{2,}|[A-Z]{2,4}|[0-9]{1,3})+$`),
		token("xai_key", `xai-[A-Za-z0-9]{60,}`, 3.5),
		token("yandex_token", `(?:t1\.[\w-]+={0,2}\.[\w-]{86}={0,2}|AQVN[\w-]{35,38})`, 3),
	}
}

// structures returns detectors for secrets that are recognized by the text around them.
func structures() []Detector {
	const (
		// ascii64 matches four base64 characters that encode three ASCII characters.
		ascii64   = `(?:[I-Za-f][C-HS-Xi-ny-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-])`
		entry     = `[ \t]+[\w.-]+:[ \t]*(?:[|>][-+]?[ \t]*\r?\n[ \t]+)?["']?`
		entryEnd  = `={0,3}["']?[ \t]*(?:\r?\n|$|[},])` // the last: of a text in JSON
		comment   = `[ \t]*#[^\n]*\n|`
		anyEntry  = `(?:` + comment + entry + `[A-Za-z0-9+/]{4,}` + entryEnd + `)*`
		longEntry = entry + `[A-Za-z0-9+/]{10,}` + entryEnd
		lines     = `(?:(?:[^-\n][^\n]*)?\n){0,20}?`
		secret    = `kind:[ \t]*["']?secret["']?[ \t]*`
	)
	return []Detector{
		// These detectors find the content of a Kubernetes secret, before or after its kind.
		{Name: "kubernetes_secret", Group: 1, Keywords: []string{"kind:"},
			Pattern: `(?i)` + secret + `\r?\n` + lines + `data:[ \t]*\r?\n(` + anyEntry + longEntry + anyEntry + `)`},
		{Name: "kubernetes_secret_data", Group: 1, Keywords: []string{"data:"},
			Pattern: `(?i)data:[ \t]*\r?\n(` + anyEntry + longEntry + anyEntry + `)` + lines + secret + `(?:\r?\n|$)`},
		{Name: "jwt_base64", Group: 1, Entropy: 3, Pattern: `\b(ZXlK(?:aGJHY2|MGVYQW|cmFXUW|bGJtTW|NE5YUW|NE5XTW|NE5YVW|cGMzTW|emRXSW|emRuUW|aGRXUW|cmRIa2|amRIa2|bGNHc2|cWEzVW|cWQyc2|dWIyNW|NmFYQW|MlpYSW|MlpYSn|MWNtd2|MWMyVW|cGRpST|aU5qUW|amNtbD|aGNIVW|aGNIWW|clpYbG|d01tTW|d01uTW|d2NIUW|MFlXY2|NElqb2)[\w/+\\\r\n-]{30,}={0,2})`},

		// These are the private members of a JWK (RFC 7518 section 6, RFC 9964), as text or within
		// a JSON string.
		{Name: PrivateJWK, Group: 1, Entropy: 3, Keywords: []string{"kty"}, Allow: []string{words, identifier},
			Pattern: `(?:^|[\s"'\x60{,])(?:d|p|q|dp|dq|qi|k|priv)\\{0,7}["'\x60]?[ \t\r\n]{0,20}:[ \t\r\n]{0,20}\\{0,7}["'\x60]?([\w-]{22,}={0,2})(?:[^\w=-]|$)`},
		{Name: "basic_auth", Group: 1, Pattern: `(?i:\bbasic)[ \t]+(` + ascii64 + `{2,}(?:[A-Za-z0-9+/_-]{2,3}={0,2})?)`},
		{Name: "bearer_token", Group: 1, Entropy: 2.5, Pattern: `(?i)\bbearer[\s"':=]{1,3}([\w.+/=~-]{12,})`,
			Allow: []string{words, identifier}, StopWords: placeholders()},
		{Name: "authorization_header", Group: 1, Entropy: 2.75, Keywords: []string{"authorization"},
			Pattern: `(?i)authorization["'\\]{0,3}[ \t]{0,3}[:=][\s"'\\]{0,5}(?:[a-z][a-z-]{0,20}[ \t]+)?([\w.~+/=-]{8,}(?:[\w.~+/=:-]*))`,
			Allow:   []string{words, identifier}, StopWords: placeholders()},
		{Name: "key_header", Group: 1, Entropy: 2.75,
			Pattern: `(?i)-H[ '"=]{1,3}(?:x-(?:[a-z]{1,20}-){0,3})?(?:api-?)?(?:key|token):[ \t]{0,5}([\w=~@.+/-]{8,})`,
			Allow:   []string{words, identifier}, StopWords: placeholders()},
		{Name: "curl_user", Group: 1, Entropy: 2, Keywords: []string{"curl"},
			Pattern: `\bcurl(?:\.exe)?[ \t](?:[^\n]*?(?:\\\r?\n[^\n]*?){0,8}[ \t])?(?:-u|--user)[ \t=]{1,5}(` +
				`"[^"\s:]{0,80}"?:"?[^"\s]{3,120}"|'[^'\s:]{0,80}:[^'\s]{3,120}'|[^\s"':]{0,80}:'[^'\n]{3,120}'|[^\s"':]{0,80}:[^\s"']{3,120})`,
			Allow: []string{`^["']?<.*>["']?$`, `[$<\[{]\w*[^:]*[>\]}]?["']?:["']?[$<\[{]`, `:\$?[\[<{(]`, `:["']?\$[A-Za-z_{(]`, `:(?i:changeit|changeme|pass(?:word)?|pwd|token|\*+|x+)["']?$`}},
		{Name: "cookie_header", Group: 1, Entropy: 3, Keywords: []string{"cookie"},
			Pattern:   `(?i)\bcookie["']?[ \t]*:[ \t]*["']?((?:[\w.-]{1,60}=[^\s;"']*;[ \t]*)*[\w.-]{1,60}=[^\s;"']{12,}(?:;[ \t]*[\w.-]{1,60}=[^\s;"']*)*)`,
			StopWords: placeholders()},
		{Name: "netrc_password", Group: 1, Entropy: 2, Keywords: []string{"machine"},
			Pattern: `\bmachine[ \t]+[^\s]{1,200}\s+login\s+[^\s]{1,200}\s+password\s+("[^"\n]{4,120}"|[^\s"]{4,120})`, StopWords: placeholders()},
		{Name: "freemius_key", Group: 1, Entropy: 3, Pattern: `(?i)["']secret_key["']\s*=>\s*["'](sk_\S{29})["']`, StopWords: placeholders()},
		{Name: "sidekiq_url", Group: 1, Pattern: `(?i)https?://([a-f0-9]{8}:[a-f0-9]{8})@(?:gems|enterprise)\.contribsys\.com`},
		{Name: "sidekiq_secret", Group: 1, Pattern: `(?i)BUNDLE_(?:ENTERPRISE|GEMS)__CONTRIBSYS__COM[\w .-]{0,20}` + assigned + `([a-f0-9]{8}:[a-f0-9]{8})` + valueEnd},
	}
}

// protocolTokens returns detectors for tokens with a distinctive form that Upstream finds, and for
// related tokens that it misses.
func protocolTokens() []Detector {
	const part = `[\w/+\\-]`
	return []Detector{
		// A token has two, three, or five parts. A detached signature (RFC 7515 appendix F) is not
		// a secret; its second part is empty, and it has no fourth part.
		token("jwt", `(?:eyJ|eyA|ewo|ew0)[\w-]{4,}={0,2}\.(?:`+
			part+`{4,}={0,2}\.`+part+`{4,}(?:\.`+part+`*){0,2}={0,2}|`+
			`[\w/+-]{10,}={0,2}\.?|`+
			`\.[\w-]{8,}\.[\w-]{4,}\.[\w-]{8,})`, 3),

		// After a name, as in TOKEN_ghp_…, only strings with the length or form of issued tokens
		// match, because any other string could be part of base64url text or of a longer name.
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

		// These prefixes belong to keys that appear in the documentation of Firebase and Google
		// Maps.
		bounded("google_api_key", `AIza[\w-]{35}`, 3).allow(`^AIza(?:Syabcdef|SyAnLA7N|SyCkEhVj|SyDMAScl|SyD3asb-|yDNSXIbF|SyAdOS2z|SyASWm6H|SyANUvH9|SyA5_iVa|SyA4UrcG|SyDSb51J|SyBF2RrA|SyBcE-OO|SyB8qGxt|SyA8vmAp)`),
		token("npm_token", `(?i:npm_[a-z0-9]{36})\b`, 3),
		token("openai_key", `sk-[\w-]{20,}`, 3).allow(`^[^0-9]*$`, `^sk(?:-[a-z]+|-[0-9]{1,4})+$`, `^sk-(?:ssh|ecdsa)-`),
		token("stripe_key", `(?:[rs]k_(?:live|test|prod)|whsec)_[A-Za-z0-9]{10,}`, 2.5),

		// If there is no END line, the match continues to the end of the text.
		{Name: "private_key_block", Group: 0, Pattern: `(?i)-{4,5} ?BEGIN[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)? ?-{4,5}` +
			`(?:(?s:.*?)-{4,5} ?END[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)? ?-{4,5}|(?:\\{1,4}[nrt]|\s|[\w:,-]+:[^\n\\]*)*[A-Za-z0-9+/]{16}(?s:.*))`},
		{Name: "private_key_putty", Pattern: `PuTTY-User-Key-File-\d(?s:.*?)Private-(?:MAC|Hash): ?[0-9a-fA-F]*`},

		// These are private keys of minisign and signify.
		token("private_key_minisign", `RW(?:RTY0Iy|RCSw)[A-Za-z0-9+/]{90,}={0,2}`, 4),
	}
}
