// The main job by the SDK's first line, over all three transports.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { http, job, sdk, server, stdio } from './job.mjs'

const client = () => new Client({ name: 'suite-v1', version: '1' })
await job('SDK v1, stdio', sdk(client(), new StdioClientTransport(stdio)))
await job('SDK v1, HTTP', sdk(client(), new StreamableHTTPClientTransport(...http)))
await job('SDK v1, SSE', sdk(client(), new SSEClientTransport(new URL(server.url.replace(/mcp$/, 'sse')), {
  requestInit: { headers: server.headers },
  eventSourceInit: { fetch: (u, init) => fetch(u, { ...init, headers: { ...init?.headers, ...server.headers } }) },
})))
