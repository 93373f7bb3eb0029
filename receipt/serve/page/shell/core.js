// The core in its worker, as methods that return promises.

// Cancelled is what a call ends with that was cancelled.
export class Cancelled extends Error {}

export class Core {
  #url; #core; #worker; #calls; #count = 0;

  // The scripts are the texts of the page: that of the worker, and the core as
  // base64.
  constructor(script, core) {
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    // The one place where a text becomes a script; the policy of the page allows
    // no other (Trusted Types).
    const policy = globalThis.trustedTypes?.createPolicy("worker", { createScriptURL: (text) => text });
    this.#url = policy ? policy.createScriptURL(url) : url;
    this.#core = core;
    this.#start();
  }

  #start() {
    this.#calls = new Map();
    this.#worker = new Worker(this.#url);
    this.#worker.addEventListener("message", ({ data }) => this.#answer(data));
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#fail(new Error(`the verifier does not run in this browser: ${event.message ?? "it did not start"}`));
    });
    this.tool = this.#call("start", [this.#core]).then(({ tool, module }) => {
      this.#core = module; // which the next worker need not make again
      return tool;
    });
    this.tool.catch(() => {}); // every call waits for it, and fails with it
  }

  #answer({ id, progress, result, error }) {
    const call = this.#calls.get(id);
    if (!call) return;
    if (progress) {
      call.tell?.(progress);
      return;
    }
    this.#calls.delete(id);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(error));
  }

  #fail(error) {
    for (const call of this.#calls.values()) call.reject(error);
    this.#calls.clear();
  }

  #call(method, args, tell) {
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, tell });
      this.#worker.postMessage({ id, method, args });
    });
  }

  async #ready(method, args, tell) {
    await this.tool;
    return this.#call(method, args, tell);
  }

  recognize(head, whole) { return this.#ready("recognize", [head, whole]); }
  fitting(input, index, beside) { return this.#ready("fitting", [input, index, beside]); }
  open(input, index) { return this.#ready("open", [input, index]); }
  tamper(source, pointer) { return this.#ready("tamper", [source, pointer]); }

  // verify answers with texts of JSON, parsed here.
  async verify(inputs, keys, beside, options, tell) {
    const result = await this.#ready("verify", [inputs, keys, beside, options], tell);
    return {
      ...result,
      keys: JSON.parse(result.keys), summary: JSON.parse(result.summary), aggregate: JSON.parse(result.aggregate),
      findings: result.findings.map((text) => JSON.parse(text)), reports: result.reports.map((text) => JSON.parse(text)),
    };
  }

  // busy says whether something runs that takes long.
  get busy() { return [...this.#calls.values()].some((call) => call.tell); }

  // cancel ends whatever runs. A worker that is busy hears nothing, so it is
  // replaced.
  cancel() {
    this.#worker.terminate();
    const calls = this.#calls;
    this.#start();
    for (const call of calls.values()) call.reject(new Cancelled("cancelled"));
  }
}
