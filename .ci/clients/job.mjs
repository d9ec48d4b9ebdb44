// The main job, as one client does it: say hello, list, remember, read,
// search. A client is {hello, tools, call(name, args), read(uri), close,
// restarts}.
import assert from 'node:assert/strict'

export async function job(name, connect) {
  const c = await connect()
  try {
    const hello = await c.hello()
    assert.equal(hello.name, 'hermes-mcp', 'server name')
    assert.match(hello.instructions ?? '', /long-term memory/, 'instructions')
    const tools = (await c.tools()).map((t) => t.name)
    for (const t of ['memory', 'session_search']) assert.ok(tools.includes(t), `${t} is not listed`)
    const fact = `the client ${name} was here`
    const added = data(await c.call('memory', { action: 'add', content: fact }))
    assert.equal(added.success, true, JSON.stringify(added))
    const read = data(await c.call('memory', { action: 'read' }))
    assert.ok(read.entries.some((e) => e.text === fact), 'the fact is not read back')
    const refused = await c.call('memory', { action: 'remove', old_text: 'nothing of the kind' })
    assert.equal(refused.isError, true, 'a failure must be an error result')
    const found = data(await c.call('session_search', { query: 'anything at all' }))
    assert.equal(found.mode, 'discover', JSON.stringify(found))
    const live = (await c.read('hermes://memory/live')).contents[0].text
    assert.ok(live.includes(fact), 'the live resource lacks the fact')
    const snapshot = (await c.read('hermes://memory/snapshot')).contents[0].text
    // A client that starts anew for each step is in a new session each time.
    if (!c.restarts) assert.ok(!snapshot.includes(fact), 'the snapshot thawed')
    console.log(`ok    ${name}`)
  } catch (e) {
    console.log(`FAIL  ${name}: ${e?.message ?? e}`)
    process.exitCode = 1
  } finally {
    await c.close()
  }
}

function data(result) {
  const text = JSON.parse(result.content[0].text)
  if (result.structuredContent) assert.deepEqual(result.structuredContent, text, 'text and structured content differ')
  return text
}

// sdk makes such a client of an SDK's, v1 or v2.
export const sdk = (client, transport) => async () => {
  await client.connect(transport)
  return {
    hello: () => ({ ...client.getServerVersion(), instructions: client.getInstructions() }),
    tools: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  }
}

// server is how to reach the server that is tested: the binary and its home,
// and where it listens with which token.
export const server = {
  binary: process.env.HERMES_BINARY,
  home: process.env.HERMES_HOME,
  url: process.env.HERMES_URL,
  headers: { Authorization: `Bearer ${process.env.HERMES_TOKEN}` },
}
export const stdio = { command: server.binary, args: ['serve', '--home', server.home], stderr: 'ignore' }
export const http = [new URL(server.url), { requestInit: { headers: server.headers } }]
