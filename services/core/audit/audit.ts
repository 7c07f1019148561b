// The audit port of a process: events become durable, in a chain of its own, before what they tell of goes on.
import { createHash } from 'node:crypto'
import { uuidv7 } from '../ids.ts'
import { runningRequest } from '../process/running-handler.ts'
import { type AuditEvent, type Head, type SealedEvent, sealed, type Unsealed } from './chain.ts'

/** Makes events durable, in their order. Rejects when it is not sure that they are. */
export type AuditSink = (events: readonly SealedEvent[]) => Promise<void>

export type Audit = {
  /** Resolves once the event is durable. */
  record(event: AuditEvent): Promise<void>
  /** Resolves once the events are durable as begun, to be told how what they tell of went. */
  begin(events: readonly AuditEvent[]): Promise<AuditEnd>
}

export type AuditEnd = (outcome: 'done' | 'failed') => Promise<void>

export type ProcessAudit = Audit & {
  /** Goes on elsewhere in a new chain, whose first event tells the details: it comes with the next one when this rejects. */
  moveTo(sink: AuditSink, details: Readonly<Record<string, unknown>>): Promise<void>
  /** An event of the process itself about heads of chains, of whatever length. Resolves with it. */
  recordHeads(action: string, details: Readonly<Record<string, unknown>>): Promise<Head>
  /** Waits for what is being recorded. */
  idle(): Promise<void>
}

export type AuditOptions = {
  sink: AuditSink
  /** The kind of program that acts when no request runs. */
  kind: 'command' | 'server'
  now?: () => number
  /** Called for an end that could not be recorded: its event stays `begun`. */
  onLost?(error: Error): void
}

type Pending = {
  events: readonly Unsealed[]
  resolve(last: SealedEvent | undefined): void
  reject(error: unknown): void
}

const maxDetails = 2_048
/** Heads of chains that are remembered. */
const maxHeads = 64 * 1024
const maxText = 500
/** Events that are made durable together. */
const maxBatch = 1_000

const textOf = (text: string): string => text.slice(0, maxText).toWellFormed()

type Details = Readonly<Record<string, unknown>>
type Ids = { count: number; first: readonly string[] }

const areIds = (value: unknown): value is Ids =>
  typeof value === 'object' && value !== null && 'count' in value && 'first' in value && Array.isArray(value.first)

/** Details with one id less, of those that take the most room; undefined when no ids are left. */
function withFewerIds(details: Details): Details | undefined {
  const sizeOf = ({ first }: Ids) => Buffer.byteLength(JSON.stringify(first))
  let most: { name: string; ids: Ids } | undefined
  for (const [name, ids] of Object.entries(details))
    if (areIds(ids) && ids.first.length > 0 && (most === undefined || sizeOf(ids) > sizeOf(most.ids)))
      most = { name, ids }
  return most && { ...details, [most.name]: { ...most.ids, first: most.ids.first.slice(0, -1) } }
}

/** @param maxBytes longer ones have as many of their ids as fit, or are named by their hash */
function detailsOf(details: Details | undefined, maxBytes = maxDetails): string {
  if (details === undefined || Object.keys(details).length === 0) return ''
  const text = JSON.stringify(details).toWellFormed()
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  for (let fewer = withFewerIds(details); fewer !== undefined; fewer = withFewerIds(fewer)) {
    const shorter = JSON.stringify(fewer).toWellFormed()
    if (Buffer.byteLength(shorter) <= maxBytes) return shorter
  }
  return JSON.stringify({ bytes, sha256: createHash('sha256').update(text).digest('hex') })
}

const newChain = (nowMs: number): Head => ({ chain: uuidv7(nowMs), seq: 0, hash: '' })

type AtPresent = Pick<Required<AuditOptions>, 'kind' | 'now'>

/** An event of the process itself. */
const ownEvent = (nowMs: number, action: string, details: string): Unsealed => ({
  scope: '*',
  at_us: nowMs * 1000,
  actor: '',
  actor_kind: 'server',
  key_id: '',
  address: '',
  action,
  target: '',
  outcome: 'done',
  request_id: '',
  details,
  ends_from: 0,
  ends_to: 0,
})

/** An event of the request that runs, or of the program. */
function unsealed(
  { action, scope, target = '', actor, by, outcome = 'done', details }: AuditEvent,
  { kind, now }: AtPresent,
): Unsealed {
  const request = by ?? runningRequest()
  return {
    scope: textOf(scope),
    at_us: now() * 1000,
    actor: textOf(actor ?? request?.userId ?? ''),
    actor_kind: request === undefined ? kind : 'user',
    key_id: textOf(request?.keyId ?? ''),
    address: textOf(request?.address() ?? ''),
    action,
    target: textOf(target),
    outcome,
    request_id: request?.requestId ?? '',
    details: detailsOf(details),
    ends_from: 0,
    ends_to: 0,
  }
}

export function createAudit({ sink: first, kind, now = Date.now, onLost }: AuditOptions): ProcessAudit {
  const present = { kind, now }
  let sink = first
  let head = newChain(now())
  /** First event of the chain, written with the one that comes next. */
  let opening: Unsealed | undefined
  const pending: Pending[] = []
  let working = Promise.resolve()
  let isWorking = false

  async function write(batch: readonly Pending[]): Promise<void> {
    const events: SealedEvent[] = []
    let last = head
    const add = (event: Unsealed): SealedEvent => {
      const next = sealed(last, event)
      events.push(next)
      last = next
      return next
    }
    if (opening !== undefined) add(opening)
    const ends = batch.map((one) => one.events.map(add).at(-1))
    try {
      await sink(events)
      head = { chain: last.chain, seq: last.seq, hash: last.hash }
      opening = undefined
      for (const [index, one] of batch.entries()) one.resolve(ends[index])
    } catch (error) {
      // Whether they are durable is not known: what comes next stands in another chain, which names this one.
      if (head.seq > 0) opening = ownEvent(now(), 'audit.began', detailsOf({ after: head }))
      head = newChain(now())
      for (const one of batch) one.reject(error)
    }
  }

  async function work(): Promise<void> {
    isWorking = true
    while (pending.length > 0) {
      const batch: Pending[] = []
      for (let count = 0; pending.length > 0 && count < maxBatch; ) {
        const one = pending.shift() as Pending
        count += one.events.length
        batch.push(one)
      }
      await write(batch)
    }
    isWorking = false
  }

  /** Resolves with the last of them, once they are durable. */
  const append = (events: readonly Unsealed[]): Promise<SealedEvent | undefined> =>
    new Promise((resolve, reject) => {
      pending.push({ events, resolve, reject })
      if (!isWorking) working = work()
    })

  return {
    async record(event) {
      await append([unsealed(event, present)])
    },
    async begin(events) {
      if (events.length === 0) return async () => undefined
      const begun = (await append(
        events.map((event) => unsealed({ ...event, outcome: 'begun' }, present)),
      )) as SealedEvent
      const { chain, seq } = begun
      const range = { ends_from: seq - events.length + 1, ends_to: seq }
      const [{ by } = {}] = events
      return async (outcome) => {
        // An end belongs to the chain of its beginning.
        if (chain !== head.chain) return
        const ended = unsealed({ action: 'audit.ended', scope: '*', outcome, ...(by && { by }) }, present)
        await append([{ ...ended, ...range }]).catch((error: Error) => onLost?.(error))
      }
    },
    async recordHeads(action, details) {
      const { chain, seq, hash } = (await append([
        ownEvent(now(), action, detailsOf(details, maxHeads)),
      ])) as SealedEvent
      return { chain, seq, hash }
    },
    async moveTo(next, details) {
      await working
      sink = next
      head = newChain(now())
      opening = ownEvent(now(), 'audit.began', detailsOf(details, maxHeads))
      await append([])
    },
    idle: async () => working,
  }
}
