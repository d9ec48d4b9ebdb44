#!/usr/bin/env python3
"""A provider in Python: it mirrors the built-in memory and notes every turn.

Use: command: [python3, facts.py, /path/to/facts.json]
"""
import json, os, sys

path = sys.argv[1]
data = {"facts": {}, "turns": {}}
if os.path.exists(path):
    with open(path, encoding="utf-8") as f:
        data = json.load(f)


def save():
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(data, f, ensure_ascii=False)
    os.replace(path + ".new", path)


def words(text):
    return {w.strip(".,?!").lower() for w in text.split() if len(w) > 3}


def answer(r):
    op = r["op"]
    if op == "start":
        # Everything is kept by its id, so it may come twice.
        return {"wants": ["write", "list"], "repeatable": ["turn", "write"]}
    if op == "turn":
        t = r["turn"]
        data["turns"][t["id"]] = {"text": t["user"], "at": t.get("at", "")}
        save()
    if op == "write":
        w = r["write"]
        data["facts"].pop(w.get("old_hash"), None)
        if w.get("new"):
            data["facts"][w["new_hash"]] = {"text": w["new"], "target": w["target"], "at": w.get("at", "")}
        save()
    if op == "recall":
        asked = words(r["query"])
        known = [dict(f, label="fact") for f in data["facts"].values()] + list(data["turns"].values())
        best = sorted(known, key=lambda m: -len(asked & words(m["text"])))
        return {"memories": [m for m in best[:5] if asked & words(m["text"])]}
    if op == "list":
        return {"facts": [dict(f, id=h, entry=h) for h, f in data["facts"].items()]}
    return {}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line)), ensure_ascii=False), flush=True)
