// Reads the spans of one trace: their headers, usage and costs, the kinds that attributes name, and how much feedback each has.
import { setImmediate as turn } from 'node:timers/promises'
import type { ProjectId } from '../../core/ids.ts'
import { rowBinary } from '../../core/store/row-binary.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { readPages } from '../calls/access/read-calls.ts'
import type { PayloadPlace } from '../calls/payloads.ts'
import type { CallReader } from '../calls/reader.ts'
import { plainName } from '../calls/record.ts'
import { allOf, everything, type Index, timeConditions } from '../calls/scope.ts'
import { rowReader } from '../compact-rows.ts'
import type { Billed } from '../costs/billed.ts'
import type { PriceBook } from '../costs/prices.ts'
import { feedbackEverOnRefs } from '../feedback/condition.ts'
import { addCosts, type CostsOf, costsBy, type Usage, type UsageColumns, usageOf } from '../usage/entries.ts'
import { billedOfRows, billedRowColumns } from '../usage/load.ts'
import type { Span } from './columns.ts'
import { sumsOf } from './counted.ts'
import { spanKindsQuery } from './span-kinds.ts'

/** Spans that are read at once: each statement looks for the whole trace. */
const statementRows = 32_000
/** Rows between which others have their turn. */
const rowsBetweenTurns = 10_000
/** Longer messages are cut: an overview shows no more of them. */
const maxError = param('UInt32', 300)

type TreeRow = PayloadPlace &
  UsageColumns & {
    parentId: string
    op: string
    displayName: string
    endedUs: number
    exception: string
    errorCount: number
    user: string
    thread: string
    turn: string
    size: number
  }

const treeReader = rowReader<TreeRow>({
  ...billedRowColumns,
  parentId: sql`c.parent_id`,
  op: sql`c.op_name`,
  displayName: sql`c.display_name`,
  endedUs: sql`toUnixTimestamp64Micro(c.ended_at)`,
  exception: sql`substringUTF8(c.exception, 1, ${maxError})`,
  errorCount: sql`c.error_count`,
  user: sql`c.user_id`,
  thread: sql`c.thread_id`,
  turn: sql`c.turn_id`,
  size: sql`c.start_bytes + c.end_bytes`,
})

/** Feedback of the calls of a trace: their refs, with counts. */
export const feedbackCountsQuery = (projectId: ProjectId, index: Index): Query =>
  projectQuery('trace-tree.feedback', projectId, (project) => {
    const where = allOf([
      ...timeConditions(project, sql`started_at`, { projectId, range: everything, index, keys: null }),
      sql`trace_id IN (${param('Array(String)', index.values)})`,
    ])
    const before = param('String', `weave:///${projectId}/call/`)
    const refs = sql`SELECT concat(${before}, id) ${project.from('calls', { where })}`
    // Not again among the refs, which would read the calls twice: what is on other calls is not looked up.
    const given = sql`${feedbackEverOnRefs(project, refs)} AND startsWith(f.weave_ref, ${before}) AND f.purged = 0`
    return sql`SELECT substring(f.weave_ref, length(${before}) + 1), toInt64(count())
      ${project.from('feedback', { alias: 'f', final: true, where: given })} GROUP BY f.weave_ref`
  })

/** Rows of texts and numbers by a key; a long answer lets others have their turn. */
async function mapOf<Value>(answer: Buffer, read: (row: ReturnType<typeof rowBinary>) => [string, Value]) {
  const found = new Map<string, Value>()
  const rows = rowBinary(answer)
  while (!rows.isAtEnd()) {
    const [key, value] = read(rows)
    found.set(key, value)
    if (found.size % rowsBetweenTurns === 0) await turn()
  }
  return found
}

const noUsage = { tokensIn: null, tokensOut: null, cost: null }
const copyOf = (usage: Usage): Usage => new Map([...usage].map(([model, entry]) => [model, [...entry]]))

type Bill = { billed: ReadonlyMap<string, Billed>; book: PriceBook; costsOf: CostsOf }

function spanOf(row: TreeRow, { billed, book, costsOf }: Bill): Omit<Span, 'kind' | 'feedback'> {
  const { id, parentId, op, user, thread, turn, size, models, startedUs, exception } = row
  const usage = usageOf(row, billed)
  const hasPrice = models.some((model) => book.at(model, startedUs) !== null)
  const reported = usage && { usage: copyOf(usage), startedUs, hasPrice, costsOf }
  if (usage) addCosts(usage, startedUs, costsOf)
  return {
    id,
    parentId,
    op,
    name: row.displayName || plainName(op),
    user,
    thread,
    turn,
    size,
    model: models.join(', '),
    ...(usage ? sumsOf(usage, hasPrice) : noUsage),
    reported,
    error: exception.trimStart().split('\n', 1)[0] ?? '',
    startedUs,
    endedUs: row.hasEnd ? row.endedUs : null,
    hasFailed: exception !== '',
    hasFailedBelow: row.errorCount > 0,
  }
}

/**
 * The spans of a trace in the order of start time and id, at most `limit`.
 * @param reader whose query finds the trace
 */
export async function* loadSpans(
  reader: CallReader,
  index: Index,
  { limit, prices }: { limit: number; prices: Promise<PriceBook> },
): AsyncGenerator<Span[]> {
  const { store, projectId, options } = reader
  const read = (query: Query) => store.bytes(query, 'RowBinary', options)
  const pages = readPages(reader, { columns: treeReader, limit, offset: 0, rows: statementRows })
  // Until they are awaited a failure must not count as unhandled.
  prices.catch(() => {})
  // The first page tells whether the work begins anew in a thread: what else is read would be read twice.
  let page = await pages.next()
  if (page.done) return
  const others = Promise.all([
    read(spanKindsQuery(projectId, index)).then((answer) =>
      mapOf(answer, (row) => [`${row.int64()} ${row.text()}`, row.text()]),
    ),
    read(feedbackCountsQuery(projectId, index)).then((answer) => mapOf(answer, (row) => [row.text(), row.int64()])),
    prices,
  ])
  others.catch(() => {})
  while (!page.done) {
    const next = pages.next()
    next.catch(() => {})
    const { rows } = page.value
    const billed = await billedOfRows(reader, page.value)
    const [kinds, feedback, book] = await others
    const costsOf = costsBy(book)
    for (let from = 0; from < rows.length; from += rowsBetweenTurns) {
      yield rows.slice(from, from + rowsBetweenTurns).map((row, n) => {
        const found = { billed: billed[from + n] ?? new Map(), costsOf, book }
        return {
          ...spanOf(row, found),
          kind: kinds.get(`${row.startedUs} ${row.id}`) ?? '',
          feedback: feedback.get(row.id) ?? 0,
        }
      })
      await turn()
    }
    page = await next
  }
}
