// Where the demo looks for the server (the one that holds the data folder, else the one that the settings would start),
// and what it does when that is busy.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { askServer, checkServer, runningServer } from '../../scripts/demo/server.ts'
import { listenForCommands } from '../../services/core/process/control-socket.ts'

it('the server of the data folder is found wherever it listens, and else that of the settings', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-demo-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const env = { CALLHOUSE_DATA_DIR: dataDir, CALLHOUSE_PORT: '7123' }
  expect(await runningServer(env)).toBe('http://127.0.0.1:7123')
  let url: string | undefined = 'http://0.0.0.0:7456'
  const socket = await listenForCommands(dataDir, ({ command }) => Promise.resolve(command === 'address' && url))
  onTestFinished(socket.close)
  expect(await runningServer(env)).toBe('http://127.0.0.1:7456')
  url = 'https://traces.example.com:443'
  expect(await runningServer(env)).toBe(url)
  // It is still starting.
  url = undefined
  expect(await runningServer(env)).toBe('http://127.0.0.1:7123')
})

it('a server that does not answer is told with how to name another', async () => {
  const told = await checkServer({ url: 'http://127.0.0.1:1', key: 'k', project: 'a/b' })
  expect(told).toContain('npm run demo <key> <url>')
})

/** A server that answers with these, one after the other, and then with a line. */
async function answering(...refusals: [status: number, headers: Record<string, string>][]) {
  let asked = 0
  const server = createServer((_, response) => {
    const [status, headers] = refusals[asked++] ?? [200, {}]
    response.writeHead(status, headers).end(status === 200 ? '{"id":1}\n' : 'busy')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { target: { url, key: 'k', project: 'acme/demo' }, asked: () => asked }
}

it('a busy server is asked again after the time that it gives', async () => {
  const again: [number, Record<string, string>] = [503, { 'retry-after': '0' }]
  const { target, asked } = await answering(again, again)
  expect(await askServer(target, '/x', {})).toEqual([{ id: 1 }])
  expect(asked()).toBe(3)
})

it('a server that is busy at the start is waited for, too', async () => {
  const { target } = await answering([200, {}], [503, { 'retry-after': '0' }])
  expect(await checkServer(target)).toBeUndefined()
})

it.each([
  ['503 without a time', 503, {}],
  ['another status', 400, { 'retry-after': '0' }],
] as const)('%s ends the demo', async (_, status, headers) => {
  const { target, asked } = await answering([status, headers])
  await expect(askServer(target, '/x', {})).rejects.toThrow(`/x answered ${status}: busy`)
  expect(asked()).toBe(1)
})
