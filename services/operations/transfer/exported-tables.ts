// Where the lines of an export come from: per table the keys to page by, and the SELECT that turns a range of rows into lines.
import { type TopicName, topics } from '../../events/registry.ts'
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

const text = (column: string): KeyColumn => ({ column, read: column, type: 'String' })
const number = (column: string): KeyColumn => ({ column, read: `toString(${column})`, type: 'UInt64' })
const choice = (column: string): KeyColumn => ({
  column: `CAST(${column}, 'Int8')`,
  read: `toString(CAST(${column}, 'Int8'))`,
  type: 'Int8',
})
const instant = (column: string): KeyColumn => ({
  column,
  read: `toString(toUnixTimestamp64Micro(${column}))`,
  type: 'Int64',
  bound: (parameter) => `fromUnixTimestamp64Micro(${parameter}, 'UTC')`,
})

const instantNano = (column: string): KeyColumn => ({
  column,
  read: `toString(toUnixTimestamp64Nano(${column}))`,
  type: 'Int64',
  bound: (parameter) => `fromUnixTimestamp64Nano(${parameter}, 'UTC')`,
})

const same = (...columns: string[]): Record<string, string> => Object.fromEntries(columns.map((name) => [name, name]))
const word = (value: string): string => `'${value}'`

const startColumns = [
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'op_name',
  'user_id',
  'run_id',
  'run_step',
  'input_refs',
  'start_bytes',
]
const endColumns = [
  'exception',
  'run_step_end',
  'output_refs',
  'error_count',
  'usage_model',
  'usage_requests',
  'usage_input',
  'usage_output',
  'usage_total',
  'usage_cache_read',
  'usage_cache_write',
  'end_bytes',
]
const maskColumns = ['mask', 'mask_hits']
const us = (column: string): string => `toUnixTimestamp64Micro(${column})`
const of = (alias: string, columns: readonly string[]): Record<string, string> =>
  Object.fromEntries(columns.map((name) => [name, `${alias}.${name}`]))

const callLine = (kind: string, cells: Record<string, string>): string =>
  rowSql(topics.calls, { kind: word(kind), ...of('c', ['project_id', 'id']), ...cells })

/** The row of payloads that `side` was read from, whole: its raw span may stand on its other texts. */
const completeLine = (side: string, clock: string, startedAt: string): string =>
  callLine('complete', {
    clock,
    started_us: us(startedAt),
    ended_us: us('c.ended_at'),
    ...of('c', startColumns),
    ...of('c', endColumns),
    ...of(side, ['odd', 'attributes', 'inputs', 'output', 'summary', 'otel_dump', ...maskColumns]),
  })

/** Rows of payloads; `found` is 1 where there is one. Those that came twice may lie there twice. */
const payloads = (parts: string, range: string): string =>
  `SELECT *, 1 AS found FROM callhouse.payloads WHERE ${parts} AND ${range} LIMIT 1 BY project_id, at, id, clock`

/** Of the fragment that the call shows, not of a newer one that is not merged yet. */
const isOf = (alias: string, time: string, clock: string): string =>
  `${alias}.project_id = c.project_id AND ${alias}.at = c.${time} AND ${alias}.id = c.id AND ${alias}.clock = c.${clock}`

const calls: ExportedTable = {
  topic: 'calls',
  table: 'calls',
  keys: [instant('started_at'), text('id')],
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
          ...of('c', startColumns),
          ...of('s', ['odd', 'attributes', 'inputs', 'otel_dump', ...maskColumns]),
        })})),
      if(c.end_ver = 0 OR c.end_ver = c.start_ver, '', concat(if(e.found = 0, '!', ''),
        if(e.found = 1 AND e.part = 'both', ${completeLine('e', 'c.end_ver', 'c.output_at')},
        ${callLine('end', {
          clock: 'c.end_ver',
          ended_us: us('c.ended_at'),
          payload_us: us('c.output_at'),
          ...of('c', endColumns),
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
const patches: ExportedTable = {
  topic: 'calls',
  table: 'call_patches',
  keys: [text('id'), choice('kind')],
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
        ...of('c', endColumns),
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
const objects: ExportedTable = {
  topic: 'objects',
  table: 'objects',
  keys: [text('object_id'), choice('kind'), text('digest')],
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

/** A table whose rows are the rows of its topic but for some names. */
const plain = (source: Omit<ExportedTable, 'lines'> & { cells: Record<string, string> }): ExportedTable => ({
  ...source,
  lines: (range) => `SELECT ${rowSql(topics[source.topic], source.cells)} AS line
    FROM (SELECT * FROM callhouse.${source.table} FINAL WHERE ${range})${source.only ? ` WHERE ${source.only}` : ''}`,
})

const clockBits = '9223372036854775807'

/** Files whose content lies in the rows; the others follow with their contents (archive.ts). */
const files = plain({
  topic: 'files',
  table: 'files',
  keys: [text('digest'), number('chunk_index')],
  bytes: 'length(content) * 4 / 3 + 300',
  only: `blob = ''`,
  cells: {
    ...same('project_id', 'digest', 'clock', 'chunk_index', 'n_chunks', 'name', 'size_bytes'),
    content: 'base64Encode(content)',
  },
})

export const blobFiles = plain({
  topic: 'files',
  table: 'files',
  keys: [text('digest'), number('chunk_index')],
  bytes: '500',
  only: `blob != ''`,
  cells: same('project_id', 'digest', 'clock', 'chunk_index', 'n_chunks', 'name', 'size_bytes', 'blob'),
})

const tables: ExportedTable[] = [
  plain({
    topic: 'tables',
    table: 'table_rows',
    keys: [text('digest')],
    bytes: 'length(val) + 300',
    cells: { ...same('project_id', 'digest', 'size_bytes', 'val'), kind: word('row'), clock: 'bitNot(age)' },
  }),
  plain({
    topic: 'tables',
    table: 'table_lists',
    keys: [text('digest'), number('chunk_index')],
    bytes: 'length(row_digests) * 50 + 300',
    cells: {
      ...same('project_id', 'digest', 'chunk_index', 'row_count', 'row_digests'),
      kind: word('list'),
      clock: 'bitNot(age)',
    },
  }),
]

const feedback = plain({
  topic: 'feedback',
  table: 'feedback',
  keys: [text('id')],
  bytes: 'length(payload) + length(readable_payload) + 2000',
  cells: { ...same(...Object.keys(topics.feedback.columns)), event: `if(purged = 1, 'purged', 'created')` },
})

const costs = plain({
  topic: 'costs',
  table: 'costs',
  keys: [text('id')],
  bytes: '600',
  cells: {
    ...same(...Object.keys(topics.costs.columns)),
    clock: `bitAnd(version, ${clockBits})`,
    event: `if(purged = 1, 'purged', 'created')`,
    user_id: 'created_by',
    effective_us: us('effective_date'),
  },
})

const queues: ExportedTable[] = [
  plain({
    topic: 'annotation_queues',
    table: 'annotation_queues',
    keys: [text('queue_id'), choice('part')],
    bytes: 'length(text) + 1000',
    cells: {
      ...same('project_id', 'queue_id', 'clock', 'user_id'),
      event: `multiIf(part = 'created', 'created', part = 'deleted', 'deleted', 'updated')`,
      parts: '[toString(part)]',
      name: `if(part = 'name', text, '')`,
      description: `if(part = 'description', text, '')`,
      scorer_refs: `if(part = 'scorer_refs', refs, [])`,
    },
  }),
  plain({
    topic: 'annotation_queues',
    table: 'annotation_queue_items',
    keys: [text('queue_id'), text('call_id')],
    bytes: '1000',
    cells: {
      ...same('project_id', 'queue_id', 'call_id', 'clock', 'call_op_name', 'call_trace_id', 'display_fields'),
      event: word('item_added'),
      user_id: 'added_by',
      item_id: 'id',
      call_started_us: us('call_started_at'),
      call_ended_us: us('call_ended_at'),
    },
  }),
  plain({
    topic: 'annotation_queues',
    table: 'annotation_queue_progress',
    keys: [text('queue_id'), text('call_id'), text('annotator')],
    bytes: '400',
    cells: {
      ...same('project_id', 'queue_id', 'call_id', 'clock', 'state'),
      event: word('progressed'),
      user_id: 'annotator',
    },
  }),
]

const labels = plain({
  topic: 'object_labels',
  table: 'object_labels',
  keys: [text('object_id'), choice('label_kind'), text('scope'), text('label')],
  bytes: '400',
  cells: same(...Object.keys(topics.object_labels.columns)),
})

const trainingJobs = plain({
  topic: 'training_jobs',
  table: 'training_jobs',
  keys: [text('id')],
  bytes: 'length(config) + length(experimental_config) + 1000',
  cells: {
    ...same(...Object.keys(topics.training_jobs.columns)),
    clock: 'bitNot(age)',
    event: word('training.job.created'),
    user_id: 'created_by',
  },
})

const evaluationJobs = plain({
  topic: 'evaluation_jobs',
  table: 'evaluation_jobs',
  keys: [text('call_id')],
  bytes: '1000',
  cells: { ...same(...Object.keys(topics.evaluation_jobs.columns)), event: 'state' },
})

const logs = plain({
  topic: 'logs',
  table: 'logs',
  keys: [instantNano('at'), text('id')],
  bytes: 'length(body) + length(toString(attributes)) + 2000',
  cells: {
    ...same(...Object.keys(topics.logs.columns)),
    at_ns: 'toUnixTimestamp64Nano(at)',
    observed_ns: 'toUnixTimestamp64Nano(observed_at)',
    deleted: '0',
  },
})

const deletedLogs = plain({
  topic: 'logs',
  table: 'logs_deleted',
  keys: [text('id'), instantNano('at')],
  bytes: '300',
  cells: { ...same('project_id', 'id'), clock: 'delete_ver', at_ns: 'toUnixTimestamp64Nano(at)', deleted: '1' },
})

/** In the order in which an import should see them: what others refer to first. */
export const sources: readonly ExportedTable[] = [
  files,
  objects,
  labels,
  ...tables,
  costs,
  patches,
  calls,
  feedback,
  ...queues,
  trainingJobs,
  evaluationJobs,
  logs,
  deletedLogs,
]

/** Tables that follow from the others when their rows are applied again, and usage and audit, which are those of an installation. */
export const followingTables: readonly string[] = [
  'payloads',
  'object_events',
  'feedback_by_ref',
  'logs_by_span',
  'log_joins',
  'log_evaluations',
  'log_turns',
  'log_turns_due',
  'usage_minutes',
  'usage_shares',
  'orphan_roots',
  'audit_events',
  'erasures',
]
