package page

// absentPage says that the page was not built.
func absentPage() []byte {
	return []byte(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'">
<link rel="icon" href="data:,">
<title>receipt: no verification page</title>
<h1>This command was built without the verification page</h1>
<p>Everything else works: the routes below /v1, and receipt verify on the command line.</p>
<p>To build a command with the page, in a checkout of its source:</p>
<pre>go generate ./receipt/serve/page
go build ./cmd/receipt</pre>
</html>
`)
}
