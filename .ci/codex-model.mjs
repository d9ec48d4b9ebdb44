// A model for Codex: no login, loopback only. It says one sentence. Prints its
// port; what it was asked goes to the file that is named, one request a line.
import { createServer } from "node:http";
import { appendFileSync } from "node:fs";

const message = { type: "message", role: "assistant", id: "msg_1", status: "completed", content: [{ type: "output_text", text: "All done.", annotations: [] }] };
const usage = { input_tokens: 10, input_tokens_details: null, output_tokens: 5, output_tokens_details: null, total_tokens: 15 };
const events = [
  { type: "response.created", response: { id: "resp_1" } },
  { type: "response.output_item.added", output_index: 0, item: { ...message, content: [] } },
  { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "All done." },
  { type: "response.output_item.done", output_index: 0, item: message },
  { type: "response.completed", response: { id: "resp_1", status: "completed", output: [message], usage } },
];

const server = createServer((req, res) => {
  let body = "";
  req.on("data", (part) => (body += part));
  req.on("end", () => {
    if (req.method !== "POST") {
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify({ data: [], models: [] }));
      return;
    }
    appendFileSync(process.argv[2], body + "\n");
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const e of events) res.write(`event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`);
    res.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
