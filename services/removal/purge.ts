// Removes what the retention of projects hides: rows by key, and then the bytes of removed rows. No partition is dropped:
// rows of another project may come between a look at a month and its end.

import type { AuditEvent } from '../core/audit/chain.ts'
import type { Cutoffs } from '../core/process/running-handler.ts'
import { statement } from '../core/store/statements.ts'
import type { Query, Store } from '../core/store/store.ts'
import { type Budget, unlimited } from '../derived/budget.ts'
import type { Retained } from '../tables/declaration.ts'
import { type DeclaredTable, type TimeKind, tables, timeKindOf } from '../tables/registry.ts'
import { type HeldCalls, type HeldRows, heldRecord } from './held-calls.ts'
import type { DerivedPurge } from './purge-derived.ts'
import { createFeedbackPurge } from './purge-feedback.ts'
import { createPartsPurge } from './purge-parts.ts'

export type PurgeRules = {
  /** The cut-offs of a project now; undefined = nothing is hidden. */
  cutoffsOf(projectId: string): Cutoffs | undefined
  /** Whether feedback stays when its calls go. */
  keepsFeedback?(projectId: string): boolean
  /** Projects whose files go once nothing names them, with the time up to which they came. */
  fileCutoffs?(nowMs: number): [projectId: string, beforeMs: number][]
  /** Before when log records go; undefined = never. */
  logsBeforeUs?(projectId: string): number | undefined
}

type AgedTable = {
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
  if ('record' in erased) return statement('purge.held-logs', {}, { id: erased.record, heldRecord }).sql
  return 'id IN {ids:Array(String)}'
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
const otherTables = tables.filter(({ purged }) => purged === 'aside').map(({ name }) => name)

const dayMs = 86_400_000
/** Days from one look at a project's files to the next. */
const fileRoundDays = 7
/** Days from one rewrite of a month to the next at least, whatever comes late or is set anew. */
const rewriteDays = 7
/** Projects that one statement names. */
const projectsAtOnce = 1_000
const aside = { background: true } as const
const background = { pool: 'background' } as const

/** Months are called `202603`, and what has none `all`. */
const isMonth = (name: string): boolean => /^(?:\d{6}|all)$/.test(name)
const monthBeginUs = (month: string): number =>
  month === 'all' ? Number.NEGATIVE_INFINITY : Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)) - 1) * 1_000

/** A name has its day among the days of a round, so that not all have their turn at once. */
const isDay = (name: string, roundDays: number, nowMs: number): boolean => {
  const place = [...name].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 1_000_003, 7)
  return Math.floor(nowMs / dayMs) % roundDays === place % roundDays
}

/** Rows of a project in the files of a month, with the times of those that were removed, in microseconds. */
export type RemovedRows = {
  rows: number
  removed: number
  oldestUs: number
  newestUs: number
  cutoffUs: number | undefined
}

/**
 * Whether the removed rows of a month are taken out of its files today: in the last week of those that may stay, on the
 * month's day of it, since the rest is written once more. Rows that no cutoff explains (of settings that have changed, or of another reason) wait for the day of their month.
 * @param roundDays for which a hidden row may stay in the files
 */
export function isRewritten(name: string, projects: readonly RemovedRows[], roundDays: number, nowMs: number): boolean {
  const some = projects.filter(({ removed }) => removed > 0)
  if (some.length === 0) return false
  const isWhole = projects.every(({ rows, removed }) => rows === removed)
  const everyDays = Math.min(rewriteDays, roundDays)
  const waitUs = (roundDays - everyDays) * dayMs * 1000
  const isDue = some.some(({ oldestUs, cutoffUs }) => cutoffUs !== undefined && oldestUs < cutoffUs - waitUs)
  const isOther = some.some(({ newestUs, cutoffUs }) => cutoffUs === undefined || newestUs >= cutoffUs)
  return isWhole || (isDue && isDay(name, everyDays, nowMs)) || (isOther && isDay(name, roundDays, nowMs))
}

type Purged = {
  rows: number
  /** Months whose removed rows were taken out of the files: `calls 202603`. */
  rewritten: string[]
}

/** Rows by project, then by table. */
type Removed = Map<string, Record<string, number>>

export type Purge = {
  run(nowMs?: number): Promise<Purged>
  stop(): void
}

/** @param deps.roundDays for which removed rows may stay in the files */
export function createPurge(deps: {
  store: Pick<Store, 'rows' | 'command'>
  rules: PurgeRules
  held: HeldCalls
  /** Derives anew what is counted of held calls and others. */
  derived: DerivedPurge
  roundDays: number
  budget?: Budget
  /** Removes files that came before a time and that nothing names. @returns how many */
  removeOldFiles?(projectId: string, beforeMs: number): Promise<number>
  /** Records the removals of a run, also of one that broke off: an event for each project. */
  record?(events: readonly AuditEvent[]): Promise<unknown>
}): Purge {
  const { store, rules, held, roundDays, budget = unlimited, record, removeOldFiles } = deps
  const feedback = createFeedbackPurge({ store, budget, held })
  const purgeParts = createPartsPurge({ store, budget })
  let isStopped = false
  const read = <Row>(query: Query): Promise<Row[]> => budget.run(() => store.rows<Row>(query, background))
  const change = (query: Query): Promise<void> => budget.run(() => store.command(query, aside))

  const cutoffOf = ({ of }: AgedTable, projectId: string): number | undefined => {
    if (of === 'logs') return rules.logsBeforeUs?.(projectId)
    const { callsUs, payloadsUs = callsUs, statsUs } = rules.cutoffsOf(projectId) ?? {}
    return { calls: callsUs, payloads: payloadsUs, stats: statsUs }[of]
  }

  const monthsOf = async (table: string): Promise<string[]> => {
    const found = await read<{ month: string }>(statement('purge.months', { table }))
    return found.map(({ month }) => month).filter(isMonth)
  }

  /** Ends that came alone lie where their own times say, which may be long before the start of a call that stays. */
  const endsToKeep = async (projects: string[], beforeUs: number): Promise<string[]> => {
    const found = await read<{ id: string }>(statement('purge.ends', { projects, before: beforeUs }))
    return found.map(({ id }) => id)
  }

  const note = (removed: Removed, projectId: string, table: string, rows: number): void => {
    const tables = removed.get(projectId) ?? {}
    removed.set(projectId, { ...tables, [table]: (tables[table] ?? 0) + rows })
  }

  const removeRows = async (
    { table, us, held: ofHeld }: AgedTable,
    month: string,
    projects: string[],
    beforeUs: number,
    removed: Removed,
    around?: HeldRows,
  ): Promise<number> => {
    const parts = table === 'calls' ? await purgeParts(month, projects, beforeUs, around) : []
    for (const [projectId, n] of parts) note(removed, projectId, 'call_patches', n)
    const kept = table === 'payloads' ? await endsToKeep(projects, beforeUs) : undefined
    const ends = kept === undefined ? '' : " AND NOT (part = 'end' AND id IN {kept:Array(String)})"
    const others = `${ends}${around ? ` AND NOT ${ofHeld}` : ''}`
    const params = { projects, before: beforeUs, ...(kept && { kept }), ...around }
    const found = await read<{ project_id: string; n: string }>(
      statement('purge.count', { ...params, month }, { table, us, others }),
    )
    if (found.length > 0) await change(statement('purge.rows', params, { table, month, us, others }))
    for (const { project_id, n } of found) note(removed, project_id, table, Number(n))
    return [...parts].reduce((sum, [, n]) => sum + n, 0) + found.reduce((sum, { n }) => sum + Number(n), 0)
  }

  /** The same of a project of which something is held: what is counted of many calls has its turn later. */
  const removeAround = async (
    aged: AgedTable,
    month: string,
    projectId: string,
    beforeUs: number,
    removed: Removed,
  ): Promise<number> => {
    const around = aged.held === 'derived' ? 'all' : await held.rows(projectId)
    if (around === 'all') return 0
    return removeRows(aged, month, [projectId], beforeUs, removed, around)
  }

  /** Whether the files of a month still hold removed rows that are due. */
  const isRewriteDue = async (table: string, month: string, nowMs: number): Promise<boolean> => {
    const aged = agedTables.find((one) => one.table === table)
    const found = await read<Record<'project_id' | 'rows' | 'removed' | 'oldest' | 'newest', string>>(
      statement('purge.removed', { month }, { table, us: aged?.us ?? 'toInt64(0)' }),
    )
    const projects = found.map(({ project_id, rows, removed, oldest, newest }) => ({
      rows: Number(rows),
      removed: Number(removed),
      oldestUs: Number(oldest),
      newestUs: Number(newest),
      cutoffUs: aged && cutoffOf(aged, project_id),
    }))
    return isRewritten(`${table} ${month}`, projects, roundDays, nowMs)
  }

  /** Tables in which some rows were removed, as engines know them: others need no look into their rows. */
  const masked = async (table: string): Promise<Set<string>> => {
    const found = await read<{ month: string }>(statement('purge.masked', { table }))
    return new Set(found.map(({ month }) => month))
  }

  /** @param kept is added to: projects of which something is held */
  const purgeMonth = async (aged: AgedTable, month: string, removed: Removed, kept: Set<string>): Promise<number> => {
    const { table } = aged
    const found = await read<{ project_id: string }>(statement('purge.projects', { month }, { table }))
    const due = found
      .map(({ project_id }) => ({ project_id, beforeUs: cutoffOf(aged, project_id) ?? Number.NEGATIVE_INFINITY }))
      .filter(({ beforeUs }) => beforeUs > monthBeginUs(month))
    let rows = 0
    // Most projects have the default: those of one cutoff go together.
    for (const [beforeUs, projects] of Map.groupBy(due, (one) => one.beforeUs)) {
      const all = projects.map(({ project_id }) => project_id)
      for (let at = 0; at < all.length && !isStopped; at += projectsAtOnce) {
        // The holds are read for each statement: one may have come since the month was read.
        const some = Map.groupBy(all.slice(at, at + projectsAtOnce), held.isAny)
        const free = some.get(false) ?? []
        if (free.length > 0) rows += await removeRows(aged, month, free, beforeUs, removed)
        for (const projectId of some.get(true) ?? []) {
          kept.add(projectId)
          if (!isStopped) rows += await removeAround(aged, month, projectId, beforeUs, removed)
        }
      }
    }
    return rows
  }

  /** Recounts derived rows of many calls, in projects with held ones: the held calls stay counted. */
  const purgeDerived = async (kept: ReadonlySet<string>, removed: Removed): Promise<number> => {
    let rows = 0
    for (const projectId of kept) {
      const [ids, cutoffs] = [await held.of(projectId), rules.cutoffsOf(projectId)]
      if (isStopped || ids === 'all' || cutoffs === undefined) continue
      for (const [table, n] of await deps.derived(projectId, ids, cutoffs)) {
        if (n > 0) note(removed, projectId, table, n)
        rows += n
      }
    }
    return rows
  }

  /** A project's files, weekly: calls that retention removed name them no more. */
  const purgeFiles = async (nowMs: number, removed: Removed): Promise<number> => {
    let rows = 0
    for (const [projectId, beforeMs] of rules.fileCutoffs?.(nowMs) ?? []) {
      if (isStopped || removeOldFiles === undefined) break
      if (!isDay(`files ${projectId}`, fileRoundDays, nowMs)) continue
      const files = await removeOldFiles(projectId, beforeMs)
      if (files === 0) continue
      removed.set(projectId, { ...removed.get(projectId), files })
      rows += files
    }
    return rows
  }

  /** Feedback about calls that are hidden, while it is known when they start: before anything of these goes. */
  const purgeFeedback = async (removed: Removed): Promise<number> => {
    let rows = 0
    for (const projectId of await feedback.projects()) {
      const beforeUs = rules.cutoffsOf(projectId)?.callsUs
      if (beforeUs === undefined || rules.keepsFeedback?.(projectId)) continue
      const items = await feedback.purge(projectId, beforeUs, () => !isStopped)
      if (items === 0) continue
      removed.set(projectId, { ...removed.get(projectId), feedback: items })
      rows += items
    }
    return rows
  }

  const purgeAll = async (nowMs: number, removed: Removed): Promise<Purged> => {
    const purged: Purged = { rows: await purgeFeedback(removed), rewritten: [] }
    const kept = new Set<string>()
    for (const aged of agedTables)
      for (const month of await monthsOf(aged.table)) {
        if (isStopped) return purged
        purged.rows += await purgeMonth(aged, month, removed, kept)
      }
    purged.rows += await purgeDerived(kept, removed)
    purged.rows += await purgeFiles(nowMs, removed)
    for (const table of [...agedTables.map((aged) => aged.table), ...otherTables]) {
      for (const month of await masked(table)) {
        if (isStopped) return purged
        if (!isMonth(month) || !(await isRewriteDue(table, month, nowMs))) continue
        await change(statement('purge.rewrite', {}, { table, month }))
        purged.rewritten.push(`${table} ${month}`)
      }
    }
    return purged
  }

  return {
    async run(nowMs = Date.now()) {
      const removed: Removed = new Map()
      try {
        return await purgeAll(nowMs, removed)
      } finally {
        const events = [...removed].map(([scope, rows]) => ({ action: 'retention.purged', scope, details: { rows } }))
        await record?.(events)
      }
    },
    stop() {
      isStopped = true
    },
  }
}

/** Whether the purge of the day is due: once a day, from an hour on. @param lastMs when it ran last; undefined = not since the start */
export function isPurgeDue(hour: number, lastMs: number | undefined, nowMs: number): boolean {
  const day = (ms: number) => Math.floor(ms / dayMs)
  return new Date(nowMs).getUTCHours() >= hour && (lastMs === undefined || day(lastMs) < day(nowMs))
}
