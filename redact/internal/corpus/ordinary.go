package corpus

// Ordinary returns what agents write all day and is no secret.
func Ordinary() []Form {
	const uuid = "{h8}-{h4}-4{h3}-a{h3}-{h12}"
	return []Form{
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
