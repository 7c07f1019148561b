// Many connections without a key, on every port, leave room for those that have one.
import { once } from 'node:events'
import { connect as connectH2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { callOver, exportPath, framed } from '../fixtures/grpc.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

const most = 12
let server: LiveServer
const portOf = (address: string | undefined): number => Number(address?.split(':').at(-1))

beforeAll(async () => {
  server = await startLiveServer(`--otlp-grpc-port 0 --otlp-http-port 0 --max-connections ${most}`.split(' '))
})
afterAll(() => server.remove())

/** Connections that say `text` each, if anything, and keep their end open for as long as they may. */
async function flood(port: number, count: number, text = ''): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let n = 0; n < count; n++) {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    // Whoever has to go is told by a reset or an end.
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    if (text !== '') socket.write(text)
    sockets.push(socket)
  }
  return sockets
}

const write = async (): Promise<number> => {
  const start = { project_id: 'strangers/one', id: uuidv7(), op_name: 'x', started_at: new Date().toISOString() }
  return (await post(server.now().url, '/call/start', { start: { ...start, attributes: {}, inputs: {} } })).status
}

const ports: [name: string, port: () => number][] = [
  ['the main port', () => Number(new URL(server.now().url).port)],
  ['the port of OTLP over HTTP', () => portOf(server.now().otlp?.http)],
  ['the port of OTLP over gRPC', () => portOf(server.now().otlp?.grpc)],
]

it.each(ports)('idle on %s, they make room for whoever has a key', async (_, port) => {
  const strangers = await flood(port(), 3 * most)
  expect(await write()).toBe(200)
  await eventually(() => expect(strangers.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(most))
  const session = connectH2(`http://127.0.0.1:${portOf(server.now().otlp?.grpc)}`)
  onTestFinished(() => session.close())
  const headers = { authorization: basicAuth(), project_id: 'strangers/one' }
  const sendSpan = () => callOver(session, exportPath, [framed(encodeRequest(aRequest([aSpan({})])))], headers)
  expect((await sendSpan()).status).toBe(0)
  // Its connection is no stranger's any more.
  await flood(port(), 3 * most)
  expect((await sendSpan()).status).toBe(0)
  expect(await write()).toBe(200)
})

it('with requests that are refused for want of a key, they make room as well', async () => {
  const body = 'POST /call/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{'
  await flood(Number(new URL(server.now().url).port), 3 * most, body)
  expect(await write()).toBe(200)
})
