// Keeps what spans count for themselves that report the sum of those below them (docs/adr/0059): after each batch, for the
// traces that it changed, before its position moves.
import { sharesOf, type UsageNumbers } from '../../content/usage-shares.ts'
import { forEachYielding } from '../../core/concurrency/yielding.ts'
import { statement } from '../../core/store/statements.ts'
import type { Query, Store } from '../../core/store/store.ts'
import type { TimeRange } from '../../derived/time-range.ts'
import type { DirtyPositions } from './dirty-positions.ts'
import { createRecentTraces, type RecentTraces } from './recent-traces.ts'
import { type CountedSpan, keyOfTrace, noBill, noShare, type SpansOfRows, spanIdForm, type TraceName } from './spans.ts'

export type UsageShares = {
  /** @param isNew whether nothing was stored of the spans */
  settle(spans: SpansOfRows, marked: DirtyPositions, isNew: boolean): Promise<void>
  /** The same for calls that are merged by name. */
  settleCalls(calls: readonly { project_id: string; id: string }[], marked: DirtyPositions): Promise<void>
  /** The same for what is stored of spans that begin in a range, without marks. */
  settleStored(range: TimeRange): Promise<void>
  /** The tables may hold something else than what went into them here. */
  forget(): void
}

/** Traces of one statement. */
const tracesAtOnce = 2_000
/** Larger traces are counted as they are reported: each batch of theirs would read all of them again. */
const maxSpans = 200_000
const traceForm = /^[0-9a-f]{32}$/

/** The calls of a trace; those from `added` on are of a batch that marks their minutes itself. */
type Group = TraceName & { spans: CountedSpan[]; added: number }
type Change = { project: string; span: CountedSpan; values: readonly number[] }

type SpanRow = TraceName & { id: string; parent: string; started_us: number; end_ver: string; numbers: number[] }
type Known = { project: string; id: string; started_us: number; stored: number[] }
type Bill = { project: string; id: string; end_ver: string; is_span: number; billed: number[] }

const keyOf = (...texts: string[]): string => texts.join('\n')

function* slicesOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/** Places of parents within a trace. */
function parentsOf(spans: readonly CountedSpan[]): Int32Array {
  const places = new Map(spans.map(({ id }, place) => [id, place]))
  return Int32Array.from(spans, ({ parent }) => (parent === '' ? -1 : (places.get(parent) ?? -1)))
}

/** Requests are not kept. */
const keptOf = ([, input, output, total, cacheRead, cacheWrite, inside, , ...billed]: UsageNumbers): number[] =>
  [input, output, total, cacheRead, cacheWrite, inside, ...billed].map((value) => value ?? 0)

const reports = ({ numbers }: CountedSpan): boolean => numbers.length > 0

/** By place in the trace; what is billed and not read yet counts as nothing. */
function sharesOfGroup({ trace, spans }: Group): Map<number, number[]> {
  const isOfSpans = traceForm.test(trace)
  return sharesOf(
    parentsOf(spans),
    (place) => {
      const span = spans[place] as CountedSpan
      return reports(span) ? [...span.numbers, ...(span.billed ?? noBill)] : null
    },
    (place) => {
      const { id, isSpan, billed } = spans[place] as CountedSpan
      return isOfSpans && spanIdForm.test(id) && (billed === null || isSpan)
    },
  )
}

type State = {
  store: Pick<Store, 'rows' | 'command'>
  /** Whether no other process writes the tables. */
  ownsTables: boolean
  /** Whether a project has spans with usage, as far as it was asked; where others write the tables too it is not kept. */
  known: Map<string, boolean>
  recent: RecentTraces
  lastVersion: number
}

const read = <Row>({ store }: State, query: Query): Promise<Row[]> => store.rows<Row>(query, { pool: 'background' })

/** A column of spans, by what tells one span from all others. */
type Column<Row> = {
  isMissing(span: CountedSpan): boolean
  sql: 'usage-shares-bills' | 'usage-shares-known'
  keyOfSpan(project: string, span: CountedSpan): string
  keyOfRow(row: Row): string
  put(span: CountedSpan, row: Row | undefined): void
}

const bills: Column<Bill> = {
  isMissing: ({ billed }) => billed === null,
  sql: 'usage-shares-bills',
  keyOfSpan: (project, { id, endVer }) => keyOf(project, id, endVer),
  keyOfRow: ({ project, id, end_ver }) => keyOf(project, id, end_ver),
  put(span, bill) {
    span.billed = bill?.billed ?? noBill
    span.isSpan = (bill?.is_span ?? 1) === 1
  },
}

const storedShares: Column<Known> = {
  isMissing: ({ stored }) => stored === null,
  sql: 'usage-shares-known',
  keyOfSpan: (project, { id, startedUs }) => keyOf(project, id, String(startedUs)),
  keyOfRow: ({ project, id, started_us }) => keyOf(project, id, String(started_us)),
  put(span, row) {
    span.stored = row?.stored ?? noShare
  },
}

/** Reads a column of spans where it is not known. */
async function complete<Row>(
  state: State,
  groups: readonly Group[],
  { isMissing, sql, keyOfSpan, keyOfRow, put }: Column<Row>,
): Promise<void> {
  const missing = groups.flatMap(({ project, spans }) =>
    spans.filter((span) => reports(span) && isMissing(span)).map((span) => ({ project, span })),
  )
  for (const some of slicesOf(missing, tracesAtOnce)) {
    const named = { projects: some.map(({ project }) => project), times: some.map(({ span }) => span.startedUs) }
    const rows = new Map((await read<Row>(state, statement(sql, named))).map((row) => [keyOfRow(row), row]))
    for (const { project, span } of some) put(span, rows.get(keyOfSpan(project, span)))
  }
}

/** @param every whether traces come of which fewer than two spans report usage */
async function readGroups(state: State, traces: readonly TraceName[], every: boolean): Promise<Group[]> {
  const named = { projects: traces.map(({ project }) => project), traces: traces.map(({ trace }) => trace) }
  const rows = await read<SpanRow>(state, statement('usage-shares-spans', { ...named, every: every ? 1 : 0 }))
  const groups = new Map<string, Group>()
  await forEachYielding(rows, ({ project, trace, id, parent, started_us: startedUs, end_ver: endVer, numbers }) => {
    const key = keyOf(project, trace)
    const group = groups.get(key) ?? { project, trace, spans: [], added: Number.POSITIVE_INFINITY }
    groups.set(key, group)
    group.spans.push({ id, parent, startedUs, endVer, numbers, billed: null, isSpan: true, stored: null })
  })
  return [...groups.values()].filter(({ spans }) => spans.length <= maxSpans)
}

type GroupChanges = { group: Group; changes: Change[] }

/**
 * Finds the shares of some traces that differ from the stored ones.
 * @param isNew whether they only got spans: then those in which no usage is below another have no shares
 */
async function changesOf(state: State, groups: readonly Group[], isNew: boolean): Promise<GroupChanges[]> {
  const counted = new Map<Group, Map<number, number[]>>()
  await forEachYielding(groups, (group) => {
    const shares = sharesOfGroup(group)
    if (!isNew || shares.size > 0) counted.set(group, shares)
  })
  const isUnread = ({ spans }: Group) => spans.some((span) => reports(span) && span.billed === null)
  const unread = [...counted.keys()].filter(isUnread)
  await Promise.all([complete(state, unread, bills), complete(state, [...counted.keys()], storedShares)])
  await forEachYielding(unread, (group) => void counted.set(group, sharesOfGroup(group)))
  return Array.from(counted, ([group, shares]) => {
    const changes = group.spans.flatMap((span, place): Change[] => {
      if (!reports(span)) return []
      const share = shares.get(place)
      const values = share ? [1, ...keptOf(share)] : noShare
      return values.some((value, n) => value !== span.stored?.[n]) ? [{ project: group.project, span, values }] : []
    })
    return { group, changes }
  })
}

/** Marks the minutes of changes as dirty, under the positions of the partitions. */
async function markChanged({ store }: State, found: readonly GroupChanges[], marked: DirtyPositions): Promise<void> {
  const minutes = new Map<string, [project: string, minute: number]>()
  for (const { group, changes } of found) {
    const added = new Set(group.spans.slice(group.added))
    for (const { project, span } of changes) {
      const minute = Math.floor(span.startedUs / 60e6) * 60
      if (!added.has(span)) minutes.set(keyOf(project, String(minute)), [project, minute])
    }
  }
  if (minutes.size === 0) return
  const marks = [...minutes.values()].flatMap(([project, minute]) =>
    marked.partitions.map((partition, n) => JSON.stringify([project, partition, marked.positions[n], minute, 0])),
  )
  await store.command(statement('dirty-buckets-of-new', {}, { rows: marks.join('\n') }))
}

/** Stores shares. @param marked null: without marks */
async function settleGroups(
  state: State,
  groups: readonly Group[],
  version: number,
  isNew: boolean,
  marked: DirtyPositions | null,
): Promise<void> {
  const found = await changesOf(state, groups, isNew)
  const changes = found.flatMap((one) => one.changes)
  if (changes.length === 0) return
  const lines = changes.map(({ project, span, values }) =>
    JSON.stringify([project, span.startedUs, span.id, ...values, version]),
  )
  await state.store.command(statement('usage-shares-insert', {}, { rows: lines.join('\n') }))
  for (const { span, values } of changes) span.stored = values
  if (marked !== null) await markChanged(state, found, marked)
}

/** Of two processes the one that began to read later wins: each reads after its own rows are in. */
function nextVersion(state: State): number {
  state.lastVersion = Math.max(Date.now() * 1_000, state.lastVersion + 1)
  return state.lastVersion
}

async function settleTraces(
  state: State,
  traces: readonly TraceName[],
  marked: DirtyPositions | null,
  isNew = true,
): Promise<void> {
  for (const some of slicesOf(traces, tracesAtOnce)) {
    const version = nextVersion(state)
    await settleGroups(state, await readGroups(state, some, !isNew), version, isNew, marked)
  }
}

async function settleSpans(
  state: State,
  spans: readonly { project: string; id: string }[],
  marked: DirtyPositions,
): Promise<void> {
  if (spans.length === 0) return
  const named = { projects: spans.map(({ project }) => project), ids: spans.map(({ id }) => id) }
  const traces = await read<TraceName>(state, statement('usage-shares-traces', named))
  for (const one of traces) state.recent.drop(keyOfTrace(one))
  await settleTraces(state, traces, marked, false)
}

async function mayReport(state: State, project: string): Promise<boolean> {
  const { ownsTables, known } = state
  if (!ownsTables) return true
  const found = known.get(project)
  if (found !== undefined) return found
  const rows = await read<unknown>(state, statement('usage-shares-any', { project }))
  known.set(project, rows.length > 0)
  return rows.length > 0
}

async function settleRows(state: State, rows: SpansOfRows, marked: DirtyPositions, isNew: boolean): Promise<void> {
  const { known, recent } = state
  const { traces, newTraces, mixed, others, reporting } = rows
  for (const key of mixed) recent.drop(key)
  for (const project of reporting) known.set(project, true)
  const projects = new Set([...traces.values(), ...others.values()].map(({ project }) => project))
  for (const project of projects) if (!(await mayReport(state, project))) projects.delete(project)
  const groups: Group[] = []
  const unknown: TraceName[] = []
  for (const [key, trace] of traces) {
    if (!projects.has(trace.project)) continue
    const isWhole = isNew && newTraces !== undefined && !mixed.has(key)
    const group = isWhole ? recent.add(trace, newTraces.has(key)) : undefined
    if (!isWhole) recent.drop(key)
    if (group) groups.push(group)
    else unknown.push(trace)
  }
  await settleGroups(state, groups, nextVersion(state), true, marked)
  await settleTraces(state, unknown, marked, isNew)
  await settleSpans(
    state,
    [...others.values()].filter(({ project }) => projects.has(project)),
    marked,
  )
}

export function createUsageShares(store: Pick<Store, 'rows' | 'command'>, ownsTables: boolean): UsageShares {
  const recent = createRecentTraces()
  const state: State = { store, ownsTables, known: new Map(), recent, lastVersion: 0 }
  return {
    settle: (spans, marked, isNew) => settleRows(state, spans, marked, isNew),
    async settleCalls(calls, marked) {
      const spans = calls
        .filter(({ id }) => spanIdForm.test(id))
        .map(({ project_id: project, id }) => ({ project, id }))
      await settleSpans(state, spans, marked)
    },
    forget: recent.clear,
    async settleStored({ fromUs: from, beforeExclusiveUs: before }) {
      recent.clear()
      await settleTraces(state, await read<TraceName>(state, statement('usage-shares-stored', { from, before })), null)
    },
  }
}
