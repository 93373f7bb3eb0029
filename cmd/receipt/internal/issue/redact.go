package issue

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/rulefile"
	"github.com/receiptkit/receiptkit/redact/secret"
)

type redactOptions struct {
	rules                   []string
	disclosures, supersedes string
	check, explain          bool
	output                  cli.OutputFlags
}

// NewRedact returns the command "receipt redact".
func NewRedact(e *cli.Env) *cobra.Command {
	var o redactOptions
	cmd := &cobra.Command{
		Use:   "redact [FILE]",
		Short: "withhold secrets from a draft",
		Long: `Withhold matches of the rules from a draft. Each value is replaced by a
placeholder, and redactions contains a salted commitment, so that it can be
disclosed and checked later.

--disclosures saves the withheld values in a file that only its owner can read;
without it, they are lost. --rules accepts a set, a YAML policy, or a TOML file
of gitleaks detectors.`,
		Example: `  receipt redact draft.json --disclosures secret.json -o redacted.json
  receipt redact --explain --rules strict draft.json`,
		Args: cli.OptionalFile,
		RunE: func(cmd *cobra.Command, args []string) error { return redactDraft(e, cli.FileArg(args), &o) },
	}

	f := cmd.Flags()
	f.StringArrayVar(&o.rules, "rules", []string{"default"}, "rules: upstream, default, strict, or a file; repeatable (`RULES`)")
	f.StringVar(&o.disclosures, "disclosures", "", "file for the withheld values (`FILE`)")
	o.output.Register(f, "output (`FILE`)")
	f.StringVar(&o.supersedes, "supersedes", "", "receipt to supersede (`HASH|FILE`)")
	f.BoolVar(&o.check, "check", false, "like --explain, and exit 1 if anything would be withheld")
	f.BoolVar(&o.explain, "explain", false, "only print places and rules, never values")
	cmd.AddCommand(newDisclose(e))
	return cmd
}

func redactDraft(e *cli.Env, path string, o *redactOptions) error {
	if (o.check || o.explain) && (o.disclosures != "" || o.output.Path != "" || o.supersedes != "") {
		return cli.Usage("", "--check and --explain write no draft, so they exclude --disclosures, --output and --supersedes")
	}

	// The rules are compiled first, so that an error in them is reported before the draft is read.
	policy, err := redactionPolicy(e, o.rules)
	if err != nil {
		return err
	}

	progress := e.Progress("reading", "redacting")
	defer progress.End()
	draft, err := input.ReadDocument(e, path)
	if err != nil {
		return err
	}
	if err := input.RefuseDocument(path, draft.Root(), "draft"); err != nil {
		return err
	}
	progress.Pass(1, 0, 0)
	if o.check || o.explain {
		return explainRedaction(e, policy, draft, o.check)
	}
	if o.supersedes != "" {
		if draft, err = supersede(e, draft, o.supersedes); err != nil {
			return SealFailure(path, err)
		}
	}

	// Only the salt prevents guessing a short value from its commitment.
	result, err := policy.Redact(draft, rand.Reader)
	if err != nil {
		return cli.Refuted("", "%q: %w", cli.SourceName(path), err)
	}
	if err := writeRedacted(e, path, o, result); err != nil {
		return err
	}
	fmt.Fprintf(e.Notes(), "receipt: %s\n", cli.EscapeLine(result.Summary()))
	return nil
}

func supersede(e *cli.Env, draft *canon.Document, arg string) (*canon.Document, error) {
	k, err := input.ReadKnown(e, arg)
	if err != nil {
		return nil, err
	}
	if k.Hash.IsZero() {
		return nil, cli.Usage("", "--supersedes must be a hash or a receipt, found a report")
	}
	if err := succeeds(draft.Root(), k); err != nil {
		return nil, err
	}
	return receipt.Supersede(draft, k.Hash)
}

// succeeds returns an error unless the receipt that will be created from a draft can supersede a
// known receipt. The draft must have a different ID and the same issuer.
func succeeds(draft canon.Node, k input.Known) error {
	if k.Stream == nil { // a hash does not identify the issuer or the ID
		return nil
	}
	if id := draft.Member("receipt_id").String(); id == k.ID {
		return cli.Usage("use a separate receipt_id for the draft", "--supersedes: the draft has the receipt_id of the receipt that it supersedes, %q", id)
	}
	if issuer := draft.Member("issuer").Member("id").String(); issuer != k.Stream.Issuer {
		return cli.Usage("only the issuer of a receipt can supersede it", "--supersedes: the draft has the issuer %q, but the receipt has %q", issuer, k.Stream.Issuer)
	}
	return nil
}

// explainRedaction prints locations and rules. The output does not contain the values that were
// found. Secrets that the default detectors find in the name of a member are also removed.
func explainRedaction(e *cli.Env, policy *redact.Policy, doc *canon.Document, check bool) error {
	found := policy.Find(doc)
	var b bytes.Buffer
	for _, f := range found {
		pointer := f.Pointer
		if pointer == "" {
			pointer = "(the whole document)"
		}
		fmt.Fprintf(&b, "%s: %s\n", cli.EscapeLine(pointer), cli.EscapeLine(f.Rule))
	}

	if _, err := io.WriteString(e.Out, e.WithoutSecrets(b.String())); err != nil {
		return err
	}
	if check && len(found) > 0 {
		return cli.ExitWith(cli.ExitRefuted)
	}

	return nil
}

// redactionPolicy compiles the combined rules of all --rules flags.
func redactionPolicy(e *cli.Env, names []string) (*redact.Policy, error) {
	if slices.Equal(names, []string{"default"}) {
		return redact.Everyday()
	}

	var all redact.Rules
	for _, name := range names {
		rules, err := redactionRules(e, name)
		if err != nil {
			return nil, err
		}
		all = joinRules(all, rules)
	}
	policy, err := all.Compile()
	if err != nil {
		return nil, cli.Usage("", "--rules %s: %w", strings.Join(names, ", "), err)
	}
	return policy, nil
}

func redactionRules(e *cli.Env, name string) (rules redact.Rules, err error) {
	switch name {
	case "upstream":
		return redact.Upstream(), nil
	case "default":
		return redact.Default(), nil
	case "strict":
		return redact.Strict(), nil
	}

	// Any other name is a file name. If there is no such file, the name may be a misspelled rule
	// set.
	data, err := input.ReadBounded(e, name, rulefile.MaxBytes+1)
	if near := cli.Nearest(name, []string{"upstream", "default", "strict"}); err != nil && near != "" {
		return rules, cli.Usage("did you mean --rules "+near+"?", "%q: no such file, and no rules of that name", name)
	}
	if err != nil {
		return rules, err
	}

	// The extension determines the format of a rule file.
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		rules.Name = name
		rules.Detectors, err = rulefile.ParseGitleaks(data)
	} else {
		rules, err = rulefile.Parse(data)
	}
	if wrong := input.WrongKind(name, data, "redaction rules", kind.Text); err != nil && wrong != nil {
		return rules, wrong
	}
	if err != nil {
		return rules, cli.Usage("--rules must be upstream, default, strict, a YAML policy, or a TOML file in gitleaks format", "%q: %w", name, err)
	}
	return rules, nil
}

// joinRules returns rules that withhold everything that a or b withholds. If two detectors have the
// same name, the first is kept.
func joinRules(a, b redact.Rules) redact.Rules {
	a.Name = strings.TrimPrefix(a.Name+"+"+b.Name, "+")
	a.Pointers = append(slices.Clip(a.Pointers), b.Pointers...)
	a.Names = append(slices.Clip(a.Names), b.Names...)
	a.Headers = a.Headers || b.Headers
	a.Members = a.Members || b.Members
	a.URLs = max(a.URLs, b.URLs)
	a.References = a.References || b.References
	a.Detectors = slices.Clip(a.Detectors)
	for _, d := range b.Detectors {
		if !slices.ContainsFunc(a.Detectors, func(have secret.Detector) bool { return have.Name == d.Name }) {
			a.Detectors = append(a.Detectors, d)
		}
	}
	return a
}

// warnOfSecrets prints a warning if a draft that will be sealed seems to contain secrets. If strict
// is set, it returns an error instead.
func warnOfSecrets(e *cli.Env, path string, draft *canon.Document, strict bool) error {
	policy, err := redact.Everyday()
	if err != nil {
		return err
	}

	found := policy.Find(draft)
	if len(found) == 0 {
		return nil
	}

	const hint = "list them with receipt redact --explain, and withhold them with receipt redact"
	text := fmt.Sprintf("%q: %s like a secret, the first at %s (%s)", cli.SourceName(path), cli.Plural(len(found), "place", "looks"), cli.EscapeLine(found[0].Pointer), found[0].Rule)
	if len(found) > 1 {
		text = strings.Replace(text, "looks", "look", 1)
	}
	if strict {
		return cli.Refuted(hint, "%s", text)
	}

	e.Warn(hint, "%s", text)
	return nil
}

// writeRedacted writes the disclosures, and then the redacted draft.
func writeRedacted(e *cli.Env, input string, o *redactOptions, result *redact.Result) error {
	draft := append(result.Draft.Source(), '\n')
	if o.disclosures == "" {
		return o.output.Write(e, draft, 0o644)
	}

	switch {
	case o.disclosures == cli.StdinName:
		return cli.Usage("", "--disclosures must be a file, because withheld values must not be printed")
	case !o.output.Stdout() && cli.SameFile(o.disclosures, o.output.Path):
		return cli.Usage("use separate files, because the draft is shared and the disclosures are not", "--disclosures and --output name the same file, %q", o.output.Path)
	case cli.SameFile(o.disclosures, input):
		return cli.Usage("", "--disclosures names the draft itself, %q", input)
	}

	secret, err := cli.PrepareFile(o.disclosures, result.Disclosures.Marshal(), 0o600, o.output.Force)
	if err != nil {
		return err
	}
	return writeAfter(e, &o.output, draft, secret)
}
