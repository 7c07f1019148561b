// The ports that routes work through, served to another thread: log, store, blobs, freshness, locks and slots.
import type { Audit, AuditEnd } from '../audit/audit.ts'
import type { AuditEvent } from '../audit/chain.ts'
import type { Blobs, BlobUpload, ByteRange } from '../blobs/blobs.ts'
import type { Clock } from '../clock/clock.ts'
import type { KeyedLock } from '../concurrency/keyed-lock.ts'
import type { SharedSlots, Slots } from '../concurrency/slots.ts'
import type { ProjectId } from '../ids.ts'
import type { Freshness } from '../log/freshness.ts'
import type { Log, RecordInput } from '../log/log.ts'
import { positionHeader } from '../log/positions.ts'
import type { Logger } from '../process/logger.ts'
import { type Account, type AuditedRequest, runFor } from '../process/running-handler.ts'
import type { Query, QueryOptions, Store } from '../store/store.ts'
import type { Answer } from './channel.ts'
import type { ChunkSources } from './chunks.ts'

export type Ports = {
  log: Pick<Log, 'append' | 'flush'>
  /** The clock of this process: a thread's values must have been given under the number that its edge still has. */
  clock: Pick<Clock, 'check'>
  store: Pick<Store, 'bytes'>
  blobs: Blobs
  freshness: Freshness
  lock: KeyedLock
  slots: Slots
  /** Slots for rows of evaluations. */
  rowSlots: SharedSlots
  logger: Pick<Logger, 'info' | 'warn'>
  rules: SharedRules
  audit: Audit
  onMasked(hits: Masked): void
  /** Items of OTLP were taken that had a kind of fault. */
  onFaults(kind: string, items: number): void
}

/** Values that a rule of masking hit. */
export type Masked = { projectId: string; rule: string; detector: string; hits: number; isDry: boolean }

/** An event as it travels: whose request it belongs to is told beside it. */
export type SentEvent = Omit<AuditEvent, 'by'> & {
  by: (Omit<AuditedRequest, 'address'> & { address: string }) | undefined
}

/** Rules that every thread keeps: all of them, when they have changed since the version that it knows. */
export type SharedRules = {
  changedSince(version: number): Promise<{ version: number; rules: unknown } | undefined>
}

/** Requests to ports, by name; rows and contents travel as buffers beside them. */
export type PortRequests = {
  /** `request`: number of the request that it is a part of. */
  append: { topic: string; records: Omit<RecordInput, 'rows'>[]; request: number | undefined }
  flush: { topic: string }
  /** The handler of the request has opened a project. */
  open: { projectId: ProjectId; request: number }

  read: { query: Query; format: string; options: Omit<QueryOptions, 'signal'>; request: number | undefined }
  wait: { position: string | undefined; mode: string | null | undefined; projects: ProjectId[]; topics: string[] }
  lock: { key: string }
  slot: { projectId: string }
  place: { projectId: string; key: string }
  release: { held: number }
  upload: undefined
  write: { upload: number }
  commit: { upload: number; projectId: ProjectId; digest: string }
  discard: { upload: number }
  content: { location: string; range: ByteRange | undefined }
  stat: { location: string }
  rules: { version: number }
  audit: { event: SentEvent }
  auditBegin: { events: SentEvent[] }
  auditEnd: { begun: number; outcome: 'done' | 'failed' }
  tell: { level: 'info' | 'warn'; line: unknown[] }
  masked: { hits: Masked[]; request: number | undefined }
  faults: { kind: string; items: number }
}

/** Things of this thread that another one holds by a number. */
function createHeld<Thing>() {
  const things = new Map<number, Thing>()
  let lastId = 0
  return {
    keep(thing: Thing): number {
      things.set(++lastId, thing)
      return lastId
    },
    get(id: number): Thing {
      const thing = things.get(id)
      if (thing === undefined) throw new Error('nothing is held by this number')
      return thing
    },
    take(id: number): Thing {
      const thing = this.get(id)
      things.delete(id)
      return thing
    },
    takeAll(): Thing[] {
      const all = [...things.values()]
      things.clear()
      return all
    },
  }
}

type Held<Thing> = ReturnType<typeof createHeld<Thing>>

function receivedEvent({ by, ...event }: SentEvent): AuditEvent {
  if (by === undefined) return event
  const { address, ...request } = by
  return { ...event, by: { ...request, address: () => address } }
}

/** Resolves to the end of the lock, once it is held. */
const acquired = (lock: KeyedLock, key: string): Promise<() => void> =>
  new Promise((resolve, reject) => {
    lock.run(key, () => new Promise<void>((release) => resolve(release))).catch(reject)
  })

type RequestsOf = {
  signalOf(request: number): AbortSignal | undefined
  accountOf(request: number): Account | undefined
}

type Answers<Name extends keyof PortRequests> = Record<Name, Answer>

/** Log and store; what limits refused is the answer to the next question of a handler that went on in the thread. */
function dataAnswers({ log, clock, store, freshness }: Ports, of: RequestsOf) {
  const refusals = new WeakMap<Account, unknown>()

  /** Does it for the request's account. @throws what its limits refused before */
  function charged<T>(request: number | undefined, work: () => T): T {
    const account = request === undefined ? undefined : of.accountOf(request)
    if (account !== undefined && refusals.has(account)) throw refusals.get(account)
    return runFor(account, work)
  }

  return {
    async append({ value, buffers }) {
      const { topic, records, request } = value as PortRequests['append']
      for (const record of records) clock.check(record.clock)
      const whole = records.map((record, n) => ({ ...record, rows: buffers[n] as Buffer }))
      return { value: await charged(request, () => log.append(topic, whole)) }
    },
    async flush({ value }) {
      log.flush((value as PortRequests['flush']).topic)
      return {}
    },
    async open({ value }) {
      const { projectId, request } = value as PortRequests['open']
      const account = of.accountOf(request)
      try {
        account?.open(projectId)
      } catch (error) {
        refusals.set(account as Account, error)
      }
      return {}
    },
    async read({ value }, signal) {
      const { query, format, options, request } = value as PortRequests['read']
      const ofRequest = request === undefined ? undefined : of.signalOf(request)
      const read = () => store.bytes(query, format, { ...options, signal: ofRequest ?? signal })
      return { buffers: [await charged(request, read)] }
    },
    async wait({ value }, signal) {
      const { position, mode, projects, topics } = value as PortRequests['wait']
      const headers = new Map([[positionHeader.toLowerCase(), position]])
      const query = new URLSearchParams(typeof mode === 'string' ? { freshness: mode } : {})
      const asking = { header: (name: string) => headers.get(name), query, signal, projects: () => projects }
      return { value: await freshness.wait(asking, topics) }
    },
  } satisfies Answers<'append' | 'flush' | 'open' | 'read' | 'wait'>
}

/** Locks and slots, which the thread holds by numbers. */
function lockAnswers(
  { lock, slots, rowSlots }: Ports,
  held: (release: () => void) => number,
  releases: Held<() => void>,
) {
  return {
    async lock({ value }) {
      return { value: held(await acquired(lock, (value as PortRequests['lock']).key)) }
    },
    async slot({ value }) {
      return { value: held(await slots.take((value as PortRequests['slot']).projectId)) }
    },
    async place({ value }, signal) {
      const { projectId, key } = value as PortRequests['place']
      return { value: held(await rowSlots.take(projectId, key, signal)) }
    },
    async release({ value }) {
      releases.take((value as PortRequests['release']).held)()
      return {}
    },
  } satisfies Answers<'lock' | 'slot' | 'place' | 'release'>
}

function blobAnswers({ blobs }: Ports, pieces: ChunkSources, uploads: Held<BlobUpload>) {
  return {
    async upload() {
      return { value: uploads.keep(await blobs.upload()) }
    },
    async write({ value, buffers }) {
      await uploads.get((value as PortRequests['write']).upload).write(buffers[0] as Buffer)
      return {}
    },
    async commit({ value }) {
      const { upload, projectId, digest } = value as PortRequests['commit']
      return { value: await uploads.take(upload).commit(projectId, digest) }
    },
    async discard({ value }) {
      await uploads.take((value as PortRequests['discard']).upload).discard()
      return {}
    },
    async content({ value }) {
      const { location, range } = value as PortRequests['content']
      return { value: pieces.offer(blobs.read(location, range)) }
    },
    async stat({ value }) {
      return { value: await blobs.stat((value as PortRequests['stat']).location) }
    },
  } satisfies Answers<'upload' | 'write' | 'commit' | 'discard' | 'content' | 'stat'>
}

/** Rules, the audit log, log lines, and what is counted. */
function reportAnswers({ rules, audit, logger, onMasked, onFaults }: Ports, of: RequestsOf) {
  const begun = createHeld<AuditEnd>()
  return {
    async rules({ value }) {
      return { value: await rules.changedSince((value as PortRequests['rules']).version) }
    },
    async audit({ value }) {
      await audit.record(receivedEvent((value as PortRequests['audit']).event))
      return {}
    },
    async auditBegin({ value }) {
      const { events } = value as PortRequests['auditBegin']
      return { value: begun.keep(await audit.begin(events.map(receivedEvent))) }
    },
    async auditEnd({ value }) {
      const { begun: id, outcome } = value as PortRequests['auditEnd']
      await begun.take(id)(outcome)
      return {}
    },
    async tell({ value }) {
      const { level, line } = value as PortRequests['tell']
      logger[level](...(line as [string]))
      return {}
    },
    async masked({ value }) {
      const { hits, request } = value as PortRequests['masked']
      runFor(request === undefined ? undefined : of.accountOf(request), () => hits.forEach(onMasked))
      return {}
    },
    async faults({ value }) {
      const { kind, items } = value as PortRequests['faults']
      onFaults(kind, items)
      return {}
    },
  } satisfies Answers<'rules' | 'audit' | 'auditBegin' | 'auditEnd' | 'tell' | 'masked' | 'faults'>
}

/**
 * @param of the requests that run in the thread, by number: reads of one request share its signal
 * @returns answers to the thread, and what gives back all that it holds
 */
export function servePorts(
  ports: Ports,
  pieces: ChunkSources,
  of: RequestsOf,
): { answers: Record<keyof PortRequests, Answer>; release(): void } {
  const releases = createHeld<() => void>()
  const uploads = createHeld<BlobUpload>()
  let isReleased = false

  /** A thread that has gone takes nothing with it. */
  function held(release: () => void): number {
    if (isReleased) {
      release()
      throw new Error('the thread has ended')
    }
    return releases.keep(release)
  }

  return {
    answers: {
      ...dataAnswers(ports, of),
      ...lockAnswers(ports, held, releases),
      ...blobAnswers(ports, pieces, uploads),
      ...reportAnswers(ports, of),
    },
    release() {
      isReleased = true
      for (const release of releases.takeAll()) release()
      for (const upload of uploads.takeAll()) upload.discard().catch(() => undefined)
    },
  }
}
