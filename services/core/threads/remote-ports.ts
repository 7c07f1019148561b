// The same ports as a thread sees them: each asks the thread that holds the engines.
import type { AuditEvent } from '../audit/chain.ts'
import type { LongAnswer } from '../errors.ts'
import { noted } from '../log/freshness.ts'
import type { Position, RecordInput } from '../log/log.ts'
import { positionHeader } from '../log/positions.ts'
import { type Account, runningAccount, runningRequest } from '../process/running-handler.ts'
import { answerKey } from '../store/opened.ts'
import { parseRows } from '../store/rows.ts'
import type { Query, QueryOptions, Store } from '../store/store.ts'
import type { Channel, Received } from './channel.ts'
import { chunksOf } from './chunks.ts'
import type { Masked, PortRequests, Ports, SentEvent } from './ports.ts'

export type RemotePorts = Omit<Ports, 'store' | 'clock'> & {
  store: Pick<Store, 'bytes' | 'rows'>
  /** The account of a request, which the other thread has: what is opened here is told there. */
  accountOf(request: number): Account
}

/** The request that a signal belongs to, and the answer that came with it. */
export type RunningRequest = { number: number; answer?: LongAnswer | undefined }

/** The event with the request that runs here: the other thread does not know it. */
function sentEvent({ by = runningRequest(), ...event }: AuditEvent): SentEvent {
  return { ...event, by: by && { ...by, address: by.address() } }
}

/**
 * Tells of what is masked in one turn at once: a batch may hold a value in each of its calls. Before the handler goes on:
 * with its answer the account of the request ends.
 */
function tellMasked(tell: (masked: PortRequests['masked']) => void): (hits: Masked) => void {
  const pending = new Map<number | undefined, Map<string, Masked>>()
  return (one) => {
    const request = runningAccount()?.number
    if (pending.size === 0)
      queueMicrotask(() => {
        const all = [...pending]
        pending.clear()
        for (const [number, hits] of all) tell({ hits: [...hits.values()], request: number })
      })
    const ofRequest = pending.get(request) ?? new Map<string, Masked>()
    pending.set(request, ofRequest)
    const { projectId, detector, rule, isDry } = one
    const key = JSON.stringify([projectId, detector, rule, isDry])
    const known = ofRequest.get(key)
    if (known === undefined) ofRequest.set(key, { ...one })
    else known.hits += one.hits
  }
}

export function remotePorts(
  channel: Channel,
  requestOf: (signal: AbortSignal) => RunningRequest | undefined,
): RemotePorts {
  const ask = <Name extends keyof PortRequests>(
    name: Name,
    value: PortRequests[Name],
    buffers: Buffer[] = [],
    signal?: AbortSignal,
  ): Promise<Received> => channel.ask(name, { value, buffers }, signal)
  const release = (held: unknown) => void ask('release', { held: held as number }).catch(() => undefined)

  const releaseOnce = (held: unknown) => {
    let isTaken = true
    return () => {
      if (isTaken) release(held)
      isTaken = false
    }
  }

  const tell =
    (level: 'info' | 'warn') =>
    (...line: unknown[]): void =>
      void ask('tell', { level, line }).catch(() => undefined)

  async function bytes(query: Query, format: string, options: QueryOptions = {}): Promise<Buffer> {
    const { signal, ...rest } = options
    const request = signal && requestOf(signal)
    if (request?.answer && request.answer.key === answerKey(query, format)) {
      const { bytes } = request.answer
      request.answer = undefined
      return bytes
    }
    const { buffers } = await ask('read', { query, format, options: rest, request: request?.number }, [], signal)
    return buffers[0] as Buffer
  }

  return {
    accountOf: (number) => ({
      number,
      // Not waited for: what comes after it is refused when this is.
      open: (projectId) => void ask('open', { projectId, request: number }).catch(() => undefined),
      append: () => () => undefined,
      masked: () => undefined,
      read: () => undefined,
    }),
    log: {
      flush: (topic) => void ask('flush', { topic }).catch(() => undefined),
      async append(topic: string, records: RecordInput[]): Promise<Position> {
        const heads = records.map(({ rows: _, ...head }) => head)
        const rows = records.map((record) => record.rows)
        const request = runningAccount()?.number
        return (await ask('append', { topic, records: heads, request }, rows)).value as Position
      },
    },
    store: {
      bytes,
      rows: async <T>(query: Query, options?: QueryOptions) => parseRows<T>(await bytes(query, 'JSONEachRow', options)),
    },
    freshness: {
      async wait(wish, topics) {
        const { header, query, signal, projects } = wish
        const position = header(positionHeader.toLowerCase())
        const mode = query.get('freshness') ?? header('x-callhouse-freshness')
        const asked = { position, mode, projects: [...(projects?.() ?? [])], topics }
        return noted((await ask('wait', asked, [], signal)).value as Record<string, string>, wish)
      },
    },
    lock: {
      async run(key, job) {
        const { value } = await ask('lock', { key })
        try {
          return await job()
        } finally {
          release(value)
        }
      },
    },
    slots: {
      async take(projectId) {
        return releaseOnce((await ask('slot', { projectId })).value)
      },
    },
    rowSlots: {
      async take(projectId, key, signal) {
        return releaseOnce((await ask('place', { projectId, key }, [], signal)).value)
      },
    },
    blobs: {
      async upload() {
        const upload = (await ask('upload', undefined)).value as number
        return {
          async write(chunk) {
            // A copy: a caller whose upload fails still has use for the bytes.
            await ask('write', { upload }, [Buffer.from(chunk)])
          },
          commit: async (projectId, digest) => (await ask('commit', { upload, projectId, digest })).value as string,
          async discard() {
            await ask('discard', { upload })
          },
        }
      },
      async *read(location, range) {
        yield* chunksOf(channel, (await ask('content', { location, range })).value as number)
      },
      stat: async (location) => (await ask('stat', { location })).value as { sizeBytes: number } | null,
    },
    rules: {
      changedSince: async (version) =>
        (await ask('rules', { version })).value as { version: number; rules: unknown } | undefined,
    },
    audit: {
      async record(event) {
        await ask('audit', { event: sentEvent(event) })
      },
      async begin(events) {
        const begun = (await ask('auditBegin', { events: events.map(sentEvent) })).value as number
        return async (outcome) => void (await ask('auditEnd', { begun, outcome }))
      },
    },
    logger: { info: tell('info'), warn: tell('warn') },
    onFaults: (kind, items) => void ask('faults', { kind, items }).catch(() => undefined),
    onMasked: tellMasked((masked) => void ask('masked', masked).catch(() => undefined)),
  }
}
