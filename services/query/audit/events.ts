// Audit events as they are read: lists of what happened, the newest first, and whole chains in their order.
import type { AuditLine, AuditRequest } from '../../../schemas/audit.ts'
import type { SealedEvent } from '../../core/audit/chain.ts'
import { namesHeads } from '../../core/audit/excuses.ts'
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { join, param, type Sql, sql, systemQuery } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'

export type AuditStore = Pick<Store, 'rows'>

/** 64-bit numbers come as texts. */
type Row = { [Name in keyof SealedEvent]: SealedEvent[Name] extends number ? string : SealedEvent[Name] }

const cells = sql`scope, toString(toUnixTimestamp64Micro(at)) AS at_us, chain, toString(seq) AS seq, actor,
  toString(actor_kind) AS actor_kind, key_id, address, toString(action) AS action, target, toString(outcome) AS outcome,
  request_id, details, toString(ends_from) AS ends_from, toString(ends_to) AS ends_to, prev, hash`

const eventOf = (row: Row): SealedEvent => ({
  ...row,
  at_us: Number(row.at_us),
  seq: Number(row.seq),
  ends_from: Number(row.ends_from),
  ends_to: Number(row.ends_to),
})

const atUs = (us: number): Sql => sql`fromUnixTimestamp64Micro(${param('Int64', us)}, 'UTC')`

/** Latest time that the engine has, in microseconds. */
const maxUs = 4e15

function microseconds(name: 'from' | 'to', value: string | number): number {
  const us = parseTimestamp(value)
  if (us === null) throw fault(400, `${name} must be a time, such as 2026-01-31T12:00:00Z`)
  return Math.min(Math.max(Math.floor(us), 0), maxUs)
}

const idOf = ({ at_us, chain, seq }: Pick<SealedEvent, 'at_us' | 'chain' | 'seq'>): string => `${at_us}.${chain}.${seq}`

/** Condition for events after the event with the id, the newest first. @throws Fault 400 for a text that is no id */
function behind(id: string): Sql {
  const [, at = '', chain = '', seq = ''] = /^(\d{1,16})\.(.{1,100})\.(\d{1,15})$/.exec(id) ?? []
  if (seq === '') throw fault(400, 'after must be the id of an event')
  return sql`(audit_events.at, chain, audit_events.seq) < (${atUs(Number(at))}, ${param('String', chain)}, ${param('UInt64', Number(seq))})`
}

/** Events of a scope and of what lies in it, without the ends. */
export function auditEventsQuery({ scope, from, to, actor, action, target, after, limit }: AuditRequest): Query {
  const text = (column: Sql, value: string) => sql`${column} = ${param('String', value)}`
  const conditions = [
    sql`audit_events.ends_to = 0`,
    ...(scope === '*'
      ? []
      : [sql`(scope = ${param('String', scope)} OR startsWith(scope, ${param('String', `${scope}/`)}))`]),
    ...(from === undefined ? [] : [sql`audit_events.at >= ${atUs(microseconds('from', from))}`]),
    ...(to === undefined ? [] : [sql`audit_events.at < ${atUs(microseconds('to', to))}`]),
    ...(actor === undefined ? [] : [text(sql`actor`, actor)]),
    ...(action === undefined
      ? []
      : [
          action.endsWith('.*')
            ? sql`startsWith(audit_events.action, ${param('String', action.slice(0, -1))})`
            : text(sql`audit_events.action`, action),
        ]),
    ...(target === undefined ? [] : [text(sql`target`, target)]),
    ...(after === undefined ? [] : [behind(after)]),
  ]
  return systemQuery(
    'audit.events',
    sql`SELECT ${cells} FROM callhouse.audit_events FINAL WHERE ${join(conditions, ' AND ')}
      ORDER BY audit_events.at DESC, chain DESC, audit_events.seq DESC LIMIT ${param('UInt64', limit)}`,
  )
}

/** The ends of events of chains, as far as an end was recorded. */
export function auditEndsQuery(chains: readonly string[], least: number, most: number): Query {
  return systemQuery(
    'audit.ends',
    sql`SELECT chain, toString(ends_from) AS ends_from, toString(ends_to) AS ends_to, toString(outcome) AS outcome
      FROM callhouse.audit_events WHERE audit_events.ends_to >= ${param('UInt64', least)}
        AND audit_events.ends_from <= ${param('UInt64', most)} AND audit_events.ends_to > 0
        AND chain IN ${param('Array(String)', chains)}`,
  )
}

type End = Pick<Row, 'chain' | 'ends_from' | 'ends_to' | 'outcome'>

async function withEnds(store: AuditStore, events: readonly SealedEvent[], options: QueryOptions) {
  const begun = events.filter(({ outcome }) => outcome === 'begun')
  if (begun.length === 0) return events
  const seqs = begun.map(({ seq }) => seq)
  const chains = [...new Set(begun.map(({ chain }) => chain))]
  const ends = await store.rows<End>(auditEndsQuery(chains, Math.min(...seqs), Math.max(...seqs)), options)
  const byChain = Map.groupBy(ends, ({ chain }) => chain)
  return events.map((event) => {
    if (event.outcome !== 'begun') return event
    const isEnd = ({ ends_from, ends_to }: End) => Number(ends_from) <= event.seq && event.seq <= Number(ends_to)
    const end = byChain.get(event.chain)?.find(isEnd)
    return end === undefined ? event : { ...event, outcome: end.outcome }
  })
}

const lineOf = (event: SealedEvent): AuditLine => {
  const { at_us, details, scope, action, target, actor, actor_kind, key_id, address } = event
  const { request_id, outcome, chain, seq, hash } = event
  return {
    id: idOf(event),
    at: new Date(at_us / 1000).toISOString(),
    scope,
    action,
    target,
    actor,
    actor_kind,
    key_id,
    address,
    request_id,
    outcome,
    details: details === '' ? {} : JSON.parse(details),
    chain,
    seq,
    hash,
  }
}

/** @throws Fault 400 for a time or an id that is none */
export async function auditLines(store: AuditStore, asked: AuditRequest, options: QueryOptions): Promise<AuditLine[]> {
  const rows = await store.rows<Row>(auditEventsQuery(asked), options)
  return (await withEnds(store, rows.map(eventOf), options)).map(lineOf)
}

export const auditNamingQuery = systemQuery(
  'audit.naming',
  sql`SELECT ${cells} FROM callhouse.audit_events WHERE audit_events.action IN ${param('Array(String)', namesHeads)}
    ORDER BY audit_events.at`,
)

/** Events that name heads of chains, for `verifyChains`. */
export const namingEvents = async (store: AuditStore): Promise<SealedEvent[]> =>
  (await store.rows<Row>(auditNamingQuery, { pool: 'background' })).map(eventOf)

export const auditChainsQuery = systemQuery(
  'audit.chains',
  sql`SELECT chain, toString(min(seq)) AS first, toString(max(seq)) AS last FROM callhouse.audit_events
    GROUP BY chain ORDER BY min(at), chain`,
)

/** Not FINAL: what was put beside an event is to be seen. */
export const auditPieceQuery = (chains: readonly string[], from: number, to: number): Query =>
  systemQuery(
    'audit.piece',
    sql`SELECT ${cells} FROM callhouse.audit_events
      WHERE chain IN ${param('Array(String)', chains)} AND audit_events.seq >= ${param('UInt64', from)}
        AND audit_events.seq < ${param('UInt64', to)} ORDER BY chain, audit_events.seq, hash, audit_events.at`,
  )

export const auditNextQuery = (chain: string, from: number): Query =>
  systemQuery(
    'audit.next',
    sql`SELECT toString(min(seq)) AS next FROM callhouse.audit_events
      WHERE chain = ${param('String', chain)} AND audit_events.seq >= ${param('UInt64', from)}`,
  )

const pieceRows = 20_000
/** Behind every number of an event that this program gave. */
const beyond = Number.MAX_SAFE_INTEGER

/** Every stored row of every chain: chain by chain, each in the order of its numbers, some at a time. */
export async function* chainPieces(store: AuditStore): AsyncGenerator<SealedEvent[]> {
  const options = { pool: 'background' } as const
  const piece = async (chains: readonly string[], from: number, to: number) =>
    (await store.rows<Row>(auditPieceQuery(chains, from, to), options)).map(eventOf)
  let short: string[] = []
  let rows = 0
  for (const { chain, first, last } of await store.rows<{ chain: string; first: string; last: string }>(
    auditChainsQuery,
    options,
  )) {
    const [low, high] = [Number(first), Number(last)]
    if (high - low < pieceRows) {
      short.push(chain)
      rows += high - low + 1
      if (rows < pieceRows) continue
      yield await piece(short, 0, beyond)
      short = []
      rows = 0
      continue
    }
    for (let from = low; from <= high; ) {
      const events = await piece([chain], from, from + pieceRows)
      yield events
      from += pieceRows
      if (events.length > 0 || from > high) continue
      const [found] = await store.rows<{ next: string }>(auditNextQuery(chain, from), options)
      from = Math.max(from, Number(found?.next ?? beyond))
    }
  }
  if (short.length > 0) yield await piece(short, 0, beyond)
}
