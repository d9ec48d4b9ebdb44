// A model for Claude Code: no login, loopback only. It has the main agent start a
// subagent, and the subagent edit the memory. Prints its port; what it was asked
// goes to the file that is named, one request a line.
import { createServer } from "node:http";
import { appendFileSync } from "node:fs";

const order = "Save a fact, subagent.";
const text = (content) => (typeof content === "string" ? content : content.map((b) => b.text ?? "").join("\n"));

function answer(request) {
  const names = (request.tools ?? []).map((t) => t.name);
  const asked = request.messages.map((m) => text(m.content)).join("\n");
  const results = request.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((b) => b.type === "tool_result");
  if (asked.includes(order)) {
    if (results.length > 0) return { type: "text", text: "I could not save it." };
    return { type: "tool_use", name: "mcp__hermes__memory", input: { action: "add", content: "a subagent was here" } };
  }
  const task = names.find((n) => n === "Task" || n === "Agent");
  if (task && asked.includes("Delegate this.") && results.length === 0) {
    return { type: "tool_use", name: task, input: { description: "save a fact", prompt: order, subagent_type: "general-purpose" } };
  }
  return { type: "text", text: "All done." };
}

function events(block) {
  const id = "x" + Math.random().toString(36).slice(2);
  const usage = { input_tokens: 10, output_tokens: 5 };
  const call = block.type === "tool_use";
  const start = call ? { type: "tool_use", id: "toolu_" + id, name: block.name, input: {} } : { type: "text", text: "" };
  const delta = call ? { type: "input_json_delta", partial_json: JSON.stringify(block.input) } : { type: "text_delta", text: block.text };
  return [
    { type: "message_start", message: { id: "msg_" + id, type: "message", role: "assistant", model: "fake", content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: start },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

const server = createServer((req, res) => {
  let body = "";
  req.on("data", (part) => (body += part));
  req.on("end", () => {
    if (!req.url.startsWith("/v1/messages") || req.url.includes("count_tokens")) {
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify({ input_tokens: 10 }));
      return;
    }
    const request = JSON.parse(body);
    appendFileSync(process.argv[2], JSON.stringify(request.messages) + "\n");
    const all = events(answer(request));
    if (!request.stream) {
      const block = answer(request);
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify({ ...all[0].message, content: [{ ...block, ...(block.type === "tool_use" ? { id: "toolu_1" } : {}) }], stop_reason: "end_turn" }));
      return;
    }
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const e of all) res.write(`event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`);
    res.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
