// Keeps what spans count for themselves that report the sum of those below them (docs/adr/0059): after each batch, for the
// traces that it changed, before its position moves.
import { sharesOf, type UsageNumbers } from '../../content/usage-shares.ts'
import { forEachYielding } from '../../core/concurrency/yielding.ts'
import type { Query, Store } from '../../core/store/store.ts'
import type { DirtyPositions } from '../combined-batch.ts'
import { statement } from '../statements.ts'
import type { TimeRange } from '../time-range.ts'

/** Spans of a batch: their traces, and those of which only the id is known, as they are deleted. */
export type SpansOfRows = {
  /** By `project trace`. */
  traces: Map<string, { project: string; trace: string }>
  /** By `project id`. */
  others: Map<string, { project: string; id: string }>
  /** Projects with a span that reports usage. */
  reporting: Set<string>
}

export type UsageShares = {
  /** @param isNew whether nothing was stored of the spans */
  settle(spans: SpansOfRows, marked: DirtyPositions, isNew: boolean): Promise<void>
  /** The same for calls that are merged by name. */
  settleCalls(calls: readonly { project_id: string; id: string }[], marked: DirtyPositions): Promise<void>
  /** The same for what is stored of spans that begin in a range, without marks. */
  settleStored(range: TimeRange): Promise<void>
}

/** Traces of one statement. */
const tracesAtOnce = 2_000
/** Larger traces are counted as they are reported: each batch of theirs would read all of them again. */
const maxSpans = 200_000
const idForm = /^[0-9a-f]{16}$/
const traceForm = /^[0-9a-f]{32}$/

type Trace = { project: string; trace: string }
type SpanRow = Trace & {
  id: string
  parent: string
  started_us: number
  end_ver: string
  /** None = it reports no usage. */
  numbers: number[]
}
type Known = { project: string; id: string; started_us: number; stored: number[] }
type Bill = { project: string; id: string; end_ver: string; is_span: number; billed: number[] }
/** A row of usage_shares: whether it is nested, and its numbers. */
type Share = { row: SpanRow; values: readonly number[] }

const keyOf = (...texts: string[]): string => texts.join('\n')
const isSpan = ({ id, trace }: SpanRow): boolean => idForm.test(id) && traceForm.test(trace)

function* slicesOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/** Places of parents within a trace. */
function parentsOf(rows: readonly SpanRow[]): Int32Array {
  const places = new Map(rows.map(({ id }, place) => [id, place]))
  return Int32Array.from(rows, ({ parent }) => (parent === '' ? -1 : (places.get(parent) ?? -1)))
}

/** Requests are not kept. */
const keptOf = ([, input, output, total, cacheRead, cacheWrite, inside, , ...billed]: UsageNumbers): number[] =>
  [input, output, total, cacheRead, cacheWrite, inside, ...billed].map((value) => value ?? 0)
/** Of a span that others with usage are not below. */
const nothing: readonly number[] = Array(11).fill(0)
const placeOf = ({ project, id, started_us }: Pick<SpanRow, 'project' | 'id' | 'started_us'>): string =>
  keyOf(project, id, String(started_us))

/** @param bills of the rows, null = not read yet */
function sharesOfTrace(rows: readonly SpanRow[], bills: ReadonlyMap<string, Bill> | null): Map<number, number[]> {
  const billOf = ({ project, id, end_ver }: SpanRow) => bills?.get(keyOf(project, id, end_ver))
  return sharesOf(
    parentsOf(rows),
    (place) => {
      const row = rows[place] as SpanRow
      if (row.numbers.length === 0) return null
      return [...row.numbers, ...(billOf(row)?.billed ?? [0, 0, 0, 0, 0, 0])]
    },
    (place) => isSpan(rows[place] as SpanRow) && (billOf(rows[place] as SpanRow)?.is_span ?? 1) === 1,
  )
}

export function createUsageShares(store: Pick<Store, 'rows' | 'command'>, ownsTables: boolean): UsageShares {
  /** Whether a project has spans with usage, as far as it was asked; where others write the tables too it is not kept. */
  const known = new Map<string, boolean>()
  let lastVersion = 0
  const background = { pool: 'background' } as const
  const read = <Row>(query: Query) => store.rows<Row>(query, background)

  const timesOf = (rows: readonly SpanRow[]) => ({
    projects: rows.map(({ project }) => project),
    times: rows.map((row) => row.started_us),
  })
  const knownOf = async (rows: readonly SpanRow[]): Promise<Map<string, number[]>> => {
    const found = new Map<string, number[]>()
    for (const some of slicesOf(rows, tracesAtOnce))
      for (const one of await read<Known>(statement('usage-shares-known', timesOf(some))))
        found.set(placeOf(one), one.stored)
    return found
  }
  const billsOf = async (rows: readonly SpanRow[]): Promise<Map<string, Bill>> => {
    const bills = new Map<string, Bill>()
    for (const some of slicesOf(rows, tracesAtOnce)) {
      for (const bill of await read<Bill>(statement('usage-shares-bills', timesOf(some))))
        bills.set(keyOf(bill.project, bill.id, bill.end_ver), bill)
    }
    return bills
  }

  /**
   * What has to be stored of some traces.
   * @param isNew whether they only got spans: then those in which no usage is below another have no shares
   */
  const changesOf = async (traces: readonly Trace[], isNew: boolean): Promise<Share[]> => {
    const named = { projects: traces.map(({ project }) => project), traces: traces.map(({ trace }) => trace) }
    const rows = await read<SpanRow>(statement('usage-shares-spans', { ...named, every: isNew ? 0 : 1 }))
    const byTrace = new Map<string, SpanRow[]>()
    await forEachYielding(rows, (row) => {
      const key = keyOf(row.project, row.trace)
      const known = byTrace.get(key)
      if (known) known.push(row)
      else byTrace.set(key, [row])
    })
    const groups: SpanRow[][] = []
    await forEachYielding(byTrace.values(), (group) => {
      if (group.length <= maxSpans && (!isNew || sharesOfTrace(group, null).size > 0)) groups.push(group)
    })
    const reporting = groups.flatMap((group) => group.filter(({ numbers }) => numbers.length > 0))
    const [bills, known] = await Promise.all([billsOf(reporting), knownOf(reporting)])
    const changes: Share[] = []
    const add = (row: SpanRow, values: readonly number[]): void => {
      const stored = known.get(placeOf(row)) ?? nothing
      if (values.some((value, n) => value !== stored[n])) changes.push({ row, values })
    }
    await forEachYielding(groups, (group) => {
      const shares = sharesOfTrace(group, bills)
      for (const [place, row] of group.entries()) {
        const share = shares.get(place)
        if (row.numbers.length > 0) add(row, share ? [1, ...keptOf(share)] : nothing)
      }
    })
    return changes
  }

  /** Where marks are asked for, under the positions of the partitions. */
  const keep = async (changes: readonly Share[], version: number, marked: DirtyPositions | null): Promise<void> => {
    const lines = changes.map(({ row, values }) =>
      JSON.stringify([row.project, row.started_us, row.id, ...values, version]),
    )
    await store.command(statement('usage-shares-insert', {}, { rows: lines.join('\n') }))
    if (marked === null) return
    const minuteOf = ({ row }: Share): number => Math.floor(row.started_us / 60e6) * 60
    const minutes = new Map(changes.map((one) => [keyOf(one.row.project, String(minuteOf(one))), one]))
    const marks = [...minutes.values()].flatMap((one) =>
      marked.partitions.map((partition, n) =>
        JSON.stringify([one.row.project, partition, marked.positions[n], minuteOf(one), 0]),
      ),
    )
    await store.command(statement('dirty-buckets-of-new', {}, { rows: marks.join('\n') }))
  }

  const settleTraces = async (traces: readonly Trace[], marked: DirtyPositions | null, isNew = true): Promise<void> => {
    for (const some of slicesOf(traces, tracesAtOnce)) {
      // Of two processes the one that began to read later wins: each reads after its own rows are in.
      lastVersion = Math.max(Date.now() * 1_000, lastVersion + 1)
      const version = lastVersion
      const changes = await changesOf(some, isNew)
      if (changes.length > 0) await keep(changes, version, marked)
    }
  }

  const tracesOf = (calls: readonly { project: string; id: string }[]): Promise<Trace[]> =>
    read<Trace>(
      statement('usage-shares-traces', {
        projects: calls.map(({ project }) => project),
        ids: calls.map(({ id }) => id),
      }),
    )

  const mayReport = async (project: string): Promise<boolean> => {
    if (!ownsTables) return true
    const found = known.get(project)
    if (found !== undefined) return found
    const rows = await read<unknown>(statement('usage-shares-any', { project }))
    known.set(project, rows.length > 0)
    return rows.length > 0
  }

  return {
    async settle({ traces, others, reporting }, marked, isNew) {
      for (const project of reporting) known.set(project, true)
      const projects = new Set([...traces.values(), ...others.values()].map(({ project }) => project))
      for (const project of projects) if (!(await mayReport(project))) projects.delete(project)
      await settleTraces(
        [...traces.values()].filter(({ project }) => projects.has(project)),
        marked,
        isNew,
      )
      const ofOthers = [...others.values()].filter(({ project }) => projects.has(project))
      if (ofOthers.length > 0) await settleTraces(await tracesOf(ofOthers), marked, false)
    },
    async settleCalls(calls, marked) {
      const spans = calls.filter(({ id }) => idForm.test(id)).map(({ project_id: project, id }) => ({ project, id }))
      if (spans.length > 0) await settleTraces(await tracesOf(spans), marked, false)
    },
    async settleStored({ fromUs: from, beforeExclusiveUs: before }) {
      await settleTraces(await read<Trace>(statement('usage-shares-stored', { from, before })), null)
    },
  }
}
