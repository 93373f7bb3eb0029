// The reports of a run as they come, a line each.

const summaryLine = '{"summary":';

// most is how many reports are kept to be listed one by one.
export const most = 200;

// Lines keeps them as parts of a Blob, which the browser may put on disk.
export class Lines {
  count = 0;
  kept = []; // the first, as texts
  #parts = [];

  // add takes whole lines. The summary's is left out: it is known otherwise.
  add(text) {
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(summaryLine));
    if (lines.length === 0) return;
    this.kept.push(...lines.slice(0, most - this.kept.length));
    this.#parts.push(new Blob([this.count > 0 ? ",\n" : "", lines.join(",\n")]));
    this.count += lines.length;
  }

  // report is what receipt verify --format json writes.
  report(summary) {
    const begin = this.count > 0 ? '{\n"reports":[\n' : '{\n"reports":[';
    return new Blob([begin, ...this.#parts, '\n],\n"summary":', summary, "}\n"], { type: "application/json" });
  }
}
