// This module provides the core, which runs in a worker, as methods that return promises.

// Cancelled is the error of a call that was canceled.
export class Cancelled extends Error {}

export class Core {
  #url; #core; #worker; #calls; #count = 0;

  // The arguments are strings in the page: the script of the worker, and the core in base64.
  constructor(script, core) {
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    // Only this policy may turn a string into a script URL, because the Content Security Policy of
    // the page forbids all other ways (Trusted Types).
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
      this.#core = module; // so that the next worker does not have to compile it again
      return tool;
    });
    this.tool.catch(() => {}); // each call awaits this promise and reports its error
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

  // verify returns the results of a verification. It parses the JSON that the worker returns.
  async verify(inputs, keys, beside, options, tell) {
    const result = await this.#ready("verify", [inputs, keys, beside, options], tell);
    return {
      ...result,
      keys: JSON.parse(result.keys), summary: JSON.parse(result.summary), aggregate: JSON.parse(result.aggregate),
      findings: result.findings.map((text) => JSON.parse(text)), reports: result.reports.map((text) => JSON.parse(text)),
    };
  }

  // busy reports whether a call that reports progress is running.
  get busy() { return [...this.#calls.values()].some((call) => call.tell); }

  // cancel ends all running calls. A busy worker cannot receive messages, so it is replaced.
  cancel() {
    this.#worker.terminate();
    const calls = this.#calls;
    this.#start();
    for (const call of calls.values()) call.reject(new Cancelled("cancelled"));
  }
}
