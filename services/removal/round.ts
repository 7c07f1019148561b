// One round of removal: everything that is due of some projects goes out of tables, log, blob storage and dead letters. A
// project or a place that cannot be written keeps the others from nothing.
import type { Audit } from '../core/audit/audit.ts'
import { clockOf } from '../core/clock/clock.ts'
import type { Log } from '../core/log/log.ts'
import type { Erasure } from '../events/erasures.ts'
import type { DeadLetters } from '../worker/dead-letters/dead-letters.ts'
import { type Deleted, type DueDeps, dueFeedback, nextCalls, nextLogs, parted, tracesWithoutCalls } from './due.ts'
import type { FileRemoval, NamedDigests } from './files.ts'
import {
  addCount,
  type CountsOfDeletes,
  type ErasedCalls,
  erasedOfRow,
  LogNotRewritten,
  rewriteFilesInLog,
  rewriteLog,
  wholeProject,
} from './kept-log.ts'
import type { RowRemoval } from './rows.ts'

export type RoundDeps = DueDeps & {
  removal: RowRemoval
  fileRemoval: Pick<FileRemoval, 'named' | 'namedByLogs' | 'remove' | 'removeOps' | 'removeBlobs'>
  log: Pick<Log, 'rewrite'>
  deadLetters: Pick<DeadLetters, 'remove'>
  audit: Pick<Audit, 'record'>
  isStopped(): boolean
  /** Says of erasures that they are being removed. */
  onBegin(erasures: readonly Erasure[]): Promise<void>
  onError(error: Error): void
}

/** A project in a round, with its erasures: their counts are added to. */
type ProjectRound = RoundDeps & { projectId: string; erasures: readonly Erasure[]; nowMs: number }

/** An erasure is known so long after its deletes, which are events of another topic. */
const knownWithinMs = 5_000

/** The problem as a receipt shows it; the words of the fault may name erased data, and go to the server's log. */
const problemOf = (place: string, error: unknown): string =>
  error instanceof LogNotRewritten ? error.message : `${place} could not be removed: the log of the server says why`

/** Accept timestamp of the last one; 0 = there is none. */
const latestOf = (erasures: readonly Erasure[]): bigint =>
  erasures.map(({ untilVer }) => untilVer).sort((a, b) => (a < b ? 1 : -1))[0] ?? 0n

/** Findings about a project, with the times of its payloads in microseconds. */
type Found = ErasedCalls & { calls: Map<string, bigint>; records: Map<string, bigint>; times: Set<number> }

type Counts = Erasure['counts']

/** Adds what was removed of a call to the first erasure that asked for it. */
function countOf(
  erasures: readonly Erasure[],
  { deleteVer, partVer = 0n }: { deleteVer: bigint; partVer?: bigint },
  counts: Partial<Counts> = {},
): void {
  const erasure = erasures.find(({ untilVer }) => deleteVer <= untilVer)
  if (erasure === undefined) return
  if (partVer > 0n && (erasure.firstVer === 0n || partVer < erasure.firstVer)) erasure.firstVer = partVer
  for (const [name, count] of Object.entries(counts)) erasure.counts[name as keyof Counts] += count
}

/**
 * Whether a delete is to be carried out now. One that an erasure has just asked for which is not known yet is left to it:
 * its receipt would not tell of it.
 */
const isKnown = ({ erasures, nowMs }: ProjectRound, deleteVer: bigint): boolean =>
  deleteVer < clockOf(nowMs - knownWithinMs) || erasures.some(({ untilVer }) => deleteVer <= untilVer)

/** Deleted calls or log records of a project, some at a time. */
async function* pagesOf<Row extends Deleted>(
  project: ProjectRound,
  next: (deps: DueDeps, projectId: string, last?: Row) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: Row | undefined; !project.isStopped(); ) {
    const rows = await next(project, project.projectId, last)
    last = rows.at(-1)
    if (last === undefined) return
    const known = rows.filter(({ deleteVer }) => isKnown(project, deleteVer))
    if (known.length > 0) yield known
  }
  throw new Error('The worker is stopping')
}

/** Removes files that nothing but what is deleted of a project names: while that is there. */
async function removeFiles(project: ProjectRound): Promise<void> {
  const { projectId, fileRemoval } = project
  const named: NamedDigests = new Map()
  const goneLogs = new Set<string>()
  for await (const calls of pagesOf(project, nextCalls)) {
    await fileRemoval.named(projectId, calls, named)
    await fileRemoval.removeOps(projectId, calls)
    const ids = calls.map(({ id }) => id)
    for (const id of (await project.removal.recordsOf(projectId, ids)).keys()) goneLogs.add(id)
  }
  for await (const logs of pagesOf(project, nextLogs)) {
    await fileRemoval.namedByLogs(projectId, logs, named)
    for (const { id } of logs) goneLogs.add(id)
  }
  const removed = await fileRemoval.remove(projectId, named, goneLogs)
  for (const { ver, bytes } of removed) countOf(project.erasures, { deleteVer: ver }, { files: 1, bytes })
  const [files, bytes] = [removed.length, removed.reduce((sum, one) => sum + one.bytes, 0)]
  if (files > 0)
    await project.audit.record({ action: 'erasure.files_removed', scope: projectId, details: { files, bytes } })
}

/** Removes feedback that was purged, and older versions of what was made anew. @returns ids that were purged, with when */
async function removeFeedback(project: ProjectRound): Promise<Map<string, bigint>> {
  const { projectId, erasures } = project
  const found = (await dueFeedback(project, projectId, erasures)).filter(({ ver }) => isKnown(project, ver))
  const gone = new Map(found.map(({ id, ver }) => [id, ver]))
  // Their number was counted at the request: some rows merged with those that purged them.
  for (const [id, partVer] of await project.removal.removePurged(projectId, gone))
    countOf(erasures, { deleteVer: gone.get(id) ?? 0n, partVer })
  return new Map(found.filter(({ isPurged }) => isPurged).map(({ id, ver }) => [id, ver]))
}

/** Removes files, and the parts of all deleted calls of a project. */
async function removeOfProject(project: ProjectRound): Promise<Found> {
  const { projectId, erasures, removal } = project
  const failed = erasures.filter(({ status }) => status === 'failed')
  await project.onBegin(erasures)
  await removeFiles(project)
  // Remaining rows of removed calls that nothing led to. Their calls are not known any more: the first request gets the count.
  const strays = failed.length > 0 ? (await removal.strays(projectId, latestOf(failed))).ids : []
  const calls = new Map(strays.map((id) => [id, 0n]))
  const times = new Set(strays.length > 0 ? (await removal.removeParts(projectId, strays)).times : [])
  const spans = new Map<string, bigint>()
  const seenTraces = new Set<string>()
  for await (const some of pagesOf(project, nextCalls)) {
    const removed = await removal.removeParts(
      projectId,
      some.map(({ id }) => id),
    )
    for (const call of some) {
      countOf(erasures, call, {
        payload_rows: removed.payloads.get(call.id) ?? 0,
        feedback: removed.feedback.get(call.id) ?? 0,
        log_records: removed.logs.get(call.id) ?? 0,
      })
      calls.set(call.id, call.deleteVer)
    }
    for (const [span, id] of removed.spans) spans.set(span, calls.get(id) ?? 0n)
    for (const trace of removed.traces) seenTraces.add(trace)
    for (const us of removed.times) times.add(us)
  }
  const records = new Map<string, bigint>()
  for await (const logs of pagesOf(project, nextLogs)) for (const { id, deleteVer } of logs) records.set(id, deleteVer)
  const traces = await tracesWithoutCalls(project, projectId, [...seenTraces])
  const feedback = await removeFeedback(project)
  return { calls, times, spans, traces, records, feedback, untilVer: latestOf(erasures) }
}

/** Removes the rows by which all of it was found, once the log has lost what they say: log records, and calls. */
async function removeFound(project: ProjectRound, { calls, records }: Found): Promise<void> {
  const { projectId, erasures, removal } = project
  const removed = new Set<string>()
  for await (const page of pagesOf(project, nextLogs)) {
    const logs = page.filter(({ id }) => records.has(id))
    await removal.removeLogs(projectId, logs)
    for (const log of logs) {
      if (!removed.has(log.id)) countOf(erasures, log, { log_records: 1 })
      removed.add(log.id)
    }
  }
  await removal.removeCalls(projectId, [...calls.keys()])
}

/** Removes everything of a project that was removed. */
async function removeWhole({ projectId, erasures, log, removal, fileRemoval, onBegin }: ProjectRound): Promise<void> {
  await onBegin(erasures)
  const places = await rewriteFilesInLog(log, projectId, wholeProject)
  const { files, bytes } = await fileRemoval.removeBlobs(projectId)
  const rows = await removal.removeProject(projectId)
  const [first] = erasures
  if (first !== undefined) {
    first.counts.payload_rows += rows.get('payloads') ?? 0
    first.counts.feedback += rows.get('feedback') ?? 0
    first.counts.log_records += rows.get('logs') ?? 0
    first.counts.files += files
    first.counts.bytes += bytes
  }
  if (places.length > 0) throw new LogNotRewritten(places)
}

/**
 * Removes what is due of some projects.
 * @param erasures that say so; their counts are added to
 * @returns by project what could not be removed, and stays due
 */
export async function removeRound(
  deps: RoundDeps,
  erasures: readonly Erasure[],
  projectIds: readonly string[],
  nowMs: number,
): Promise<Map<string, string>> {
  const { removal, log } = deps
  const open = Map.groupBy(erasures, ({ projectId }) => projectId)
  const projectOf = (projectId: string): ProjectRound => ({
    ...deps,
    projectId,
    erasures: open.get(projectId) ?? [],
    nowMs,
  })
  const problems = new Map<string, string>()
  const attempt = async (some: Iterable<string>, place: string, job: () => Promise<void>): Promise<void> => {
    try {
      await job()
    } catch (error) {
      if (deps.isStopped()) throw error
      deps.onError(error instanceof Error ? error : new Error(String(error)))
      for (const projectId of some) problems.set(projectId, problemOf(place, error))
    }
  }
  const count = (name: 'log_rows' | 'dead_letters', counts: CountsOfDeletes = new Map()): void => {
    for (const [projectId, rows] of counts)
      for (const [deleteVer, n] of rows) countOf(open.get(projectId) ?? [], { deleteVer }, { [name]: n })
  }
  const [whole, others] = parted(projectIds, (projectId) => deps.removedProjects().has(projectId))
  const found = new Map<string, Found>()
  for (const projectId of others)
    await attempt([projectId], 'rows and files', async () => {
      found.set(projectId, await removeOfProject(projectOf(projectId)))
    })
  const times = new Map([...found].map(([projectId, one]) => [projectId, one.times]))
  await attempt(found.keys(), 'indexed values', () => removal.removeValues(times))
  const erased = new Map<string, ErasedCalls>(whole.map((projectId) => [projectId, wholeProject]))
  // Data that was created anew under its id is found in the log alone.
  for (const [projectId, one] of found)
    if (one.calls.size + one.feedback.size + one.records.size > 0 || one.untilVer > 0n) erased.set(projectId, one)
  if (erased.size > 0) {
    await attempt(erased.keys(), 'records of the log', async () => {
      const rewritten = await rewriteLog(log, erased)
      count('log_rows', rewritten?.counts)
      if (rewritten !== undefined && rewritten.places.length > 0) throw new LogNotRewritten(rewritten.places)
    })
    const letters: CountsOfDeletes = new Map()
    await attempt(erased.keys(), 'dead letters', async () => {
      await deps.deadLetters.remove(({ topic, row }) => {
        const of = erasedOfRow(topic, row, erased)
        if (of !== null) addCount(letters, of)
        return of !== null
      })
    })
    count('dead_letters', letters)
  }
  // The rows by which all of it is found go last: a try that breaks off begins anew, and so does one that failed.
  for (const [projectId, one] of found)
    if (!problems.has(projectId))
      await attempt([projectId], 'rows of calls', () => removeFound(projectOf(projectId), one))
  for (const projectId of whole)
    await attempt([projectId], 'rows of the project', () => removeWhole(projectOf(projectId)))
  await attempt(projectIds, 'files of removed rows', () => removal.rewriteFiles(whole.length > 0))
  return problems
}
