// Where the lines of an export come from: per table the keys to page by, and the SELECT that turns a range of rows into lines.
import { type TopicName, topics } from '../../events/registry.ts'
import { endColumns, startColumns } from '../../tables/calls.ts'
import type { ExportedLine } from '../../tables/declaration.ts'
import { type DeclaredTable, indexColumns, tableColumns, tableNamed, tables } from '../../tables/registry.ts'
import { lineageOf } from '../rebuild/lineage.ts'
import { rowSql } from './row-sql.ts'

/** A column of the key: how it is read as text, and how such a text is compared with it. */
type KeyColumn = { column: string; read: string; type: string; bound?: (parameter: string) => string }

export type ExportedTable = {
  topic: TopicName
  table: string
  /** After the project, in the order of the table. */
  keys: readonly KeyColumn[]
  /** About the size of a row's line. */
  bytes: string
  /** Rows that the source is about, besides the range. */
  only?: string
  /**
   * Statement whose only column is a line. One that begins with `!` is a row whose other half was not found.
   * @param range condition on the table's own columns
   * @param scope condition on the project alone, for the tables that are joined
   */
  lines(range: string, scope: string): string
}

/** Lines of rows that other tables have a part of. */
type JoinedLines = Pick<ExportedTable, 'bytes' | 'only' | 'lines'>

const instant =
  (unit: 'Micro' | 'Nano') =>
  (column: string): KeyColumn => ({
    column,
    read: `toString(toUnixTimestamp64${unit}(${column}))`,
    type: 'Int64',
    bound: (parameter) => `fromUnixTimestamp64${unit}(${parameter}, 'UTC')`,
  })

/** Keys by the beginning of their types; those of all others are texts. */
const keyKinds: Readonly<Record<string, (column: string) => KeyColumn>> = {
  UInt: (column) => ({ column, read: `toString(${column})`, type: 'UInt64' }),
  Enum8: (column) => {
    const number = `CAST(${column}, 'Int8')`
    return { column: number, read: `toString(${number})`, type: 'Int8' }
  },
  'DateTime64(6': instant('Micro'),
  'DateTime64(9': instant('Nano'),
}

/** After the project. */
function keysOf(table: DeclaredTable): KeyColumn[] {
  const types = new Map(tableColumns(table))
  return indexColumns(table)
    .slice(1)
    .map((column) => {
      const kind = Object.keys(keyKinds).find((begin) => types.get(column)?.startsWith(begin)) ?? ''
      return keyKinds[kind]?.(column) ?? { column, read: column, type: 'String' }
    })
}

/** Columns that lines have under the same names. */
const sameColumns = (columns: string, topic: TopicName): string[] =>
  tableColumns({ columns }).flatMap(([name]) => (name in topics[topic].columns ? [name] : []))

const ofStart = sameColumns(startColumns(), 'calls')
const ofEnd = sameColumns(endColumns(), 'calls')
const maskColumns = ['mask', 'mask_hits']
const us = (column: string): string => `toUnixTimestamp64Micro(${column})`
const of = (alias: string, columns: readonly string[]): Record<string, string> =>
  Object.fromEntries(columns.map((name) => [name, `${alias}.${name}`]))

const callLine = (kind: string, cells: Record<string, string>): string =>
  rowSql(topics.calls, { kind: `'${kind}'`, ...of('c', ['project_id', 'id']), ...cells })

/** The row of payloads that `side` was read from, whole: its raw span may stand on its other texts. */
const completeLine = (side: string, clock: string, startedAt: string): string =>
  callLine('complete', {
    clock,
    started_us: us(startedAt),
    ended_us: us('c.ended_at'),
    ...of('c', ofStart),
    ...of('c', ofEnd),
    ...of(side, ['odd', 'attributes', 'inputs', 'output', 'summary', 'otel_dump', ...maskColumns]),
  })

/** Rows of payloads; `found` is 1 where there is one. Those that came twice may lie there twice. */
const payloads = (parts: string, range: string): string =>
  `SELECT *, 1 AS found FROM callhouse.payloads WHERE ${parts} AND ${range} LIMIT 1 BY project_id, at, id, clock`

/** Condition for the fragment that the call shows, not for a newer one that is not merged yet. */
const isOf = (alias: string, time: string, clock: string): string =>
  `${alias}.project_id = c.project_id AND ${alias}.at = c.${time} AND ${alias}.id = c.id AND ${alias}.clock = c.${clock}`

const calls: JoinedLines = {
  bytes: 'start_bytes + end_bytes + 1000',
  only: 'moved = 0',
  lines: (range, scope) => {
    const rows = `SELECT * FROM callhouse.calls FINAL WHERE moved = 0 AND ${range}`
    const places = (time: string) => `(project_id, at, id) IN (SELECT project_id, ${time}, id FROM (${rows}))`
    return `SELECT arrayJoin(arrayFilter(line -> line != '', [
      concat(if(s.found = 0, '!', ''), if(c.end_ver = c.start_ver OR (s.found = 1 AND s.part = 'both'),
        ${completeLine('s', 'c.start_ver', 'c.started_at')},
        ${callLine('start', {
          clock: 'c.start_ver',
          started_us: us('c.started_at'),
          ...of('c', ofStart),
          ...of('s', ['odd', 'attributes', 'inputs', 'otel_dump', ...maskColumns]),
        })})),
      if(c.end_ver = 0 OR c.end_ver = c.start_ver, '', concat(if(e.found = 0, '!', ''),
        if(e.found = 1 AND e.part = 'both', ${completeLine('e', 'c.end_ver', 'c.output_at')},
        ${callLine('end', {
          clock: 'c.end_ver',
          ended_us: us('c.ended_at'),
          payload_us: us('c.output_at'),
          ...of('c', ofEnd),
          ...of('e', ['odd', 'output', 'summary', ...maskColumns]),
        })})))])) AS line
    FROM (${rows}) AS c
    LEFT JOIN (${payloads(`part != 'end'`, `${scope} AND ${places('started_at')}`)}) AS s
      ON ${isOf('s', 'started_at', 'start_ver')}
    LEFT JOIN (${payloads(`part != 'start'`, `${scope} AND ${places('output_at')}`)}) AS e
      ON ${isOf('e', 'output_at', 'end_ver')}`
  },
}

/** Names and deletes of all calls, and ends that no call shows: they came before their starts, or lost to newer ones. */
const patches: JoinedLines = {
  bytes: `if(kind = 'end', end_bytes, 0) + 500`,
  only: `kind != 'start'`,
  lines: (range, scope) => {
    const rows = `SELECT * FROM callhouse.call_patches FINAL WHERE kind != 'start' AND ${range}`
    const shown = `SELECT project_id, id, end_ver FROM callhouse.calls FINAL
      WHERE moved = 0 AND ${scope} AND (project_id, started_at, id) IN
      (SELECT project_id, started_at, key FROM callhouse.call_keys
        WHERE ${scope} AND kind = 'id' AND (project_id, key) IN (SELECT project_id, id FROM (${rows}) WHERE kind = 'end'))`
    return `SELECT multiIf(
      c.kind = 'name', ${callLine('name', { clock: 'c.clock', named: '1', display_name: 'c.display_name' })},
      c.kind = 'delete', ${callLine('delete', { clock: 'c.clock' })},
      concat(if(e.found = 0, '!', ''), ${callLine('end', {
        clock: 'c.clock',
        ended_us: us('c.ended_at'),
        payload_us: us('c.output_at'),
        ...of('c', ofEnd),
        ...of('e', ['odd', 'output', 'summary', ...maskColumns]),
      })})) AS line
    FROM (${rows}) AS c
    LEFT JOIN (${payloads(
      `part = 'end'`,
      `${scope} AND (project_id, at, id) IN (SELECT project_id, output_at, id FROM (${rows}) WHERE kind = 'end')`,
    )}) AS e ON ${isOf('e', 'output_at', 'clock')}
    WHERE c.kind != 'end' OR (c.project_id, c.id, c.clock) NOT IN (${shown})`
  },
}

/** Events by version; the newest creation carries the content, which is stored once. */
const objects: JoinedLines = {
  bytes: 'length(val) + 1000',
  lines: (range, scope) => `SELECT ${rowSql(topics.objects, {
    ...of('o', ['project_id', 'object_id', 'kind', 'digest']),
    clock: 'event.1',
    event: 'event.2',
    user_id: 'event.3',
    base_object_class: 'event.4',
    leaf_object_class: `if(event.2 = 'created', o.leaf_object_class, '')`,
    refs: `if(event.1 = h.top, o.refs, [])`,
    size_bytes: `if(event.2 = 'created', o.size_bytes, 0)`,
    val: `if(event.1 = h.top, o.val, '')`,
  })} AS line
    FROM (SELECT * FROM callhouse.objects FINAL WHERE ${range}) AS o
    INNER JOIN (
      SELECT project_id, object_id, kind, digest, maxIf(clock, event = 'created') AS top,
        arraySort(groupUniqArray((clock, toString(event), toString(user_id), toString(base_object_class)))) AS events
      FROM callhouse.object_events
      WHERE ${scope} AND (project_id, object_id, kind, digest) IN
        (SELECT project_id, object_id, kind, digest FROM callhouse.objects WHERE ${range})
      GROUP BY project_id, object_id, kind, digest
    ) AS h ON h.project_id = o.project_id AND h.object_id = o.object_id AND h.kind = o.kind AND h.digest = o.digest
    ARRAY JOIN h.events AS event`,
}

/** Lines of rows that are those of the topic but for some names. */
const linesOf =
  (table: DeclaredTable, topic: TopicName, { cells, only }: ExportedLine): ExportedTable['lines'] =>
  (range) => {
    const same = sameColumns(table.columns, topic).map((name) => [name, name])
    return `SELECT ${rowSql(topics[topic], { ...Object.fromEntries(same), ...cells })} AS line
    FROM (SELECT * FROM callhouse.${table.name} FINAL WHERE ${range})${only ? ` WHERE ${only}` : ''}`
  }

const joined: Readonly<Record<string, JoinedLines>> = { call_patches: patches, calls, objects }

function exportedTable(table: DeclaredTable, line: ExportedLine | JoinedLines | undefined): ExportedTable {
  const origin = lineageOf(table.name)
  if (origin?.from !== 'log' || line === undefined) throw new Error(`it is not known how ${table.name} is exported`)
  const { topic } = origin
  const { bytes, only } = line
  const lines = 'lines' in line ? line.lines : linesOf(table, topic, line)
  return { topic, table: table.name, keys: keysOf(table), bytes, ...(only && { only }), lines }
}

/** In the order in which an import should see them: what others refer to first. Of files those whose rows hold the content. */
export const sources: readonly ExportedTable[] = tables
  .filter(({ exported }) => exported)
  .map((table) => exportedTable(table, table.exported === 'joined' ? joined[table.name] : table.exported || undefined))

/** The other files, which follow with their contents (archive.ts). */
export const blobFiles = exportedTable(tableNamed('files'), {
  bytes: '500',
  only: `blob != ''`,
  cells: { content: "''" },
})
