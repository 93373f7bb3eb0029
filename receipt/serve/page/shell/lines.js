// This module stores the reports of a run, which arrive as one line each.

const summaryLine = '{"summary":';

// most is the number of reports that can be listed one by one.
export const most = 200;

// Lines stores the reports as parts of a Blob, which the browser may write to disk.
export class Lines {
  count = 0;
  kept = []; // the first reports, as strings
  #parts = [];

  // add adds complete lines. It skips the line with the summary, which is returned separately.
  add(text) {
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(summaryLine));
    if (lines.length === 0) return;
    this.kept.push(...lines.slice(0, most - this.kept.length));
    this.#parts.push(new Blob([this.count > 0 ? ",\n" : "", lines.join(",\n")]));
    this.count += lines.length;
  }

  // report returns the output of "receipt verify --format json" as a Blob.
  report(summary) {
    const begin = this.count > 0 ? '{\n"reports":[\n' : '{\n"reports":[';
    return new Blob([begin, ...this.#parts, '\n],\n"summary":', summary, "}\n"], { type: "application/json" });
  }
}
