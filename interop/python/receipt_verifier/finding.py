"""The outcome of a check, with the step and the code from docs/codes.md."""


class Finding(Exception):
    """A reason why a receipt is not verified."""

    def __init__(self, outcome, step, code, pointer=""):
        super().__init__(code, pointer)
        self.outcome, self.step, self.code, self.pointer = outcome, step, code, pointer


def refuted(step, code, pointer=""):
    return Finding("refuted", step, code, pointer)


def undecided(step, code, pointer=""):
    return Finding("undecided", step, code, pointer)


STEPS = ["parse", "schema", "hash", "link", "batch", "signatures", "redactions"]


def worst(findings):
    """Return the first finding of the earliest step, among refuting findings if there are any, or None."""
    deciding = [finding for finding in findings if finding.outcome == "refuted"] or findings
    return min(deciding, key=lambda finding: STEPS.index(finding.step), default=None)
