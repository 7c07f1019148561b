// TLS on every port: the published exporter over gRPC, HTTP on both ports, clients that speak something else, renewals.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as ask } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../services/app/config.ts'
import { examineMachine } from '../../services/app/doctor.ts'
import { createHttpServer } from '../../services/core/http/http-server.ts'
import { openTls } from '../../services/core/http/tls.ts'
import { createConnections } from '../../services/core/process/connections.ts'
import { type Certificates, makeCertificates } from '../fixtures/certificates.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan } from '../fixtures/otel.ts'

const project_id = 'acme/secret'
const dir = mkdtempSync(join(tmpdir(), 'callhouse-tls-'))
let made: Certificates
let server: LiveServer
beforeAll(async () => {
  made = makeCertificates(dir)
  const ports = ['--otlp-grpc-port', '0', '--otlp-http-port', '0']
  server = await startLiveServer([...ports, '--tls-cert', made.cert, '--tls-key', made.key])
})
afterAll(async () => {
  await server?.remove()
  rmSync(dir, { recursive: true, force: true })
})
const grpc = () => server.now().otlp?.grpc as string
const http = () => server.now().otlp?.http as string
const main = () => new URL(server.now().url).host

/** One request over TLS by somebody who trusts the authority. */
const post = (address: string, path: string, body: unknown): Promise<{ status: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: basicAuth(), 'content-type': 'application/json', project_id }
    const options = { method: 'POST', headers, ca: readFileSync(made.ca), agent: false as const }
    const sent = ask(`https://${address}${path}`, options, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode, text }))
    })
    sent.on('error', reject).end(JSON.stringify(body))
  })
const ops = async (): Promise<string[]> => {
  const { text } = await post(main(), '/calls/stream_query', { project_id, columns: ['op_name'] })
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { op_name: string }).op_name)
}

/** Sends one span by the published exporter, whose settings come from variables; what went wrong, if anything. */
async function exported(name: string, variables: Record<string, string>): Promise<string | undefined> {
  for (const [key, value] of Object.entries(variables)) vi.stubEnv(key, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const exporter = new OTLPTraceExporter({ url: `https://${grpc()}`, timeoutMillis: 5_000 })
  let fault: Error | undefined
  const watched = {
    export: (...[spans, done]: Parameters<typeof exporter.export>) =>
      exporter.export(spans, (result) => {
        fault = result.error
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(watched)] })
  provider.getTracer('test').startSpan(name).end()
  // The exporter's caller gets the failure, and the test gets it again.
  await provider.forceFlush().catch(() => undefined)
  await provider.shutdown()
  return fault?.message
}
const headers = { OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20test-key,project_id=${project_id}` }

describe('with a certificate', () => {
  it('the published exporter sends spans over gRPC', async () => {
    const compressed = { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip', OTEL_EXPORTER_OTLP_CERTIFICATE: made.ca }
    expect(await exported('over TLS', { ...headers, ...compressed })).toBeUndefined()
    expect(await ops()).toContainEqual(expect.stringContaining('over'))
  })

  it('a client that does not trust the authority sends nothing', async () => {
    const before = await ops()
    expect(await exported('untrusted', headers)).toMatch(/certificate|UNAVAILABLE|Deadline/i)
    expect(await ops()).toEqual(before)
  })

  it('both ports of HTTP speak it', async () => {
    expect(server.now().url).toMatch(/^https:/)
    for (const [address, path, spanId] of [
      [http(), '/v1/traces', 'a1'.repeat(8)],
      [main(), '/otel/v1/traces', 'a2'.repeat(8)],
    ] as const)
      expect(await post(address, path, aRequest([aSpan({ spanId })]))).toMatchObject({ status: 200 })
    const { text } = await post(main(), '/graphql', { query: 'query ServerInfo { serverInfo { frontendHost } }' })
    expect(text).toContain(`https://${main()}`)
  })

  it('nobody is answered without it', async () => {
    for (const address of [main(), http(), grpc()]) await expect(fetch(`http://${address}/ready`)).rejects.toThrow()
    expect((await post(main(), '/calls/query_stats', { project_id })).status).toBe(200)
  })

  it('HTTP on the gRPC port is told where to go', async () => {
    const { status, text } = await post(grpc(), '/v1/traces', {})
    expect([status, text]).toEqual([400, expect.stringContaining('This is the gRPC port')])
  })

  it('versions before 1.2 are refused', async () => {
    const old = (address: string) =>
      new Promise((resolve, reject) => {
        const [host, port] = address.split(':')
        const options = { host, port: Number(port), ca: readFileSync(made.ca), maxVersion: 'TLSv1.1' as const }
        connect({ ...options, minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }, () => resolve('connected')).on(
          'error',
          reject,
        )
      })
    for (const address of [main(), http(), grpc()]) await expect(old(address)).rejects.toThrow()
  })

  it('the doctor says until when it is valid', async () => {
    const of = async (...flags: string[]) => {
      const loaded = loadConfig({ env: {}, argv: ['--data-dir', dir, ...flags] })
      if (!loaded.ok) throw new Error(loaded.lines.join())
      return (await examineMachine(loaded.config)).find(({ check }) => check === 'tls')
    }
    // The test's own is valid for two days.
    expect(await of('--tls-cert', made.cert, '--tls-key', made.key)).toMatchObject({
      verdict: 'warn',
      says: expect.stringContaining('valid until 20'),
    })
    expect(await of('--tls-cert', made.cert)).toMatchObject({ verdict: 'fail' })
    expect(await of('--tls-cert', made.cert, '--tls-key', made.ca)).toMatchObject({ verdict: 'fail' })
    expect(await of()).toBeUndefined()
  })
})

describe('files of a certificate', () => {
  it('are read again when they change, and stay as they were while they do not fit', async () => {
    const own = mkdtempSync(join(tmpdir(), 'callhouse-renewed-'))
    onTestFinished(() => rmSync(own, { recursive: true, force: true }))
    const files = makeCertificates(own)
    const faults: string[] = []
    const renewed = vi.fn()
    const deps = { certFile: files.cert, keyFile: files.key, pollMs: 20 }
    const tls = openTls({ ...deps, onBroken: (reason) => void faults.push(reason), onRenewed: renewed })
    const listening = createHttpServer(tls, createConnections({ most: 100 }), (_, response) => response.end('yes'))
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      tls.close()
      listening.close()
    })
    const { port } = listening.address() as AddressInfo
    const serial = () =>
      new Promise<string>((resolve, reject) => {
        const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca: readFileSync(files.ca) }, () => {
          const { serialNumber } = socket.getPeerCertificate() as PeerCertificate
          socket.end()
          resolve(serialNumber)
        })
        socket.on('error', reject)
      })
    const first = await serial()
    files.renew()
    await eventually(() => expect(renewed).toHaveBeenCalled())
    const second = await serial()
    expect(second).not.toBe(first)
    writeFileSync(files.cert, 'no certificate')
    await eventually(() => expect(faults.at(-1)).toContain(files.cert))
    expect(await serial()).toBe(second)
  })

  it('end the start with a line when they cannot be used', () => {
    const never = { onBroken: () => undefined, onRenewed: () => undefined }
    expect(() => openTls({ certFile: join(dir, 'none'), keyFile: made.key, ...never })).toThrow('none')
    expect(() => openTls({ certFile: made.cert, keyFile: made.cert, ...never })).toThrow(made.cert)
  })
})

describe('certificates of clients', () => {
  it('are asked for by every server when an authority is named', async () => {
    const tls = openTls({
      certFile: made.cert,
      keyFile: made.key,
      clientCaFile: made.ca,
      onBroken: () => undefined,
      onRenewed: () => undefined,
    })
    const connections = createConnections({ most: 100 })
    const listening = createHttpServer(tls, connections, ({ socket }, response) =>
      response.end(connections.of(socket) === undefined ? 'of no connection' : 'taken'),
    ).listen(0, '127.0.0.1')
    onTestFinished(() => {
      tls.close()
      listening.close()
    })
    await new Promise((resolve) => listening.once('listening', resolve))
    const { port } = listening.address() as AddressInfo
    const asked = (own: { cert?: Buffer; key?: Buffer }): Promise<string> =>
      new Promise((resolve, reject) => {
        const options = { ca: readFileSync(made.ca), agent: false as const, ...own }
        ask(`https://127.0.0.1:${port}/`, options, (answer) => {
          answer.resume().once('end', () => resolve('taken'))
        })
          .on('error', reject)
          .end()
      })
    await expect(asked({})).rejects.toThrow()
    expect(await asked({ cert: readFileSync(made.cert), key: readFileSync(made.key) })).toBe('taken')
    const other = mkdtempSync(join(dir, 'other-'))
    const foreign = makeCertificates(other)
    await expect(asked({ cert: readFileSync(foreign.cert), key: readFileSync(foreign.key) })).rejects.toThrow()
  })
})
