"""What docs/replay.md says, once more, in another language: the deltas of a log and a
request, and the projection of a receipt. Usage: stranger.py deltas LOG REQUEST, or
stranger.py projection RECEIPT. Logs have inline answers, and numbers are integers."""

import hashlib
import json
import re
import sys


def canonical(value):
    # RFC 8785 for texts of the basic plane and integers, which is all that the test has.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value):
    return "sha256:" + hashlib.sha256(canonical(value).encode()).hexdigest()


def recorded(path):
    """What answered the task: of each key, the event and the value."""
    found, calls, names, servers = {}, {}, {}, {}
    for line in open(path, encoding="utf-8"):
        e = json.loads(line)
        p = e["payload"]
        times = {"task.submitted": "created_at", "task.started": "started_at", "task.completed": "completed_at"}
        if e["event"] in times:
            found.setdefault("time:" + times[e["event"]], (e["id"], e["created_at"]))
        if e["event"] == "span.completed" and p.get("kind") == "llm":
            agent = p.get("agent", "main")
            calls[agent] = calls.get(agent, 0) + 1
            found["llm:%s:%d" % (agent, calls[agent])] = (e["id"], p["response"])
        if "tool_call_id" in p:
            call = p["tool_call_id"]
            names.setdefault(call, p.get("name"))
            if "server" in p:
                servers[call] = p["server"]
            if "output" in p and e["event"] == "tool.completed":
                found["call " + call] = (e["id"], p["output"])
    for call, name in names.items():
        if "call " + call in found:
            key = "mcp:" + servers[call] if call in servers else "host:" + name
            found[key + ":" + call] = found.pop("call " + call)
    return found


def path_of(key):
    if key in ("time:created_at", "time:started_at", "time:completed_at"):
        return "/lifecycle/" + key[5:]
    place = "overrides" if key.startswith(("time:", "secret:")) else "materials"
    return "/replay_input/" + place + "/" + key.replace("~", "~0").replace("/", "~1")


def deltas(log, request):
    answers, out = recorded(log), []
    by_event = {(key.split(":")[0], event): key for key, (event, _) in answers.items()}
    for key in sorted(request.get("override", {})):
        o = request["override"][key]
        of = key if key in answers else by_event.get((key.split(":")[0], o.get("event_id")))
        if not of and not key.startswith("secret:"):
            continue  # it replaces nothing, and nobody asked for it
        secret = key.startswith("secret:") or o["kind"] == "secret_value"
        d = {"delta_id": "delta_" + re.sub("[^A-Za-z0-9]", "_", key), "override_key": key, "path": path_of(of or key)}
        d["operation"] = "replace"
        if of:
            d["event_id"] = answers[of][0]
        if not secret:
            d["before_sha256"] = digest(answers[of][1])
            d["after_sha256"] = digest(o["value"])
        reason = o.get("reason") or request.get("reason")
        if reason:
            d["reason"] = reason
        out.append(d)
    return out


def projection(receipt):
    for name in ("receipt_id", "issuer", "issued_at", "chain", "signatures", "metadata"):
        receipt.pop(name, None)
    receipt["subject"].pop("id", None)
    for name in ("task_id", "trace_id", "branch_id"):
        receipt["identifiers"].pop(name, None)
    return receipt


if sys.argv[1] == "deltas":
    print(canonical(deltas(sys.argv[2], json.load(open(sys.argv[3], encoding="utf-8")))))
else:
    print(canonical(projection(json.load(open(sys.argv[2], encoding="utf-8")))))
