// The leader's hourly work on the audit log: ends of keys, a checkpoint that names all heads, and removal of old
// months.
import type { ProcessAudit } from '../core/audit/audit.ts'
import type { AuditEvent, Head } from '../core/audit/chain.ts'
import { keptFromMs, type NamedHead } from '../core/audit/excuses.ts'
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import { dropPartitions, partitionsOf } from './engine.ts'

type Deps = {
  store: Pick<Store, 'rows' | 'command'>
  audit: Pick<ProcessAudit, 'recordHeads'>
}

/** Heads that one event names. */
const headsPerEvent = 200

type Row = { chain: string; last: string; hash: string; at_us: string }
type Counts = { events: string; chains: string; since: string; previous: [chain: string, seq: string, hash: string] }
const headOf = ({ chain, last, hash, at_us }: Row): NamedHead => ({
  chain,
  seq: Number(last),
  hash,
  at_us: Number(at_us),
})

const parts = (heads: readonly NamedHead[]): NamedHead[][] =>
  Array.from({ length: Math.max(1, Math.ceil(heads.length / headsPerEvent)) }, (_, n) =>
    heads.slice(n * headsPerEvent, (n + 1) * headsPerEvent),
  )

export type Checkpoint = { chain: string; seq: number; hash: string; events: number; chains: number }

/**
 * Names the last stored event of each chain that went on since the last checkpoint, and that checkpoint; the first one
 * names all. So the events of a chain cannot go without what is behind them naming one that went.
 * @param days that events are kept; 0 = for ever
 * @param own events of this process that are named too, stored or not yet
 * @returns for a line of the log, which an outside system keeps
 */
export async function writeCheckpoint(
  { store, audit }: Deps,
  days: number,
  own: readonly Head[] = [],
): Promise<Checkpoint> {
  const options = { pool: 'background' } as const
  const [all] = await store.rows<Counts>(statement('audit.counts'), options)
  const since = Number(all?.since ?? 0)
  const heads = await store.rows<Row>(statement('audit.new-heads', { since }), options)
  const [chain = '', seq, hash = ''] = all?.previous ?? []
  const previous = chain === '' ? {} : { previous: { chain, seq: Number(seq), hash, at_us: since } }
  const [events, chains] = [Number(all?.events ?? 0), Number(all?.chains ?? 0)]
  let last: Head | undefined
  for (const part of parts([...heads.map(headOf), ...own]))
    last = await audit.recordHeads('audit.checkpoint', { events, chains, days, ...previous, heads: part })
  return { ...(last as Head), events, chains }
}

/** Age up to which the end of a key is still recorded: no server ran meanwhile. */
const maxLateMs = 30 * 86_400_000

/**
 * Records ends of keys that no event tells of yet.
 * @param ended keys whose end came within a time
 * @param days that events are kept; 0 = for ever
 * @returns their ids
 */
export async function recordEndedKeys(
  { store, audit }: { store: Deps['store']; audit: Pick<ProcessAudit, 'record'> },
  ended: (fromMs: number, toMs: number) => readonly AuditEvent[],
  days: number,
): Promise<string[]> {
  const nowMs = Date.now()
  const fromMs = nowMs - Math.min(maxLateMs, days === 0 ? maxLateMs : days * 86_400_000)
  const events = ended(fromMs, nowMs)
  if (events.length === 0) return []
  const found = await store.rows<{ target: string }>(statement('audit.ended-keys', { from: fromMs }), {
    pool: 'background',
  })
  const known = new Set(found.map(({ target }) => target))
  const unknown = events.filter(({ target = '' }) => !known.has(target))
  await Promise.all(unknown.map(audit.record))
  return unknown.map(({ target = '' }) => target)
}

const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7).replace('-', '')

/**
 * Drops the months that ended more than `days` days ago. Before that events name the last of each chain in them, so that
 * chains can be verified that begin in what is kept, and a checkpoint names those events: it vouches for them.
 * @param days 0 = for ever
 * @returns the months
 */
export async function dropOldAudit({ store, audit }: Deps, days: number, nowMs = Date.now()): Promise<string[]> {
  if (days === 0) return []
  const kept = monthOf(keptFromMs(nowMs, days))
  const old = (await partitionsOf({ store }, ['audit_events'])).filter(({ id }) => /^\d{6}$/.test(id) && id < kept)
  const excuses: Head[] = []
  for (const { id: month } of old) {
    const heads = await store.rows<Row>(statement('audit.dropped-heads', { month: Number(month) }), {
      pool: 'background',
    })
    for (const part of parts(heads.map(headOf)))
      excuses.push(await audit.recordHeads('audit.dropped', { month, days, heads: part }))
  }
  if (excuses.length > 0) await writeCheckpoint({ store, audit }, days, excuses)
  await dropPartitions({ store }, old)
  return old.map(({ id }) => id)
}
