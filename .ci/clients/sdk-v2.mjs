// The main job by the SDK's second line, in each way to agree on a version.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { http, job, sdk, stdio } from './job.mjs'

for (const mode of ['legacy', 'auto', { pin: '2026-07-28' }]) {
  const said = mode.pin ? 'pinned' : mode
  const client = () => new Client({ name: `suite-v2-${said}`, version: '1' }, { versionNegotiation: { mode } })
  await job(`SDK v2 ${said}, stdio`, sdk(client(), new StdioClientTransport(stdio)))
  await job(`SDK v2 ${said}, HTTP`, sdk(client(), new StreamableHTTPClientTransport(...http)))
}
