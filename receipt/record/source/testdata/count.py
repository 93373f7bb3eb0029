"""Count what logs of agents state, without the code of this module.

count.py LOG...             prints the facts of each log, one JSON object per line
count.py --generate N SEED  prints N generated logs of each kind, with their facts
"""

import hashlib
import json
import random
import re
import sys


def sha(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def facts():
    return {"session": None, "calls": {}, "input": None, "output": None, "cost": None, "writes": [], "end": None, "hosts": [], "approvals": []}


def add(total, *parts):
    parts = [p for p in parts if p is not None]
    if not parts:
        return total
    return (total or 0) + sum(parts)


def write(name, operation=None, before="?", after="?"):
    return [name.rsplit("/", 1)[-1], operation or "modify", before, after]


def host(url):
    return re.sub(r"^https?://", "", url).split("/")[0]


def patch(text):
    """Returns the changes of a patch of apply_patch."""
    changes, added = [], None
    for line in text.split("\n"):
        if line.startswith("+") and added is not None:
            added.append(line[1:] + "\n")
            changes[-1][3] = sha("".join(added))
            continue
        added = None
        if line.startswith("*** Add File: "):
            added = []
            changes.append(write(line[14:], "create", "?", sha("")))
        elif line.startswith("*** Update File: "):
            changes.append(write(line[17:]))
        elif line.startswith("*** Delete File: "):
            changes.append(write(line[17:], "delete", "?", "-"))
    return changes


def copilot(lines):
    f, said, asked, started, models = facts(), {}, {}, {}, {}
    ended, allowed = -1, False
    for number, line in enumerate(lines):
        kind, d = line["type"], line["data"]
        if kind == "session.start":
            f["session"] = d["sessionId"]
        elif kind in ("user.message", "assistant.turn_start") and "source" not in d:
            f["end"] = None
        elif kind == "assistant.turn_end":
            f["end"], ended = "SUCCEEDED", number
        elif kind == "abort":
            f["end"], ended = "CANCELED", number
        elif kind == "assistant.message":
            said[d["messageId"]] = d.get("outputTokens")
            for r in d.get("toolRequests") or []:
                asked.setdefault(r["toolCallId"], number)
        elif kind == "tool.execution_start":
            started[d["toolCallId"]] = d
            f["calls"][d["toolCallId"]] = "unanswered"
        elif kind == "tool.execution_complete":
            call = started[d["toolCallId"]]
            status = "succeeded" if d.get("success") else "failed"
            if status == "succeeded" and call["toolName"].endswith("bash"):
                last = d["result"]["content"].strip().split("\n")[-1]
                code = re.fullmatch(r"<shellId: \S+ completed with exit code (\d+)>", last)
                if code:
                    status = "succeeded" if code[1] == "0" else "failed"
                elif "> is still running" in last or last.startswith("<command with shellId:") and "is still running" in last:
                    status = "unknown"
            if f["calls"][d["toolCallId"]] != "denied":
                f["calls"][d["toolCallId"]] = status
                if call["toolName"] == "web_fetch":
                    f["hosts"].append(host(call["arguments"]["url"]))
                if call["toolName"] == "web_search":
                    f["hosts"].append("unknown")
            if status == "succeeded":
                name, a = call["toolName"], call["arguments"]
                if name == "create":
                    new = "create file mode" in (d["result"].get("detailedContent") or "")
                    f["writes"].append(write(a["path"], "create" if new else None, "-" if new else "?", sha(a["file_text"])))
                elif name == "edit":
                    f["writes"].append(write(a["path"]))
                elif name == "apply_patch":
                    f["writes"] += patch(a)
        elif kind == "permission.completed":
            word = d["result"]["kind"]
            if word.startswith("approved"):
                f["approvals"].append("approved")
            elif word == "denied-interactively-by-user":
                f["approvals"].append("denied")
            if word.startswith("denied"):
                f["calls"][d["toolCallId"]] = "denied"
        elif kind == "session.shutdown":
            models = {name: m["usage"] for name, m in d["modelMetrics"].items() if any(m["usage"].values())}
    for call, number in asked.items():
        if call not in started:
            f["calls"][call] = "canceled" if number < ended else "unanswered"
    for usage in models.values():
        f["input"], f["output"] = add(f["input"], usage["inputTokens"]), add(f["output"], usage["outputTokens"])
    if not models:
        f["output"] = add(None, *said.values())
    return f


def opencode(log):
    f = facts()
    f["session"] = None if log["info"]["id"] == "REDACTED" else log["info"]["id"]
    for m in log["messages"]:
        info = m["info"]
        if info["role"] == "user":
            f["end"] = None
            continue
        t = info.get("tokens")
        if t:
            f["input"] = add(f["input"], t["input"], t["cache"]["read"], t["cache"]["write"])
            f["output"] = add(f["output"], t["output"])
        f["cost"] = add(f["cost"], info.get("cost"))
        error = info.get("error")
        f["end"] = "SUCCEEDED" if info.get("finish") == "stop" else None
        if error:
            f["end"] = "CANCELED" if error["name"] == "MessageAbortedError" else "FAILED"
        for p in m["parts"]:
            if p["type"] != "tool":
                continue
            state, name = p["state"], p["tool"]
            told, given = state.get("metadata") or {}, state.get("input") or {}
            status = {"completed": "succeeded", "error": "failed"}.get(state["status"], "unanswered")
            if told.get("exit") and status == "succeeded":
                status = "failed"
            f["calls"][p["callID"]] = status
            if name == "webfetch" and status != "unanswered":
                f["hosts"].append(host(given["url"]))
            if name in ("websearch", "codesearch") and status != "unanswered":
                f["hosts"].append("unknown")
            if status != "succeeded":
                continue
            for x in told.get("files") or []:
                word = {"add": "create", "update": "modify", "delete": "delete"}[x["type"]]
                f["writes"].append(write(x["filePath"], word, "-" if word == "create" else sha(x["before"]), "-" if word == "delete" else sha(x["after"])))
            if name == "write":
                new = told.get("exists") is False
                f["writes"].append(write(given["filePath"], "create" if new else None, "-" if new else "?", sha(given["content"])))
            if name == "edit":
                diff = told.get("filediff")
                f["writes"].append(write(given["filePath"], None, sha(diff["before"]) if diff and diff["before"] else "?", sha(diff["after"]) if diff else "?"))
    return f


def gemini(values):
    f, messages = facts(), {}
    for v in values:
        if "sessionId" in v:
            f["session"] = v["sessionId"]
        for m in v.get("messages") or (v.get("$set") or {}).get("messages") or ([v] if "type" in v else []):
            if m["type"] == "gemini":
                messages[m["id"]] = m
    for m in messages.values():
        t = m.get("tokens")
        if t:
            f["input"], f["output"] = add(f["input"], t["input"]), add(f["output"], t["output"], t["thoughts"])
        for c in m.get("toolCalls") or []:
            status = {"success": "succeeded", "error": "failed", "cancelled": "canceled"}.get(c["status"], "unanswered")
            f["calls"][c["id"]] = status
            args, shown = c["args"], c.get("resultDisplay")
            if c["name"] == "web_fetch" and status != "unanswered":
                f["hosts"] += [host(u.rstrip(".,;:!?)]}")) for u in re.findall(r"https?://[^\s\"'<>`]+", args["prompt"])]
            if c["name"] == "google_web_search" and status != "unanswered":
                f["hosts"].append("unknown")
            if c["name"] not in ("write_file", "replace") or status != "succeeded":
                continue
            after = sha(args["content"]) if c["name"] == "write_file" else "?"
            w = write(args["file_path"], None, "?", after)
            if isinstance(shown, dict):
                new = shown["originalContent"] is None
                w = write(args["file_path"], "create" if new else "modify", "-" if new else sha(shown["originalContent"]), sha(shown["newContent"]))
            f["writes"].append(w)
    return f


def atif(log):
    f = facts()
    f["session"] = log.get("session_id") or log.get("trajectory_id")
    costs = []
    for s in log["steps"]:
        m = s.get("metrics") or {}
        f["input"], f["output"] = add(f["input"], m.get("prompt_tokens")), add(f["output"], m.get("completion_tokens"))
        costs.append(m.get("cost_usd"))
        for c in s.get("tool_calls") or []:
            f["calls"][c["tool_call_id"]] = "unanswered"
        for x in (s.get("observation") or {}).get("results") or []:
            if x.get("source_call_id"):
                f["calls"][x["source_call_id"]] = "unknown"
    final = log.get("final_metrics") or {}
    for name, total in (("input", final.get("total_prompt_tokens")), ("output", final.get("total_completion_tokens"))):
        if total is not None:
            f[name] = max(total, f[name] or 0)
    f["cost"] = final["total_cost_usd"] if final.get("total_cost_usd") is not None else add(None, *costs)
    return f


def pi(lines):
    f, calls, seen = facts(), {}, set()
    for line in lines:
        if line["type"] == "session":
            f["session"] = line["id"]
        if line["type"] != "message":
            continue
        m = line["message"]
        if m["role"] == "user":
            f["end"] = None
        if m["role"] == "assistant":
            f["end"] = {"stop": "SUCCEEDED", "aborted": "CANCELED", "error": "FAILED"}.get(m["stopReason"])
            if json.dumps(m, sort_keys=True) in seen:
                continue
            seen.add(json.dumps(m, sort_keys=True))
            u = m["usage"]
            f["input"], f["output"] = add(f["input"], u["input"], u["cacheRead"], u["cacheWrite"]), add(f["output"], u["output"])
            f["cost"] = add(f["cost"], u["cost"]["total"])
            for b in m["content"]:
                if b["type"] == "toolCall":
                    calls[b["id"]] = b
                    f["calls"][b["id"]] = "unanswered"
        if m["role"] == "toolResult" and f["calls"].get(m["toolCallId"]) == "unanswered":
            f["calls"][m["toolCallId"]] = "failed" if m["isError"] else "succeeded"
            b = calls[m["toolCallId"]]
            if not m["isError"] and b["name"] == "write":
                f["writes"].append(write(b["arguments"]["path"], None, "?", sha(b["arguments"]["content"])))
            if not m["isError"] and b["name"] == "edit":
                f["writes"].append(write(b["arguments"]["path"]))
    return f


def count(text):
    """Recognizes a log and counts it."""
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.split("\n") if line.strip()]
    first = values[0]
    if str(first.get("schema_version", "")).startswith("ATIF-v"):
        return "atif", atif(first)
    if "info" in first:
        return "opencode", opencode(first)
    if "projectHash" in first:
        return "gemini-cli", gemini(values)
    if "parentId" in first and "data" in first:
        return "copilot-cli", copilot(values)
    return "pi", pi(values)


class Maker:
    """Makes logs of random content in the form of each kind."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0

    def id(self, prefix):
        self.n += 1
        return "%s%d" % (prefix, self.n)

    def text(self):
        return "".join(self.r.choice(["a", "b ", "é", "\n", "\U0001f600", '"', "\u2028", "x"]) for _ in range(self.r.randrange(12)))

    def file(self):
        return "/w/" + self.r.choice(["a.go", "b/c.txt", "d.md", "e f.py"])

    def many(self, make, most=5):
        return [make() for _ in range(self.r.randrange(most))]

    def stamp(self):
        self.n += 1
        return "2026-01-%02dT%02d:%02d:%02d.%03dZ" % (1 + self.n // 86400000, self.n // 3600000 % 24, self.n // 60000 % 60, self.n // 1000 % 60, self.n % 1000)

    def copilot(self):
        events, r = [], self.r

        def event(kind, **data):
            events.append({"type": kind, "data": data, "id": self.id("e"), "parentId": None, "timestamp": self.stamp()})

        event("session.start", sessionId=self.id("s"), copilotVersion="1.0.72", context={"cwd": "/w"})
        for _ in range(r.randrange(1, 4)):
            event("user.message", content=self.text())
            event("assistant.turn_start", turnId="0")
            for _ in range(r.randrange(4)):
                self.copilot_call(event)
            if r.random() < 0.9:
                event(r.choice(["assistant.turn_end", "assistant.turn_end", "abort"]))
        if r.random() < 0.5:
            usage = {name: r.randrange(1000) for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")}
            event("session.shutdown", sessionStartTime=1, codeChanges={"filesModified": []}, modelMetrics={"m": {"usage": usage}})
        return "\n".join(json.dumps(e) for e in events)

    def copilot_call(self, event):
        r, call = self.r, self.id("c")
        name, arguments = r.choice([
            ("bash", {"command": "make"}), ("create", {"path": self.file(), "file_text": self.text()}), ("edit", {"path": self.file(), "old_str": "a", "new_str": "b"}),
            ("web_fetch", {"url": "https://go.dev/doc"}), ("web_search", {"query": "x"}), ("view", {"path": self.file()}),
            ("apply_patch", "*** Begin Patch\n*** Add File: /w/n.go\n+" + self.text().replace("\n", "") + "\n*** Delete File: /w/o.go\n*** End Patch"),
        ])
        event("assistant.message", messageId=self.id("m"), model="m", outputTokens=r.randrange(100), toolRequests=[{"toolCallId": call, "name": name, "arguments": arguments}])
        if r.random() < 0.15:
            return
        event("tool.execution_start", toolCallId=call, toolName=name, arguments=arguments)
        denied = False
        if r.random() < 0.3:
            word = r.choice(["approved", "approved-for-location", "denied-interactively-by-user", "denied-by-rules"])
            denied = word.startswith("denied")
            event("permission.requested", requestId=call, permissionRequest={"toolCallId": call})
            event("permission.completed", requestId=call, toolCallId=call, result={"kind": word})
        if r.random() < 0.1:
            return
        success = not denied and r.random() < 0.8
        content = self.text()
        if name == "bash":
            content += r.choice(["", "\n<shellId: 1 completed with exit code 0>", "\n<shellId: 1 completed with exit code 2>", "\n<command with shellId: 1 is still running after 30 seconds.>"])
        detail = r.choice(["", "\ncreate file mode 100644\n"])
        if success:
            event("tool.execution_complete", toolCallId=call, success=True, result={"content": content, "detailedContent": detail})
        else:
            event("tool.execution_complete", toolCallId=call, success=False, error={"message": "x"})

    def opencode(self):
        r = self.r
        messages = []
        for _ in range(r.randrange(1, 6)):
            info = {"id": self.id("m"), "role": "user", "time": {"created": 1767225600000 + self.n}}
            parts = [{"type": "text", "text": self.text()}]
            if r.random() < 0.7:
                info.update(role="assistant", modelID="m", providerID="p", finish=r.choice(["stop", "tool-calls"]), cost=r.randrange(100) / 64)
                info["tokens"] = {"input": r.randrange(1000), "output": r.randrange(100), "reasoning": r.randrange(10), "cache": {"read": r.randrange(1000), "write": r.randrange(10)}}
                if r.random() < 0.2:
                    info["error"] = {"name": r.choice(["MessageAbortedError", "APIError"])}
                parts += self.many(self.opencode_call)
            messages.append({"info": info, "parts": parts})
        return json.dumps({"info": {"id": r.choice(["REDACTED", self.id("s")]), "directory": "/w", "version": "1.2.26"}, "messages": messages}, indent=r.choice([None, 1]))

    def opencode_call(self):
        r, file = self.r, self.file()
        name, given, told = r.choice([
            ("bash", {"command": "make"}, {"exit": r.choice([0, 0, 1, 127])}), ("webfetch", {"url": "http://a.example/x"}, {}), ("websearch", {"query": "x"}, {}),
            ("write", {"filePath": file, "content": self.text()}, r.choice([{"exists": False}, {"exists": True}])),
            ("edit", {"filePath": file}, r.choice([{}, {"filediff": {"before": "b" + self.text(), "after": self.text()}}])),
            ("apply_patch", {"patchText": ""}, {"files": [{"filePath": file, "type": kind, "before": self.text(), "after": self.text()} for kind in r.sample(["add", "update", "delete"], 1)]}),
        ])
        start = 1767225600000 + self.n
        self.n += 2
        state = {"status": r.choice(["completed"] * 6 + ["error", "running", "pending"]), "input": given, "metadata": told, "time": {"start": start, "end": start + 1}}
        return {"type": "tool", "callID": self.id("c"), "tool": name, "state": state}

    def gemini(self):
        r = self.r
        head = {"sessionId": self.id("s"), "projectHash": "h", "startTime": self.stamp(), "lastUpdated": self.stamp()}
        messages = self.many(self.gemini_message, 7)
        if r.random() < 0.5:
            return json.dumps(dict(head, messages=messages), indent=r.choice([None, 2]))
        lines = [head]
        for m in messages:
            if m["type"] == "gemini" and r.random() < 0.5:  # written before it was complete
                lines.append(dict(m, toolCalls=[dict(c, status="executing") for c in m["toolCalls"]]))
            lines.append(m)
            if r.random() < 0.2:
                lines.append({"$rewindTo": m["id"]})
            if r.random() < 0.2:
                lines.append({"$set": {"lastUpdated": self.stamp()}})
        return "\n".join(json.dumps(line) for line in lines)

    def gemini_message(self):
        r = self.r
        m = {"id": self.id("m"), "timestamp": self.stamp(), "type": r.choice(["user", "gemini", "gemini", "gemini", "info"]), "content": self.text()}
        if m["type"] == "gemini":
            tokens = {name: r.randrange(1000) for name in ("input", "output", "cached", "thoughts", "tool")}
            m.update(model="g", tokens=tokens, toolCalls=self.many(self.gemini_call, 4))
        return m

    def gemini_call(self):
        r, file = self.r, self.file()
        name, args = r.choice([
            ("run_shell_command", {"command": "make"}), ("web_fetch", {"prompt": "see https://go.dev/x, and (http://a.example)."}), ("google_web_search", {"query": "x"}),
            ("write_file", {"file_path": file, "content": self.text()}), ("replace", {"file_path": file, "old_string": "a", "new_string": "b"}),
        ])
        call = {"id": self.id("c"), "name": name, "args": args, "status": r.choice(["success"] * 5 + ["error", "cancelled", "executing"]), "timestamp": self.stamp()}
        if r.random() < 0.7:
            call["resultDisplay"] = {"originalContent": r.choice([None, self.text()]), "newContent": self.text()}
        else:
            call["resultDisplay"] = "done"
        return call

    def atif(self):
        r = self.r
        metered = r.random() < 0.7
        steps = []
        for number in range(1, r.randrange(2, 7)):
            s = {"step_id": number, "timestamp": self.stamp(), "source": r.choice(["user", "agent", "agent", "system"]), "message": self.text()}
            if s["source"] == "agent":
                calls = self.many(lambda: {"tool_call_id": self.id("c"), "function_name": "x", "arguments": {}}, 4)
                s["tool_calls"] = calls
                s["observation"] = {"results": [{"source_call_id": c["tool_call_id"], "content": self.text()} for c in calls if r.random() < 0.8]}
                if metered:
                    s["metrics"] = {"prompt_tokens": r.randrange(1000), "completion_tokens": r.randrange(100), "cached_tokens": 1, "cost_usd": r.randrange(64) / 64}
            steps.append(s)
        log = {"schema_version": "ATIF-v1.%d" % r.randrange(8), "session_id": self.id("s"), "agent": {"name": "a", "version": "1", "model_name": "m"}, "steps": steps}
        if metered and r.random() < 0.5:
            f = atif(log)
            log["final_metrics"] = {"total_prompt_tokens": f["input"] or 0, "total_completion_tokens": f["output"] or 0, "total_cost_usd": r.randrange(64) / 64}
        return json.dumps(log, indent=r.choice([None, 2]))

    def pi(self):
        r = self.r
        lines = [{"type": "session", "id": self.id("s"), "cwd": "/w", "timestamp": self.stamp(), "version": 3}]

        def message(**m):
            lines.append({"type": "message", "id": self.id("e"), "parentId": None, "timestamp": self.stamp(), "message": m})

        for _ in range(r.randrange(1, 6)):
            message(role="user", content=[{"type": "text", "text": self.text()}], timestamp=self.n)
            if r.random() < 0.2:
                continue
            calls = self.many(self.pi_call, 4)
            usage = {"input": r.randrange(100), "output": r.randrange(100), "cacheRead": r.randrange(1000), "cacheWrite": r.randrange(100), "cost": {"total": r.randrange(64) / 64}}
            message(role="assistant", content=calls, usage=usage, model="m", provider="p", stopReason=r.choice(["stop", "toolUse", "aborted", "error"]), timestamp=self.n)
            if r.random() < 0.2:
                lines.append(lines[-1])
            for c in calls:
                if r.random() < 0.9:
                    message(role="toolResult", toolCallId=c["id"], isError=r.random() < 0.2, content=[], timestamp=self.n)
        return "\n".join(json.dumps(line) for line in lines)

    def pi_call(self):
        name, arguments = self.r.choice([("bash", {"command": "make"}), ("read", {"path": self.file()}), ("edit", {"path": self.file()}), ("write", {"path": self.file(), "content": self.text()})])
        return {"type": "toolCall", "id": self.id("c"), "name": name, "arguments": arguments}


if sys.argv[1] == "--generate":
    maker = Maker(int(sys.argv[3]))
    for _ in range(int(sys.argv[2])):
        for make in (maker.copilot, maker.opencode, maker.gemini, maker.atif, maker.pi):
            text = make()
            kind, found = count(text)
            print(json.dumps({"kind": kind, "log": text, "facts": found}))
else:
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8", newline="\n") as log:
            text = log.read()
        kind, found = count(text)
        print(json.dumps({"kind": kind, "log": text, "facts": found}))
