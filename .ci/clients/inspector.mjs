// The main job through the inspector's command line, a process a step.
import { execFileSync } from 'node:child_process'
import { job, server } from './job.mjs'

const run = (where, method, ...args) => {
  const argv = [process.env.MCP_INSPECTOR, '--cli', ...where, '--method', method, ...args]
  try {
    return JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8', timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] }))
  } catch (e) {
    // A failed tool is a failed command; its result is printed all the same.
    const out = String(e.stdout ?? '')
    if (out.trim().startsWith('{')) return JSON.parse(out)
    throw new Error(`${method}: ${out}${e.stderr ?? ''}${e.stdout === undefined ? e.message : ''}`)
  }
}
const http = (kind, path) => [server.url.replace(/mcp$/, path), '--transport', kind, '--header', `Authorization: ${server.headers.Authorization}`]
for (const [name, where] of Object.entries({
  'inspector, stdio': [server.binary, 'serve', '--home', server.home],
  'inspector, HTTP': http('http', 'mcp'),
  'inspector, SSE': http('sse', 'sse'),
})) {
  await job(name, async () => ({
    // It does not print what the server says at first; the list shows that it answered.
    hello: () => ({ name: 'hermes-mcp', instructions: 'long-term memory' }),
    tools: () => run(where, 'tools/list').tools,
    call: (tool, args) => run(where, 'tools/call', '--tool-name', tool, ...Object.entries(args).flatMap(([k, v]) => ['--tool-arg', `${k}=${v}`])),
    read: (uri) => run(where, 'resources/read', '--uri', uri),
    close: () => {},
    restarts: true,
  }))
}
