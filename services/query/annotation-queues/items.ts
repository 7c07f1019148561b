// Items of a queue as they are shown: the call as it was added, and the state that some annotator reached last.

import type {
  AnnotationQueueItem,
  AnnotationQueueItemsQuery,
  AnnotationState,
} from '../../../schemas/annotation-queues.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { allOf } from '../calls/scope.ts'
import { asFewNumbers, asNumbers, type Columns, readTuples, rowReader } from '../compact-rows.ts'
import { deletedAmong } from '../deleted-calls.ts'
import type { Bounds, KeyedList, ListKey } from '../list-rows.ts'
import { type Sorted, sortedBy } from './sorted.ts'

/** One item of a queue; times in microseconds, endedUs 0 = it was running, position 0 = not asked for. */
export type ItemRow = {
  id: string
  callId: string
  startedUs: number
  endedUs: number
  opName: string
  traceId: string
  displayFields: string[]
  addedUs: number
  addedBy: string
  state: AnnotationState
  annotator: string
  position: number
}

export type Queue = { projectId: ProjectId; queueId: string }
type Filter = Partial<NonNullable<AnnotationQueueItemsQuery['filter']>>

/** Columns of an item under the alias `i`, with the names that conditions and orders use. */
const columnsWith = (values: Sql): Sql =>
  sql`i.id AS id, i.call_id AS call_id, toUnixTimestamp64Micro(i.call_started_at) AS started_us,
  toUnixTimestamp64Micro(i.call_ended_at) AS ended_us, i.call_op_name AS op_name, i.call_trace_id AS trace_id,
  ${values}, intDiv(i.clock, 1024) AS added_us, i.added_by AS added_by`
const columns = columnsWith(sql`i.display_fields AS display_fields`)
/** The measured size: as part of the order it is computed before the rows are sorted, in place of the values. */
const sizeColumns = columnsWith(sql`byteSize(i.display_fields, i.call_op_name) AS size`)

const sortColumns = new Map<string, Sql>([
  ['call_started_at', sql`started_us`],
  ['call_op_name', sql`op_name`],
  ['created_at', sql`added_us`],
  ['updated_at', sql`added_us`],
])
const asAdded: Sorted[] = [{ field: 'created_at', direction: 'asc' }]

export const itemsOrder = (sort: readonly Sorted[] | undefined): Sql => sortedBy(sort, sortColumns, asAdded)

function equalities({ id, call_id, call_op_name, call_trace_id, added_by }: Filter): Sql[] {
  const pairs: [Sql, string | undefined][] = [
    [sql`id`, id],
    [sql`q.call_id`, call_id],
    [sql`op_name`, call_op_name],
    [sql`trace_id`, call_trace_id],
    [sql`added_by`, added_by],
  ]
  return pairs.flatMap(([column, value]) => (value === undefined ? [] : [sql`${column} = ${param('String', value)}`]))
}

/** Items of some queues, but for those whose call is deleted. */
const liveItems = (project: ProjectScope, queues: Sql, { alias, final }: { alias?: 'i'; final?: true } = {}): Sql => {
  const calls = sql`SELECT call_id ${project.from('annotation_queue_items', { where: queues })}`
  const where = sql`${queues} AND call_id NOT IN ${deletedAmong(project, calls)}`
  return project.from('annotation_queue_items', { where, ...(alias && { alias }), ...(final && { final }) })
}

/** The state of each call that some annotator reached last. */
const statesOf = (progress: Sql): Sql =>
  sql`SELECT call_id, argMax(toString(state), clock) AS shown, argMax(annotator, clock) AS annotator
      ${progress} GROUP BY call_id`

export type ItemsPage = Bounds & {
  filter: Filter
  order: Sql
  includePosition: boolean
}

const state = sql`if(shown = '', 'unstarted', shown) AS state`
const itemColumns: Columns<ItemRow> = {
  id: sql`id`,
  callId: sql`q.call_id`,
  startedUs: sql`started_us`,
  endedUs: sql`ended_us`,
  opName: sql`op_name`,
  traceId: sql`trace_id`,
  displayFields: sql`display_fields`,
  addedUs: sql`added_us`,
  addedBy: sql`added_by`,
  state,
  annotator: sql`p.annotator`,
  position: sql`position`,
}
const itemReader = rowReader<ItemRow>(itemColumns)
type ItemKey = ListKey & Pick<ItemRow, 'position' | 'state'>
const keyReader = rowReader<ItemKey>({
  key: sql`q.call_id`,
  sizeBytes: sql`size`,
  position: sql`position`,
  state,
})

/** The content of a page of items: the items, or their calls, bytes and positions. Both are ordered alike. */
const shows = {
  items: { columns, select: itemReader.select, order: (order: Sql) => order, settings: asFewNumbers },
  keys: {
    columns: sizeColumns,
    select: keyReader.select,
    order: (order: Sql) => sql`${order}, size`,
    settings: asNumbers,
  },
}

const whereAll = (conditions: readonly Sql[]): Sql => (conditions.length > 0 ? sql`WHERE ${allOf(conditions)}` : sql``)

function pageQuery({ projectId, queueId }: Queue, page: ItemsPage, what: keyof typeof shows): Query {
  const shown = shows[what]
  return projectQuery(`annotation-queues.${what}`, projectId, (project) => {
    const queue = param('String', queueId)
    const states = page.filter.annotation_states ?? []
    const found = equalities(page.filter)
    // Positions count the whole queue, so they are given before anything is filtered.
    const order = shown.order(page.order)
    const position = page.includePosition ? sql`row_number() OVER (ORDER BY ${order})` : sql`0`
    const from = liveItems(project, sql`queue_id = ${queue}`, { alias: 'i', final: true })
    const items = sql`SELECT ${shown.columns}, ${position} AS position ${from}`
    const bounds = sql`LIMIT ${param('UInt64', page.limit ?? Number.MAX_SAFE_INTEGER)} OFFSET ${param('UInt64', page.offset)}`
    // Without a condition on the state only the progress of the page is looked at.
    const listed = sql`SELECT * FROM (${items}) AS q ${whereAll(found)} ORDER BY ${order} ${bounds}`
    const isPaged = states.length === 0 && page.limit !== null
    const ofCalls = isPaged
      ? sql`queue_id = ${queue} AND call_id IN (SELECT call_id FROM (${listed}))`
      : sql`queue_id = ${queue}`
    const progress = project.from('annotation_queue_progress', { final: true, where: ofCalls })
    const conditions = isPaged ? [] : found
    if (states.length > 0) conditions.push(sql`state IN (${param('Array(String)', states)})`)
    return sql`SELECT ${shown.select}
    FROM (${isPaged ? listed : items}) AS q
    LEFT JOIN (${statesOf(progress)}) AS p ON p.call_id = q.call_id
    ${whereAll(conditions)}
    ORDER BY ${order}
    ${isPaged ? sql`` : bounds}
    ${shown.settings}`
  })
}

export const itemsQuery = (queue: Queue, page: ItemsPage): Query => pageQuery(queue, page, 'items')

/** The items of some calls, without their positions. */
const itemsOfCallsQuery = ({ projectId, queueId }: Queue, callIds: readonly string[]): Query =>
  projectQuery('annotation-queues.items-of-calls', projectId, (project) => {
    const where = sql`queue_id = ${param('String', queueId)} AND call_id IN (${param('Array(String)', callIds)})`
    const items = project.from('annotation_queue_items', { alias: 'i', final: true, where })
    return sql`SELECT ${itemReader.select} FROM (SELECT ${columns}, 0 AS position ${items}) AS q
    LEFT JOIN (${statesOf(project.from('annotation_queue_progress', { final: true, where }))}) AS p
      ON p.call_id = q.call_id
    ${asNumbers}`
  })

/** The items of a page, by their calls when they are too large to come at once. */
export const itemsList = (queue: Queue, page: ItemsPage): KeyedList<ItemRow, ItemKey> => ({
  whole: itemsQuery(queue, page),
  keys: (slice) => pageQuery(queue, { ...page, ...slice }, 'keys'),
  of: (callIds) => itemsOfCallsQuery(queue, callIds),
  rows: itemReader.rows,
  keyRows: keyReader.rows,
  keyOf: ({ callId }) => callId,
  complete: (row, { position }) => ({ ...row, position }),
})

const itemAlone = rowReader<ItemRow>({
  ...itemColumns,
  callId: sql`call_id`,
  state: sql`'unstarted'`,
  annotator: sql`''`,
  position: sql`0`,
})

/** One item, without the progress of its annotators. */
export const itemQuery = ({ projectId, queueId }: Queue, itemId: string): Query =>
  projectQuery('annotation-queues.item', projectId, (project) => {
    const where = sql`queue_id = ${param('String', queueId)} AND id = ${param('String', itemId)}`
    const items = liveItems(project, where, { alias: 'i', final: true })
    return sql`SELECT ${itemAlone.select} FROM (SELECT ${columns} ${items} LIMIT 1) ${asNumbers}`
  })

export async function readItem(
  store: Pick<Store, 'bytes'>,
  queue: Queue,
  itemId: string,
  options: QueryOptions,
): Promise<ItemRow | undefined> {
  const [item] = await itemAlone.read(store, itemQuery(queue, itemId), options)
  return item
}

export const shownItem = ({ projectId, queueId }: Queue, row: ItemRow): AnnotationQueueItem => {
  const added = formatTimestamp(row.addedUs)
  return {
    id: row.id,
    project_id: projectId,
    queue_id: queueId,
    call_id: row.callId,
    call_started_at: formatTimestamp(row.startedUs),
    call_ended_at: row.endedUs === 0 ? null : formatTimestamp(row.endedUs),
    call_op_name: row.opName,
    call_trace_id: row.traceId,
    display_fields: row.displayFields,
    annotation_state: row.state,
    created_at: added,
    updated_at: added,
    deleted_at: null,
    created_by: row.addedBy,
    added_by: row.addedBy,
    annotator_user_id: row.annotator,
    position_in_queue: row.position === 0 ? null : row.position,
  }
}

/** Entries of a list that one statement takes. */
const maxValues = 1_000

const batchesOf = (values: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(values.length / maxValues) }, (_, n) =>
    values.slice(n * maxValues, (n + 1) * maxValues),
  )

/** Reads a long list of values batch by batch. */
export async function inBatches<Row>(
  values: readonly string[],
  read: (batch: string[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const batch of batchesOf(values)) for (const row of await read(batch)) rows.push(row)
  return rows
}

type Counts = [queueId: string, total: number, completed: number]

/** Calls of queues, and how many of them someone has completed or skipped. */
export const itemCountsQuery = (projectId: ProjectId, queueIds: readonly string[]): Query =>
  projectQuery('annotation-queues.counts', projectId, (project) => {
    const queues = sql`queue_id IN (${param('Array(String)', queueIds)})`
    const items = liveItems(project, queues)
    // Once reached, such a state is never left: every version of a row tells the truth.
    const progress = project.from('annotation_queue_progress', { where: sql`${queues} AND state != 'in_progress'` })
    return sql`SELECT queue_id, toUInt32(count()), toUInt32(sum(done)) FROM
      (SELECT queue_id, call_id, max(is_done) AS done FROM
        (SELECT queue_id, call_id, 0 AS is_done ${items}
        UNION ALL SELECT queue_id, call_id, 1 AS is_done ${progress})
      GROUP BY queue_id, call_id HAVING min(is_done) = 0)
    GROUP BY queue_id`
  })

/** Counts by queue id; queues without items are not in it. */
export async function readCounts(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  queueIds: readonly string[],
  options: QueryOptions,
): Promise<Map<string, { total: number; completed: number }>> {
  const rows = await inBatches(queueIds, (batch) =>
    readTuples<Counts>(store, itemCountsQuery(projectId, batch), options),
  )
  return new Map(rows.map(([queueId, total, completed]) => [queueId, { total, completed }]))
}
