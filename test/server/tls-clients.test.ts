// tier: deep slow
// Certificates of clients on every port, and what happens when the server's own and the authority are replaced while it
// runs: connections go on, new ones must show what counts now.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectH2 } from 'node:http2'
import { request as ask } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type SecureContextOptions, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Certificates, makeCertificates } from '../fixtures/certificates.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { callOver, exportPath, framed } from '../fixtures/grpc.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

const project_id = 'acme/mutual'
const headers = { authorization: basicAuth(), project_id }
const dir = mkdtempSync(join(tmpdir(), 'callhouse-mutual-'))
/** Certificates of the server, of the clients that count at first, and of those that count later. */
const [own, first, second] = ['own', 'first', 'second'].map((name) =>
  makeCertificates(mkdtempSync(join(dir, name))),
) as [Certificates, Certificates, Certificates]
const clientCa = join(dir, 'clients.pem')
let server: LiveServer
beforeAll(async () => {
  copyFileSync(first.ca, clientCa)
  const ports = ['--otlp-grpc-port', '0', '--otlp-http-port', '0']
  const tls = ['--tls-cert', own.cert, '--tls-key', own.key, '--tls-client-ca', clientCa]
  server = await startLiveServer([...ports, ...tls])
})
afterAll(async () => {
  await server?.remove()
  rmSync(dir, { recursive: true, force: true })
})

const addresses = () => {
  const { url, otlp } = server.now()
  return { main: new URL(url).host, http: otlp?.http as string, grpc: otlp?.grpc as string }
}
const shown = (certificates: Certificates | null): SecureContextOptions => ({
  ca: readFileSync(own.ca),
  ...(certificates && { cert: readFileSync(certificates.cert), key: readFileSync(certificates.key) }),
})
const body = (n: number) => encodeRequest(aRequest([aSpan({ spanId: n.toString(16).padStart(16, 'd') })]))

/** One span over gRPC on a connection of its own, or on one that is there; the status of gRPC. */
async function overGrpc(certificates: Certificates | null, n: number, on?: ClientHttp2Session): Promise<number> {
  const session = on ?? connectH2(`https://${addresses().grpc}`, shown(certificates))
  try {
    const failed = new Promise<never>((_, reject) => void session.once('error', reject))
    const { status } = await Promise.race([callOver(session, exportPath, [framed(body(n))], headers), failed])
    // A connection that is closed answers nothing.
    if (Number.isNaN(status)) throw new Error('no answer')
    return status
  } finally {
    if (on === undefined) session.destroy()
  }
}
const overHttp = (address: string, path: string, certificates: Certificates | null, n: number) =>
  new Promise<{ status: number | undefined; hsts: string | undefined }>((resolve, reject) => {
    const type = { 'content-type': 'application/x-protobuf' }
    const options = { method: 'POST', headers: { ...headers, ...type }, agent: false as const, ...shown(certificates) }
    ask(`https://${address}${path}`, options, (answer) => {
      const { 'strict-transport-security': hsts } = answer.headers
      answer.resume().once('end', () => resolve({ status: answer.statusCode, hsts }))
    })
      .on('error', reject)
      .end(body(n))
  })
/** The answer of each port to a client. */
const everyPort = (certificates: Certificates | null, n: number) =>
  Promise.allSettled([
    overGrpc(certificates, n),
    overHttp(addresses().http, '/v1/traces', certificates, n + 1).then(({ status }) => status),
    overHttp(addresses().main, '/otel/v1/traces', certificates, n + 2).then(({ status }) => status),
  ]).then((all) => all.map((one) => (one.status === 'fulfilled' ? one.value : 'refused')))
const taken = [0, 200, 200]
const refused = ['refused', 'refused', 'refused']
const renewals = () => server.lines.filter((line) => line.includes('the certificate was read again')).length

/** The socket of a new connection to gRPC, its server's serial number, and the ticket by which it may be resumed. */
function connected(
  certificates: Certificates,
  session?: Buffer,
): Promise<{ serial: string; isResumed: boolean; ticket: Buffer }> {
  return new Promise((resolve, reject) => {
    const [host, port] = addresses().grpc.split(':') as [string, string]
    const options = { host, port: Number(port), ALPNProtocols: ['h2'], maxVersion: 'TLSv1.2' as const }
    const socket: TLSSocket = connect({ ...options, ...shown(certificates), ...(session && { session }) })
    let ticket: Buffer | undefined
    socket.on('session', (one) => {
      ticket = one
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('closed')))
    // The server speaks first in HTTP/2: by then it has accepted what was shown.
    socket.once('data', () => {
      const { serialNumber: serial } = socket.getPeerCertificate()
      const isResumed = socket.isSessionReused()
      resolve({ serial, isResumed, ticket: ticket ?? (socket.getSession() as Buffer) })
      socket.destroy()
    })
    socket.once('secureConnect', () => socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'))
  })
}

describe('with an authority of clients', () => {
  it('every port takes who shows a certificate of it, and nobody else', async () => {
    expect(await everyPort(first, 16)).toEqual(taken)
    expect(await everyPort(null, 32)).toEqual(refused)
    expect(await everyPort(second, 48)).toEqual(refused)
    const { main, http } = addresses()
    expect((await overHttp(main, '/otel/v1/traces', first, 19)).hsts).toBe('max-age=31536000')
    expect((await overHttp(http, '/v1/traces', first, 20)).hsts).toBeUndefined()
  })

  it('new files count for new connections, and those that are open go on', async () => {
    const session = connectH2(`https://${addresses().grpc}`, shown(first))
    onTestFinished(() => session.destroy())
    expect(await overGrpc(first, 64, session)).toBe(0)
    const before = await connected(first)
    expect((await connected(first, before.ticket)).isResumed).toBe(true)

    const known = renewals()
    own.renew()
    await eventually(() => expect(renewals()).toBeGreaterThan(known), { withinMs: 60_000 })
    await eventually(async () => expect((await connected(first)).serial).not.toBe(before.serial), { withinMs: 60_000 })
    expect(await everyPort(first, 80)).toEqual(taken)

    const ticket = (await connected(first)).ticket
    const once = renewals()
    copyFileSync(second.ca, clientCa)
    await eventually(() => expect(renewals()).toBeGreaterThan(once), { withinMs: 60_000 })
    expect(await everyPort(second, 96)).toEqual(taken)
    expect(await everyPort(first, 112)).toEqual(refused)
    // A ticket from before is no certificate.
    await expect(connected(first, ticket)).rejects.toThrow()
    expect(await overGrpc(first, 128, session)).toBe(0)
  })
})
