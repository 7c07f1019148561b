// OTLP by every way in: over gRPC and over the ports and paths of HTTP, by every kind of caller, with a project and without.
import { request } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Answered, type Asker, createAsker, eachOf, post } from '../fixtures/asker.ts'
import { logsOf, spansOf } from '../fixtures/filled-project.ts'
import { type Caller, type IsolationWorld, isGranted } from '../fixtures/isolation-world.ts'
import { encodeLogsRequest, encodeRequest } from '../fixtures/otlp-proto.ts'
import { actionsOfRole } from './route-rights.ts'

type Signal = 'traces' | 'logs' | 'metrics'
type Answer = { status: number; text: string; headers: Record<string, unknown> }

/** One way in: which signals it takes, and the statuses by which it answers. */
type Way = {
  what: string
  signals: readonly Signal[]
  is: { taken: number; unauthenticated: number; denied: number; invalid: number }
  send(signal: Signal, headers: Record<string, string>, traceId: string): Promise<Answer>
}

const signals = ['traces', 'logs', 'metrics'] as const
const serviceOf: Record<Signal, string> = {
  traces: 'trace.v1.Trace',
  logs: 'logs.v1.Logs',
  metrics: 'metrics.v1.Metrics',
}
/** Bodies of each signal: metrics are taken and not stored. */
const bodies: Record<Signal, { json(traceId: string): object; protobuf(traceId: string): Buffer } | null> = {
  traces: {
    json: (traceId) => spansOf('a span', traceId, 'a text'),
    protobuf: (traceId) => encodeRequest(spansOf('a span', traceId, 'a text')),
  },
  logs: {
    json: (traceId) => logsOf('a record', traceId, 'a text'),
    protobuf: (traceId) => encodeLogsRequest(logsOf('a record', traceId, 'a text')),
  },
  metrics: null,
}
const nothing = Buffer.alloc(0)

const http = { taken: 200, unauthenticated: 401, denied: 403, invalid: 400 }
const grpc = { taken: 0, unauthenticated: 16, denied: 7, invalid: 3 }

const framed = (message: Uint8Array): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

function overGrpc(session: ClientHttp2Session): Way {
  const call = (path: string, headers: Record<string, string>, message: Uint8Array): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      })
      const all: Record<string, unknown> = {}
      let text = ''
      stream.on('response', (one) => Object.assign(all, one)).on('trailers', (one) => Object.assign(all, one))
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('error', reject).on('close', () => {
        const message = decodeURIComponent(String(all['grpc-message'] ?? ''))
        resolve({ status: Number(all['grpc-status'] ?? Number.NaN), text: text + message, headers: all })
      })
      stream.end(framed(message))
    })
  return {
    what: 'gRPC',
    signals,
    is: grpc,
    send: (signal, headers, traceId) =>
      call(
        `/opentelemetry.proto.collector.${serviceOf[signal]}Service/Export`,
        headers,
        bodies[signal]?.protobuf(traceId) ?? nothing,
      ),
  }
}

const overHttp = (what: string, asker: Asker, paths: Partial<Record<Signal, string>>): Way => ({
  what,
  signals: signals.filter((signal) => signal in paths),
  is: http,
  async send(signal, headers, traceId) {
    const path = paths[signal] as string
    const sent = post(path, bodies[signal]?.json(traceId) ?? nothing)
    const type = bodies[signal] ? 'application/json' : 'application/x-protobuf'
    return asker.ask(sent, { 'content-type': type, ...headers }) as Promise<Answered & Answer>
  },
})

/** Where spans may be meant for: a project by its name, or none is named. */
type Meant = { named: string | null; reaches: string | null }

export function otlpTests(world: () => IsolationWorld): void {
  let session: ClientHttp2Session
  let asker: Asker
  let ways: Way[]

  beforeAll(() => {
    const { server } = world()
    const { otlp, url, http: main } = server.now()
    session = connect(`http://${otlp?.grpc}`)
    asker = createAsker(`http://${otlp?.http}`)
    const mainAsker = createAsker(url)
    const close = asker.close
    asker.close = async () => void (await Promise.all([close(), mainAsker.close()]))
    const routes = new Map(main.routes.map((route) => [route.name, route]))
    const pathsOf = (name: string) => [routes.get(name)?.path as string, ...(routes.get(name)?.aliases ?? [])]
    ways = [
      overGrpc(session),
      overHttp('the port of OTLP', asker, { traces: '/v1/traces', logs: '/v1/logs', metrics: '/v1/metrics' }),
      ...pathsOf('otel.traces').map((path) => overHttp(`the main port, ${path}`, mainAsker, { traces: path })),
      ...pathsOf('otel.agents.traces').map((path) => overHttp(`the main port, ${path}`, mainAsker, { traces: path })),
    ]
  })
  afterAll(async () => {
    session?.close()
    await asker?.close()
  })

  const expected = (
    { role, only, grants, refused, isSession }: Caller,
    signal: Signal,
    { named, reaches }: Meant,
    is: Way['is'],
  ): number => {
    // The page's cookie is none here.
    if (refused !== undefined && !isSession) return is.denied
    if (role === undefined) return is.unauthenticated
    if (!actionsOfRole[role].includes('ingest') || only?.includes('ingest') === false) return is.denied
    if (bodies[signal] === null) return is.taken
    if (reaches === null) return is.invalid
    return named === null || isGranted({ role, grants, headers: {} }, reaches) ? is.taken : is.denied
  }

  it('spans reach the projects of their key, and nothing else', async () => {
    const { callers, own, foreign, unused, missing, operator } = world()
    const meantBy = ({ grants }: Caller): Meant[] => {
      const [only, ...more] = grants
      const isOnly = only?.includes('/') && more.length === 0
      const names = [own, foreign, unused, missing].map(({ project }) => project)
      return [
        ...names.map((named) => ({ named, reaches: named })),
        { named: null, reaches: isOnly ? (only as string) : null },
      ]
    }
    const cases = ways.flatMap((way) =>
      way.signals.flatMap((signal) =>
        Object.entries(callers).flatMap(([who, caller]) =>
          // Sessions are the page's, which sends no spans: the matrix asks by them.
          (caller.isSession ? [] : meantBy(caller))
            // The contents of the foreign project must stay as they are.
            .filter(({ named }) => named !== foreign.project || !isGranted(caller, named))
            .map((meant) => ({ way, signal, who, caller, meant })),
        ),
      ),
    )
    const wrong: string[] = []
    const written = new Map<string, Set<string>>()
    await eachOf([...cases.entries()], 12, async ([n, { way, signal, who, caller, meant }]) => {
      // Its beginning is the id of the span.
      const traceId = String(n).padStart(8, '0').padEnd(32, 'e')
      const named = meant.named === null ? {} : { project_id: meant.named }
      const answer = await way.send(signal, { ...caller.headers, ...named }, traceId)
      const wanted = expected(caller, signal, meant, way.is)
      const told = `${signal} by ${way.what} of ${who} for ${meant.named}`
      if (answer.status !== wanted)
        wrong.push(`${told} answered ${answer.status}, not ${wanted}: ${answer.text.slice(0, 200)}`)
      if (answer.text.includes(foreign.canary)) wrong.push(`${told} shows what the foreign project holds`)
      if (signal === 'traces' && wanted === way.is.taken && meant.reaches !== null)
        written.set(meant.reaches, (written.get(meant.reaches) ?? new Set()).add(traceId))
    })
    expect(wrong.slice(0, 20)).toEqual([])
    expect(written.get('alpha/only')?.size).toBe(ways.length)
    const tracesOf = async (project_id: string) => {
      const { text } = await operator.ask(post('/calls/stream_query', { project_id, columns: ['trace_id'] }))
      return new Set([...text.matchAll(/"trace_id":"(\d{8}e{24})"/g)].map(([, id]) => id as string))
    }
    for (const project of [own.project, foreign.project, unused.project, missing.project, 'alpha/only', 'alpha/other'])
      expect([project, [...(await tracesOf(project))].sort()]).toEqual([
        project,
        [...(written.get(project) ?? [])].sort(),
      ])
  })

  it('the OTLP port serves nothing but OTLP, whatever a client expects first', async () => {
    const { callers } = world()
    const key = (callers['a key of an admin'] as Caller).headers
    const statusOf = (path: string, headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request(
          `http://${world().server.now().otlp?.http}${path}`,
          { method: 'POST', headers },
          (answer) => {
            answer.resume()
            resolve(answer.statusCode)
          },
        )
        sent.on('error', reject).end('{}')
      })
    for (const expects of [{}, { expect: '100-continue' }]) {
      const headers = { ...key, project_id: 'alpha/app', 'content-type': 'application/json', ...expects }
      expect(await statusOf('/calls/query_stats', headers)).toBe(404)
      expect(await statusOf('/v1/traces', headers)).toBe(200)
    }
  })
}
