// Where the demo looks for the server: the one that holds the data folder, else the one that the settings would start.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkServer, runningServer } from '../../scripts/demo/server.ts'
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
