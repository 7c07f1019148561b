// Removal by age: what the retention of projects hides leaves the tables, and then the files. No partition is dropped: rows
// of another project may come between a look at a month and its end.
import type { AuditEvent } from '../core/audit/chain.ts'
import type { Cutoffs } from '../core/process/running-handler.ts'
import type { Retained } from '../tables/declaration.ts'
import { parted } from './due.ts'
import {
  type Engine,
  find,
  maskedPartitions,
  type Named,
  partitionsOf,
  removeRows,
  rewritePartition,
  slices,
} from './engine.ts'
import { type HeldCalls, type LeftOut, leftOut, nothingHeld } from './held-calls.ts'
import { type AgedTable, agedTables, purgedAside } from './places.ts'
import type { DerivedPurge } from './purge-derived.ts'
import { projectsWithFeedback, purgeFeedback } from './purge-feedback.ts'
import { hiddenParts } from './purge-parts.ts'
import { isDayOf, isRewritten } from './rewrites.ts'

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

type PurgeDeps = Engine & {
  rules: PurgeRules
  held: HeldCalls
  /** Derives anew what is counted of held calls and others. */
  derived: DerivedPurge
  /** Days for which removed rows may stay in the files. */
  roundDays: number
  /** Removes files that came before a time and that nothing names. @returns how many */
  removeOldFiles?(projectId: string, beforeMs: number): Promise<number>
  /** Records the removals of a run, also of one that broke off: an event for each project. */
  record?(events: readonly AuditEvent[]): Promise<unknown>
}

/** One run of the purge. */
type PurgeRun = PurgeDeps & {
  nowMs: number
  /** Rows by project, then by table. */
  removed: Map<string, Record<string, number>>
  /** Projects of which something is held. */
  around: Set<string>
  isStopped(): boolean
}

const dayMs = 86_400_000
/** Days from one look at a project's files to the next. */
const fileRoundDays = 7
/** Projects that one statement names. */
const projectsAtOnce = 1_000

/** Months are called `202603`, and what has none `all`. */
const isMonth = (name: string): boolean => /^(?:\d{6}|all)$/.test(name)
const monthBeginUs = (month: string): number =>
  month === 'all' ? Number.NEGATIVE_INFINITY : Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)) - 1) * 1_000

function cutoffOf({ rules }: PurgeRun, of: Retained, projectId: string): number | undefined {
  if (of === 'logs') return rules.logsBeforeUs?.(projectId)
  const { callsUs, payloadsUs = callsUs, statsUs } = rules.cutoffsOf(projectId) ?? {}
  return { calls: callsUs, payloads: payloadsUs, stats: statsUs }[of]
}

function note({ removed }: PurgeRun, projectId: string, table: string, rows: number): void {
  if (rows === 0) return
  const tables = removed.get(projectId) ?? {}
  removed.set(projectId, { ...tables, [table]: (tables[table] ?? 0) + rows })
}

/** Ends that came alone lie where their own times say, which may be long before the start of a call that stays. */
async function endsToKeep(run: PurgeRun, projects: readonly string[], before: number): Promise<string[]> {
  const found = await find<{ id: string }>(run, 'purge.ends', { projects, before })
  return found.map(({ id }) => id)
}

/** Removes rows of a month that are older than a cutoff, but those that are held. */
async function removeOld(
  run: PurgeRun,
  { table, us, held }: AgedTable,
  month: string,
  projects: readonly string[],
  before: number,
  left: LeftOut,
): Promise<void> {
  const params: Named = { before, ...left.params }
  const remove = async (from: string, where: string, named: Named, only?: string): Promise<void> => {
    const place = { table: from, where, ...(only && { month: only }) }
    for (const [projectId, n] of await removeRows(run, place, projects, named)) note(run, projectId, from, n)
  }
  if (table === 'calls')
    for await (const { where, named } of hiddenParts(run, month, projects, before, left))
      await remove('call_patches', where, named)
  const kept = table === 'payloads' ? await endsToKeep(run, projects, before) : undefined
  const ends = kept === undefined ? '' : " AND NOT (part = 'end' AND id IN {kept:Array(String)})"
  const others = left === nothingHeld ? '' : ` AND NOT ${held}`
  await remove(table, `${us} < {before:Int64}${ends}${others}`, { ...params, ...(kept && { kept }) }, month)
}

/** The same for projects of which something is held. */
async function removeAroundHeld(
  run: PurgeRun,
  aged: AgedTable,
  month: string,
  projects: readonly string[],
  before: number,
): Promise<void> {
  for (const projectId of projects) {
    run.around.add(projectId)
    // Counters, which are of many calls, have their turn later.
    if (run.isStopped() || aged.held === 'derived') continue
    const left = await leftOut(run.held, projectId)
    if (left) await removeOld(run, aged, month, [projectId], before, left)
  }
}

/** Removes rows of a month by the cutoffs of their projects. */
async function purgeMonth(run: PurgeRun, aged: AgedTable, month: string): Promise<void> {
  const { held, isStopped } = run
  const found = await find<{ project_id: string }>(run, 'purge.projects', { month }, { table: aged.table })
  const due = found
    .map(({ project_id: id }) => ({ id, beforeUs: cutoffOf(run, aged.of, id) ?? Number.NEGATIVE_INFINITY }))
    .filter(({ beforeUs }) => beforeUs > monthBeginUs(month))
  // Most projects have the default: those of one cutoff go together.
  for (const [beforeUs, projects] of Map.groupBy(due, (one) => one.beforeUs))
    for (const slice of slices(projects, projectsAtOnce)) {
      if (isStopped()) return
      // The holds are read for each statement: one may have come since the month was read.
      const [free, others] = parted(
        slice.map(({ id }) => id),
        (id) => !held.isAny(id),
      )
      if (free.length > 0) await removeOld(run, aged, month, free, beforeUs, nothingHeld)
      await removeAroundHeld(run, aged, month, others, beforeUs)
    }
}

/** Recounts derived rows of many calls, in projects with held ones: the held calls stay counted. */
async function purgeDerived(run: PurgeRun): Promise<void> {
  for (const projectId of run.around) {
    const [ids, cutoffs] = [await run.held.of(projectId), run.rules.cutoffsOf(projectId)]
    if (run.isStopped() || ids === 'all' || cutoffs === undefined) continue
    for (const [table, n] of await run.derived(projectId, ids, cutoffs)) note(run, projectId, table, n)
  }
}

/** Removes a project's files, weekly: calls that retention removed name them no more. */
async function purgeFiles(run: PurgeRun): Promise<void> {
  for (const [projectId, beforeMs] of run.rules.fileCutoffs?.(run.nowMs) ?? []) {
    if (run.isStopped() || run.removeOldFiles === undefined) break
    if (!isDayOf(`files ${projectId}`, fileRoundDays, run.nowMs)) continue
    note(run, projectId, 'files', await run.removeOldFiles(projectId, beforeMs))
  }
}

/** Whether the files of a month still hold removed rows that are due. */
async function isRewriteDue(run: PurgeRun, table: string, month: string): Promise<boolean> {
  const aged = agedTables.find((one) => one.table === table)
  const found = await find<Record<'project_id' | 'rows' | 'removed' | 'oldest' | 'newest', string>>(
    run,
    'purge.removed',
    { month },
    { table, us: aged?.us ?? 'toInt64(0)' },
  )
  const projects = found.map(({ project_id, rows, removed, oldest, newest }) => ({
    rows: Number(rows),
    removed: Number(removed),
    oldestUs: Number(oldest),
    newestUs: Number(newest),
    cutoffUs: aged && cutoffOf(run, aged.of, project_id),
  }))
  return isRewritten(`${table} ${month}`, projects, run.roundDays, run.nowMs)
}

/** Takes removed rows out of the files that are due. @returns months: `calls 202603` */
async function rewriteFiles(run: PurgeRun): Promise<string[]> {
  const rewritten: string[] = []
  const all = [...agedTables.map(({ table }) => table), ...purgedAside]
  for (const partition of await maskedPartitions(run, all)) {
    const { table, id } = partition
    if (run.isStopped()) break
    if (!isMonth(id) || !(await isRewriteDue(run, table, id))) continue
    await rewritePartition(run, partition)
    rewritten.push(`${table} ${id}`)
  }
  return rewritten
}

async function purgeAll(run: PurgeRun): Promise<string[]> {
  const { rules, held, isStopped } = run
  // Feedback about calls that are hidden, while it is known when they start: before anything of these goes.
  for (const projectId of await projectsWithFeedback(run)) {
    const beforeUs = rules.cutoffsOf(projectId)?.callsUs
    if (beforeUs === undefined || rules.keepsFeedback?.(projectId)) continue
    note(run, projectId, 'feedback', await purgeFeedback(run, held, projectId, beforeUs, isStopped))
  }
  const months = Map.groupBy(
    await partitionsOf(
      run,
      agedTables.map(({ table }) => table),
    ),
    ({ table }) => table,
  )
  for (const aged of agedTables)
    for (const { id } of months.get(aged.table) ?? []) {
      if (isStopped()) return []
      if (isMonth(id)) await purgeMonth(run, aged, id)
    }
  await purgeDerived(run)
  await purgeFiles(run)
  return rewriteFiles(run)
}

export function createPurge(deps: PurgeDeps) {
  let isStopped = false
  return {
    /** @returns how many rows were removed, and months whose removed rows were taken out of the files */
    async run(nowMs = Date.now()): Promise<{ rows: number; rewritten: string[] }> {
      const run: PurgeRun = {
        ...deps,
        nowMs,
        removed: new Map(),
        around: new Set(),
        isStopped: () => isStopped,
      }
      try {
        const rewritten = await purgeAll(run)
        const counts = [...run.removed.values()].flatMap((tables) => Object.values(tables))
        return { rows: counts.reduce((sum, n) => sum + n, 0), rewritten }
      } finally {
        const events = [...run.removed].map(([scope, rows]) => ({
          action: 'retention.purged',
          scope,
          details: { rows },
        }))
        await deps.record?.(events)
      }
    },
    stop(): void {
      isStopped = true
    },
  }
}

/** Whether the purge of the day is due: once a day, from an hour on. @param lastMs when it ran last; undefined = not since the start */
export function isPurgeDue(hour: number, lastMs: number | undefined, nowMs: number): boolean {
  const day = (ms: number) => Math.floor(ms / dayMs)
  return new Date(nowMs).getUTCHours() >= hour && (lastMs === undefined || day(lastMs) < day(nowMs))
}
