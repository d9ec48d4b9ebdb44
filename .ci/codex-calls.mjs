// Drives `codex app-server` through one real call of each tool: no model, no login.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const codex = spawn("codex", ["app-server"], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
createInterface({ input: codex.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
});
let last = 0;
function ask(method, params) {
  const id = ++last;
  codex.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  return new Promise((resolve, reject) => {
    waiting.set(id, (m) => (m.error ? reject(new Error(`${method}: ${JSON.stringify(m.error)}`)) : resolve(m.result)));
  });
}
async function call(threadId, tool, args) {
  const result = await ask("mcpServer/tool/call", { threadId, server: "hermes", tool, arguments: args });
  const said = result.structuredContent ?? JSON.parse(result.content[0].text);
  console.log(`${tool}: ${JSON.stringify(said).slice(0, 160)}`);
  if (result.isError || said.success !== true) throw new Error(`${tool} failed`);
  return said;
}

try {
  await ask("initialize", { clientInfo: { name: "ci", version: "1" } });
  codex.stdin.write(JSON.stringify({ jsonrpc: "2.0", method: "initialized" }) + "\n");
  const { thread } = await ask("thread/start", {});
  await call(thread.id, "memory", { action: "add", content: "codex called this server in a test" });
  const read = await call(thread.id, "memory", { action: "read" });
  if (!read.entries.some((e) => e.text.includes("codex called"))) throw new Error("the entry is not read back");
  await call(thread.id, "session_search", { query: "anything" });
  codex.kill();
} catch (error) {
  console.error(error);
  codex.kill();
  process.exitCode = 1;
}
