package redact_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
)

// A form is how secrets of a service look: what stands between « and » is the
// secret, and {a22} in it are 22 characters of an alphabet:
//
//	a  letters and digits     w  those, _ and -     b  base64
//	l  lower case and digits  u  upper case and digits
//	h  lower-case hex         d  digits
type form struct{ service, text string }

// forms are written from what the services document, not from the samples that
// the detectors were made with.
func forms() []form {
	const uuid = "{h8}-{h4}-4{h3}-a{h3}-{h12}"
	return []form{
		{"OpenAI project key", "use «sk-proj-{w74}T3BlbkFJ{w74}» here"},
		{"OpenAI service account", "«sk-svcacct-{w58}T3BlbkFJ{w58}»"},
		{"OpenAI old key", "key «sk-{a20}T3BlbkFJ{a20}»."},
		{"OpenRouter", "«sk-or-v1-{h64}»"},
		{"DeepSeek", "«sk-{h32}»"},
		{"Anthropic API", "«sk-ant-api03-{w93}AA»,"},
		{"Anthropic OAuth", "«sk-ant-oat01-{w93}AA»"},
		{"Anthropic admin", "«sk-ant-admin01-{w93}AA»"},
		{"GitHub classic", "https://api.github.com «ghp_{a36}»"},
		{"GitHub server", "«ghs_{a36}»"},
		{"GitHub refresh", "«ghr_{a76}»"},
		{"GitHub fine-grained", "«github_pat_11{u20}_{a59}»"},
		{"GitHub in URL", "git clone https://«x-access-token:{a40}»@github.com/o/r.git"},
		{"GitLab personal", "«glpat-{w20}»"},
		{"GitLab routable", "«glpat-{w27}.01.{l9}»"},
		{"GitLab deploy", "«gldt-{w20}»"},
		{"GitLab runner", "«glrt-t1_{w20}»"},
		{"GitLab trigger", "«glptt-{h40}»"},
		{"GitLab old runner", "«GR1348941{w20}»"},
		{"Slack app", "«xapp-1-A{u10}-{d13}-{h64}»"},
		{"Slack bot", "«xoxb-{d12}-{d13}-{a24}»"},
		{"Slack user", "«xoxp-{d12}-{d12}-{d13}-{h32}»"},
		{"Slack refresh", "«xoxe-1-{a146}»"},
		{"Slack client", "«xoxc-{d12}-{d12}-{d13}-{h64}»"},
		{"Slack workflow", "«xwfp-{d12}-{a32}»"},
		{"Slack webhook", "https://hooks.slack.com/services/«T{u10}/B{u10}/{a24}»"},
		{"Stripe restricted", "«rk_live_{a99}»"},
		{"Stripe secret", "«sk_live_51{a97}»"},
		{"Stripe short", "«sk_test_{a24}»"},
		{"Stripe webhook", "«whsec_{a32}»"},
		{"SendGrid", "«SG.{w22}.{w43}»"},
		{"Twilio key", "«SK{h32}»"},
		{"Twilio auth token", "TWILIO_AUTH_TOKEN=«{h32}»"},
		{"npm", "«npm_{a36}»"},
		{"npm config", "//registry.npmjs.org/:_authToken=«" + uuid + "»"},
		{"PyPI", "«pypi-AgEIcHlwaS5vcmcC{w130}»"},
		{"Docker Hub", "«dckr_pat_{w27}»"},
		{"Docker config", `{"auths":{"https://index.docker.io/v1/":{"auth":"«dXNlcjpw{b24}=»"}}}`},
		{"DigitalOcean", "«dop_v1_{h64}»"},
		{"Vault service", "«hvs.{a24}»"},
		{"Vault long", "«hvs.CAESI{w90}»"},
		{"Vault batch", "«hvb.AAAAAQ{w140}»"},
		{"Terraform Cloud", "«{a14}.atlasv1.{a67}»"},
		{"Databricks", "«dapi{h32}»"},
		{"Azure storage", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«{b86}==»;EndpointSuffix=core.windows.net"},
		{"Azure SAS", "https://x.blob.core.windows.net/c?sv=2024-11-04&se=2026-01-01&sp=r&sig=«{a42}%3D»"},
		{"Azure client secret", "«{a3}8Q~{w34}»"},
		{"Azure service bus", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«{b43}=»"},
		{"Azure DevOps", "«{a76}AZDO{a4}»"},
		{"GCP service account", `{"type":"service_account","private_key":"«-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n{b32}\n-----END PRIVATE KEY-----»\n","client_email":"x@y.iam.gserviceaccount.com"}`},
		{"Google API key", "«AIza{w35}»"},
		{"Google OAuth secret", "«GOCSPX-{w28}»"},
		{"Google access token", "«ya29.a0{w160}»"},
		{"Google refresh token", "«1//0{w100}»"},
		{"AWS access key", "«AKIA{u16}»"},
		{"AWS secret key", "aws_secret_access_key = «{b40}»"},
		{"AWS secret key in code", `AwsCredentials(secretAccessKey: "«{b40}»")`},
		{"AWS session token", "AWS_SESSION_TOKEN=«IQoJb3JpZ2luX2Vj{b300}»"},
		{"AWS presigned URL", "https://b.s3.amazonaws.com/k?X-Amz-Credential=AKID&X-Amz-Signature=«{h64}»"},
		{"JWT", "«eyJhbGciOiJSUzI1NiJ9.eyJz{w80}.{w86}»"},
		{"JWT in cookie", "Cookie: lang=de; sid=«eyJhbGciOiJIUzI1NiJ9.eyJz{w40}.{w43}»"},
		{"PGP key", "«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{b64}\n{b64}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----»"},
		{"SSH key", "«-----BEGIN OPENSSH PRIVATE KEY-----\n{b70}\n{b70}\n{b32}\n-----END OPENSSH PRIVATE KEY-----»"},
		{"age key", "«AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE»"},
		{"basic auth in URL", "https://«deploy:{a12}»@git.example.com/x.git"},
		{"PostgreSQL", "DATABASE_URL=postgres://«app:{a16}»@db:5432/app?sslmode=require"},
		{"MySQL", "mysql://«root:{a14}»@127.0.0.1/x"},
		{"MongoDB", "mongodb+srv://«u:{a16}»@c0.mongodb.net/?retryWrites=true"},
		{"Redis", "redis://«:{a20}»@cache:6379/0"},
		{"AMQP", "amqps://«svc:{a20}»@mq/v"},
		{"JDBC", "jdbc:postgresql://h/db?user=u&password=«{a16}»"},
		{"SQL Server", "Server=h;Database=d;User Id=sa;Password=«{a12}9!»;Encrypt=true"},
		{"PGPASSWORD", "PGPASSWORD=«{a12}7» psql -h db"},
		{"netrc", "machine api.example.com login bob password «{a16}»"},
		{"sshpass", "sshpass -p '«{a14}»' ssh h"},
		{"curl", "curl -u 'bob:«{a14}»' https://h"},
		{"header", "curl -H 'X-Api-Key: «{a32}»' https://h"},
		{"token header", "Authorization: Token «{h40}»"},
		{"Okta", "Authorization: SSWS «00{w40}»"},
		{"Telegram", "https://api.telegram.org/bot«{d10}:AA{w33}»/getMe"},
		{"Discord webhook", "https://discord.com/api/webhooks/«{d18}/{w68}»"},
		{"Discord bot", "«MTAyMzQ1Njc4OTAxMjM0NTY3OA.G{a5}.{w38}»"},
		{"Shopify", "«shpat_{h32}»"},
		{"Shopify secret", "«shpss_{h32}»"},
		{"Square", "«EAAA{w60}»"},
		{"Square secret", "«sq0csp-{w43}»"},
		{"Mailgun", "«key-{h32}»"},
		{"Mailgun new", "MAILGUN_API_KEY=«{h32}-{h8}-{h8}»"},
		{"Mailgun without a name", "«{h32}-{h8}-{h8}»"},
		{"Mailchimp", "«{h32}-us21»"},
		{"Heroku", "«HRKU-AA{w58}»"},
		{"Heroku old", "HEROKU_API_KEY=«" + uuid + "»"},
		{"Linear", "«lin_api_{a40}»"},
		{"Notion", "«ntn_{d11}{a35}»"},
		{"Notion old", "«secret_{a43}»"},
		{"Figma", "«figd_{w40}»"},
		{"Grafana", "«glsa_{a32}_{h8}»"},
		{"Grafana Cloud", "«glc_eyJ{b80}=»"},
		{"New Relic", "«NRAK-{u27}»"},
		{"Sentry", "«sntrys_eyJpYXQiOjE3{b100}_{b43}»"},
		{"Sentry user", "«sntryu_{h64}»"},
		{"Vercel", "VERCEL_TOKEN=«{a24}»"},
		{"Vercel blob", "«vercel_blob_rw_{a16}_{a32}»"},
		{"Supabase", "«sbp_{h40}»"},
		{"Supabase secret", "«sb_secret_{w31}»"},
		{"Cloudflare", "CLOUDFLARE_API_TOKEN=«{w40}»"},
		{"Cloudflare CA", "«v1.0-{h24}-{h146}»"},
		{"Atlassian", "«ATATT3xFfGF0{w170}={u8}»"},
		{"Bitbucket", "«ATBB{a32}»"},
		{"Fastly", "FASTLY_API_TOKEN=«{w32}»"},
		{"Doppler", "«dp.pt.{a43}»"},
		{"Pulumi", "«pul-{h40}»"},
		{"PlanetScale", "«pscale_tkn_{w43}»"},
		{"PlanetScale password", "«pscale_pw_{w43}»"},
		{"Postman", "«PMAK-{h24}-{h34}»"},
		{"RubyGems", "«rubygems_{h48}»"},
		{"Replicate", "«r8_{a37}»"},
		{"Groq", "«gsk_{a52}»"},
		{"xAI", "«xai-{a80}»"},
		{"Hugging Face", "«hf_{a34}»"},
		{"Perplexity", "«pplx-{a48}»"},
		{"Fireworks", "«fw_{a24}»"},
		{"LangSmith", "«lsv2_pt_{h32}_{h10}»"},
		{"Langfuse", "«sk-lf-" + uuid + "»"},
		{"Pinecone", "«pcsk_{a6}_{a63}»"},
		{"Tavily", "«tvly-dev-{a32}»"},
		{"ElevenLabs", "«sk_{h48}»"},
		{"Together", "«tgp_v1_{w43}»"},
		{"Cerebras", "«csk-{l48}»"},
		{"NVIDIA", "«nvapi-{w64}»"},
		{"Mistral", "MISTRAL_API_KEY=«{a32}»"},
		{"Cohere", "CO_API_KEY=«{a40}»"},
		{"Gemini", "GEMINI_API_KEY=«AIza{w35}»"},
		{"Weights & Biases", "WANDB_API_KEY=«{h40}»"},
		{"Tailscale", "«tskey-auth-{a16}-{a32}»"},
		{"Netlify", "«nfp_{a40}»"},
		{"Render", "«rnd_{a32}»"},
		{"CircleCI", "«CCIPAT_{a22}_{h40}»"},
		{"Buildkite", "«bkua_{h40}»"},
		{"Fly.io", "«fm2_lJPE{b200}»"},
		{"Airtable", "«pat{a14}.{h64}»"},
		{"HubSpot", "«pat-na1-" + uuid + "»"},
		{"LaunchDarkly", "«sdk-" + uuid + "»"},
		{"Contentful", "«CFPAT-{w43}»"},
		{"Dropbox", "«sl.u.{w150}»"},
		{"Mapbox", "«sk.eyJ1Ijoi{a60}.{a22}»"},
		{"Resend", "«re_{a8}_{a24}»"},
		{"Braintree", "«access_token$production${l16}${h32}»"},
		{"Razorpay", "RAZORPAY_KEY_SECRET=«{a24}»"},
		{"crates.io", "«cio{a32}»"},
		{"NuGet", "«oy2{l43}»"},
		{"JFrog", "«AKCp8{a68}»"},
		{"SonarQube", "«squ_{h40}»"},
		{"Sourcegraph", "«sgp_{h16}_{h40}»"},
		{"1Password", "«ops_eyJ{a300}»"},
		{"Datadog", "DD_API_KEY=«{h32}»"},
		{"PagerDuty", "PAGERDUTY_TOKEN: «u+{w18}»"},
		{"Snyk", "SNYK_TOKEN=«" + uuid + "»"},
		{"Algolia", "ALGOLIA_ADMIN_KEY=«{h32}»"},
		{"Django", `SECRET_KEY = "«{a50}»"`},
		{"Rails", "SECRET_KEY_BASE=«{h128}»"},
		{"session cookie", "Set-Cookie: session=«{w64}»; Path=/; HttpOnly"},
		{"YAML password", "database:\n  user: app\n  password: «{a12}!7»\n"},
		{"Terraform variable", `admin_password = "«{a14}!»"`},
		{"PHP define", `define('DB_PASSWORD', '«{a14}!»');`},
		{"XML", "<password>«{a14}!7»</password>"},
		{"query", "GET /v1/x?api_key=«{h32}» 200"},
		{"form", "grant_type=client_credentials&client_secret=«{a32}»&scope=x"},
		{"OAuth answer", `{"access_token":"«{w64}»","token_type":"Bearer","expires_in":3600}`},
		{"German prose", "Das Passwort lautet: «{a10}7!»"},
		{"WireGuard", "PrivateKey = «{b43}=»"},
		{"Kubernetes", "apiVersion: v1\nkind: Secret\ndata:\n  tls: «{b40}»\n"},
	}
}

// write makes a text of a form, and returns its secret.
func (f form) write(r *rand.Rand) (text, secret string) {
	marked, secret := f.writeMarked(r)
	return strings.NewReplacer("«", "", "»", "").Replace(marked), secret
}

// writeMarked leaves the marks around the secret.
func (f form) writeMarked(r *rand.Rand) (text, secret string) {
	const lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	alphabets := map[byte]string{'h': "0123456789abcdef", 'd': digits, 'l': lower + digits, 'u': strings.ToUpper(lower) + digits, 'a': lower + strings.ToUpper(lower) + digits}
	alphabets['w'], alphabets['b'] = alphabets['a']+"_-", alphabets['a']+"+/"
	text = regexp.MustCompile(`\{[a-z][0-9]+\}`).ReplaceAllStringFunc(f.text, func(m string) string {
		n, _ := strconv.Atoi(m[2 : len(m)-1])
		letters := alphabets[m[1]]
		var b strings.Builder
		for i := range n {
			if c := letters[r.IntN(len(letters))]; i > 0 && i < n-1 { // no _ or - at an end
				b.WriteByte(c)
			} else {
				b.WriteByte(letters[r.IntN(min(len(letters), 62))])
			}
		}
		return b.String()
	})
	_, rest, _ := strings.Cut(text, "«")
	secret, _, _ = strings.Cut(rest, "»")
	return text, secret
}

// TestServices: forms of services that no sample shows. A secret is found when
// no twelve characters of it are left. What has no form of its own, and by chance
// looks like words, may be missed once or twice.
//
// A key of Mailgun that nothing names looks like the numbers of a trace.
func TestServices(t *testing.T) {
	p := compile(t, redact.Default())
	r := rand.New(rand.NewPCG(9, 10))
	each := 20
	if testing.Short() {
		each = 4
	}
	missed := map[string]int{}
	for _, f := range forms() {
		for range each {
			text, secret := f.write(r)
			draft := redacted(t, p, `{"metadata":{"log":`+quote(text)+`}}`).Draft
			left := parse(t, string(draft)).Root().Member("metadata").Member("log").String()
			if leftOf(regexp.MustCompile(`<redacted:[a-z0-9_]+>`).ReplaceAllString(left, "|"), secret) != "" {
				missed[f.service]++
			}
		}
	}
	for service, n := range missed {
		if n > max(each/10, 1) && service != "Mailgun without a name" {
			t.Errorf("%s: %d of %d are missed", service, n, each)
		}
	}
	if n := len(forms()); n < 170 || missed["Mailgun without a name"] != each {
		t.Errorf("%d forms, missed %v", n, missed)
	}
}

// leftOf returns twelve characters of a secret that a text has, if any; of a
// shorter one, all.
func leftOf(text, secret string) string {
	n := min(len(secret), 12)
	for i := 0; i+n <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+n]) {
			return secret[i : i+n]
		}
	}
	return ""
}

// TestBenign: what agents write all day and is no secret. Nothing is withheld.
func TestBenign(t *testing.T) {
	p := compile(t, redact.Default())
	r := rand.New(rand.NewPCG(11, 12))
	texts := benign()
	if len(texts) < 80 {
		t.Fatal(len(texts))
	}
	for _, text := range texts {
		for range 3 {
			text, _ := form{text: text}.write(r)
			for _, e := range redacted(t, p, `{"metadata":{"log":`+quote(text)+`}}`).Entries {
				t.Errorf("%q: %s", text, e.Reason)
			}
		}
	}
}

func benign() []string {
	const uuid = "{h8}-{h4}-4{h3}-a{h3}-{h12}"
	return []string{
		// identifiers and digests
		"commit {h40}", "merge {h7} into main ({h40}..{h40})", "index {h7}..{h7} 100644", uuid, "request_id=" + uuid, `{"trace_id":"{h32}","span_id":"{h16}"}`,
		"traceparent: 00-{h32}-{h16}-01", "sha256:{h64}", "docker.io/library/nginx@sha256:{h64}", "md5 {h32}  data.csv", "SHA1({h40})", "{h64}  receipt_linux_amd64.tar.gz", "{h128}",
		"ed25519:{h32}", "key_2026_04", "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK", "kid: 2026-04-25-prod-1", "base64:{b86}==", "01J{u23}", "task_01K0TASK", "receipt_2026_04_25_000123", "pi_{d24}", "cus_{d14}",
		"etag: W/\"{h32}\"", "If-None-Match: \"{h40}\"", "urn:uuid:" + uuid, "0x{h40}", "rev {d7}", "node_modules/.pnpm/react@19.1.0_{h32}",
		// lock files
		`"integrity": "sha512-{b86}=="`, "h1:{b43}=", "golang.org/x/sys v0.33.0 h1:{b43}=", "golang.org/x/sys v0.33.0/go.mod h1:{b43}=", `checksum = "{h64}"`, `hash = "sha256:{h64}"`, "--hash=sha256:{h64}",
		`"resolved": "https://registry.npmjs.org/react/-/react-19.1.0.tgz"`, "sha256-{b43}=",
		// encoded content and code
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{b600}=", `<img src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0i{b300}">`, "-----BEGIN CERTIFICATE-----\n{b64}\n{b64}\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n{b64}\n-----END PUBLIC KEY-----",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} bob@host", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC{b300}", "SHA256:{b43}",
		`!function(e,t){"object"==typeof exports?module.exports=t():e.Token=t()}(this,function(){var n=e.key||"default";return n})`, `const token = await getToken({ audience: "api" })`, `os.environ["OPENAI_API_KEY"]`,
		`token := os.Getenv("GITHUB_TOKEN")`, `api_key = os.getenv("ANTHROPIC_API_KEY")`, `password = input("Password: ")`, `if (!process.env.STRIPE_SECRET_KEY) throw new Error("STRIPE_SECRET_KEY is not set")`,
		`secret: ${{ secrets.DEPLOY_TOKEN }}`, `password: !vault/db`, `ENV API_KEY=${API_KEY}`, `type Token struct { Kind TokenKind; Value string }`, `SELECT password_hash FROM users WHERE id = $1`, `func (c *Client) SetPassword(password string) error`,
		`<input type="password" name="password" id="password" autocomplete="current-password">`, `expect(screen.getByLabelText("password")).toBeVisible()`, `key: "created_at"`, `map[string]string{"key": "value", "token_type": "Bearer"}`, `<password></password>`,
		`assert.equal(parse("password", "username"), null)`, `primary_key=True, index=True`, `sort_key = "2026-04-25#task"`, `cache_key: deps-{h64}`, `Set-Cookie is sent once; see the docs on cookies: they expire`, `docker run --password-stdin`, `kubectl create secret generic db --from-file=./password.txt`,
		// numbers, times, paths, prose
		"max_tokens=200", `{"max_tokens":4096,"input_tokens":18234,"output_tokens":421,"total_tokens":18655}`, "tokens: 12,345 of 200,000", "2026-04-25T19:17:33.123456Z", "took 1m23.456s, p99=183ms", "/usr/local/lib/python3.13/site-packages/tokenizers/__init__.py", "src/auth/token_store.go:214:17",
		"s3://bucket/2026/04/25/part-00000-" + uuid + ".c000.snappy.parquet", "https://example.com/docs/api-keys#create-a-token", "https://example.com/reset?lang=de&page=2", "git@github.com:owner/repo.git", "v1.24.3-rc.1+build.20260425",
		"Please reset your password; the secret is patience.", "The password must have at least 12 characters, one digit and one of !#%.", "the password is required", "Your token expires in 3600 seconds.", "Bearer tokens are sent in the Authorization header.", "Basic authentication was disabled in 2025.",
		"Secret Manager keeps the key; rotate it every 90 days.", "password: must be at least 12 characters", "error: invalid api key", "401 Unauthorized: missing or expired token (code=invalid_token)", "She said: the key to it all is access, and the author agrees.",
		"Schlüssel und Passwort: siehe Tresor", "the passphrase was changed in v2.1.0", "sk-learn, risk-averse, task-1234567890, desk-lamp-with-a-long-name-1", "ask_for_help_with_something_long", "re_exported_from_the_package_index", "fw_version_checker_module",
	}
}
