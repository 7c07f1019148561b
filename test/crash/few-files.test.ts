// tier: deep crash
// A server that may open few files keeps enough of them for log and engine, however many connections strangers hold.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { basicAuth, post, startChildServer } from '../fixtures/child-server.ts'
import { temporaryFolder } from '../fixtures/log.ts'

const openFiles = 800

it('strangers who hold as many connections as there may be files hinder no write', async () => {
  const server = await startChildServer(await temporaryFolder('few-files-'), {}, 'serve', openFiles)
  onTestFinished(() => server.kill())
  const { port, hostname } = new URL(server.url)
  const sockets: Socket[] = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  const project_id = 'few/files'
  const ids: string[] = []
  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < openFiles / 5; n++) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      sockets.push(socket)
    }
    const id = uuidv7()
    const start = { project_id, id, op_name: 'x', started_at: new Date().toISOString(), attributes: {}, inputs: {} }
    expect((await post(server.url, '/call/start', { start })).status).toBe(200)
    ids.push(id)
  }
  expect(sockets.length).toBe(2 * openFiles)
  const counted = await post(server.url, '/calls/query_stats', { project_id })
  expect(JSON.parse(counted.text)).toMatchObject({ count: ids.length })
  const health = await fetch(`${server.url}/health`, { headers: { authorization: basicAuth() } })
  expect([health.status, await health.json()]).toMatchObject([200, { status: 'ok' }])
  expect(await server.stop()).toBe(0)
})
