// The places of a removal: which rows of which tables belong to erased calls and log records, or are too old. All of it
// follows from the declarations of the tables.
import type { Erasable, Retained } from '../tables/declaration.ts'
import { type DeclaredTable, type TimeKind, tables, tablesOfKind, timeKindOf } from '../tables/registry.ts'
import { type Place, sqlOf } from './engine.ts'
import { heldRecord } from './held-calls.ts'

const erasable = tables.flatMap(({ name, erased }) => (erased ? [{ table: name, erased }] : []))

const idIn = (column: string): string => `${column} IN {ids:Array(String)}`
export const byTime = `at >= fromUnixTimestamp64Nano({least:Int64}, 'UTC') AND at <= fromUnixTimestamp64Nano({most:Int64}, 'UTC')`

/** Condition on rows of a table that belong to erased calls. */
function ofCalls(erased: Erasable): string | undefined {
  if ('call' in erased) return idIn(erased.call) + (erased.where ? ` AND ${erased.where}` : '')
  if ('ref' in erased) return `${erased.ref} IN {refs:Array(String)}`
  return 'record' in erased && erased.isCall ? `${erased.record} IN {records:Array(String)}` : undefined
}

/** Condition on rows of a table that belong to erased log records. */
function ofRecords(erased: Erasable): string | undefined {
  if (!('record' in erased)) return undefined
  return (erased.byTime ? `${byTime} AND ` : '') + idIn(erased.record)
}

const placesBy = (of: (erased: Erasable) => string | undefined): Place[] =>
  erasable.flatMap(({ table, erased }) => {
    const where = of(erased)
    return where === undefined ? [] : [{ table, where }]
  })

const finding = tablesOfKind('call')
/**
 * By the rows of these tables deleted calls are found: an end that came again may be all there is of one. Deletes stay: a part
 * that comes again belongs to a deleted call.
 */
export const callPlaces = placesBy(ofCalls).filter(({ table }) => finding.includes(table))
/** All other rows of calls. */
export const partPlaces = placesBy(ofCalls).filter(({ table }) => !finding.includes(table))
/** By the last two deleted records are found. */
export const recordPlaces = placesBy(ofRecords)

/** By which column a row of a table belongs to a call, removed rows included: where it tells of no other. */
export const tracedPlaces = erasable.flatMap(({ table, erased }) => {
  const until = 'clock <= {until:UInt64}'
  if ('call' in erased) {
    const { call, where, isLater } = erased
    return [{ table, id: `${table}.${call}`, where: [where, isLater && until].filter(Boolean).join(' AND ') || '1' }]
  }
  if (!('ref' in erased && erased.isLater)) return []
  const id = `substring(${erased.ref}, length({project:String}) + ${'weave:////call/'.length + 1})`
  const where = `startsWith(${erased.ref}, concat('weave:///', {project:String}, '/call/')) AND ${until}`
  return [{ table, id, where }]
})

/** Tables of the field index. The note that a payload is indexed goes before its values. */
export const valuePlaces = erasable.flatMap(({ table, erased }) =>
  'values' in erased ? [{ table, lists: erased.values }] : [],
)

/** Tables whose files may hold what was erased. */
export const erasedTables = erasable.map(({ table }) => table)

/** Tables with records about projects, which outlast them. */
export const keptTables = tables.filter(({ outlastsProject }) => outlastsProject).map(({ name }) => name)

export type AgedTable = {
  table: string
  /** Time of a row in microseconds. */
  us: string
  of: Retained
  /** Condition on rows of held calls; 'derived' = a row is of many calls. */
  held: string
}

const microsOf: Record<TimeKind, (column: string) => string> = {
  micros: (column) => column,
  time64: (column) => `toUnixTimestamp64Micro(${column})`,
  time: (column) => `toInt64(toUnixTimestamp(${column})) * 1000000`,
}

/** Days after which a part of a call whose start is not known is as old as a call that was accepted with it. */
const loneDays = 30
/** Time of a part of a call: its start, or when it was accepted. Deletes stay: a part that comes again is of a deleted call. */
const partTime = `multiIf(kind = 'delete', toInt64(9223372036854775807), kind = 'start', ${microsOf.time64('started_at')},
  toInt64(bitShiftRight(clock, 10)) + ${loneDays * 86_400_000_000})`

function heldRowsOf({ name, kind, erased }: DeclaredTable, us: string): string {
  if (kind === 'rollup' || erased === undefined) return 'derived'
  if (name === 'call_keys') return `(key IN {keys:Array(String)} AND ${us} IN {times:Array(Int64)})`
  if (name === 'logs') return heldRecord
  // Log records that are still there belong to held calls.
  if ('record' in erased) return sqlOf('purge.held-logs', { id: erased.record, heldRecord })
  return idIn('id')
}

const turnOf = ({ name, kind }: DeclaredTable): number => (name === 'calls' ? 0 : kind === 'rollup' ? 2 : 1)

/**
 * Calls first: a call whose payload is gone could not be read; what is derived last. Partitions are months of the same time,
 * or one of all.
 */
export const agedTables: readonly AgedTable[] = tables
  .toSorted((a, b) => turnOf(a) - turnOf(b))
  .flatMap((table): AgedTable[] => {
    const { name, purged } = table
    if (purged === undefined || purged === 'aside') return []
    const us = name === 'call_patches' ? partTime : microsOf[timeKindOf(table, purged.by)](purged.by)
    return [{ table: name, us, of: purged.of, held: heldRowsOf(table, us) }]
  })

/** Files lie in rows of their own, and leave only when nothing names them; feedback leaves with its call. */
export const purgedAside = tables.filter(({ purged }) => purged === 'aside').map(({ name }) => name)

/** Counters and statistics, with the column that is a time in an hour. */
export const countersOf = (of: 'calls' | 'stats'): { table: string; hour: string }[] =>
  tables.flatMap(({ name, kind, purged }) =>
    kind === 'rollup' && typeof purged === 'object' && purged.of === of ? [{ table: name, hour: purged.by }] : [],
  )
