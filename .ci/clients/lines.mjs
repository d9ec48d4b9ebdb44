// The main job through a program that carries lines of JSON-RPC to a server:
// mcp-remote, which makes a server over HTTP one over stdio.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { job, server } from './job.mjs'

await job('mcp-remote', async () => {
  const child = spawn(process.execPath,
    [process.env.MCP_REMOTE, server.url, '--allow-http', '--transport', 'http-only', '--header', `Authorization:${server.headers.Authorization}`],
    { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const m = JSON.parse(line)
    if (waiting.has(m.id)) waiting.get(m.id)(m)
  })
  let last = 0
  const ask = (method, params) => new Promise((resolve, reject) => {
    const id = ++last
    const limit = setTimeout(() => reject(new Error(`${method} was not answered`)), 30_000)
    waiting.set(id, (m) => {
      clearTimeout(limit)
      m.error ? reject(new Error(m.error.message)) : resolve(m.result)
    })
    child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
  })
  const hello = ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'suite-remote', version: '1' } })
  return {
    async hello() {
      const { serverInfo, instructions } = await hello
      child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
      return { ...serverInfo, instructions }
    },
    tools: async () => (await ask('tools/list', {})).tools,
    call: (name, args) => ask('tools/call', { name, arguments: args }),
    read: (uri) => ask('resources/read', { uri }),
    close: () => child.kill(),
  }
})
