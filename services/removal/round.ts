// One round of removal: everything that is due of some projects goes out of tables, log, blob storage and dead letters. A
// project or a place that cannot be written keeps the others from nothing.
import type { Audit } from '../core/audit/audit.ts'
import { clockOf } from '../core/clock/clock.ts'
import type { Log } from '../core/log/log.ts'
import type { Erasure } from '../events/erasures.ts'
import type { LogKey } from '../events/logs.ts'
import type { DeadLetters } from '../worker/dead-letters/dead-letters.ts'
import { type Deleted, type Due, type DueLog, parted } from './due.ts'
import type { FileRemoval, NamedDigests } from './remove-files.ts'
import { callsAtOnce, type RowRemoval } from './remove-rows.ts'
import {
  addCount,
  type CountsOfDeletes,
  type ErasedOf,
  erasedOfRow,
  LogNotRewritten,
  rewriteFilesInLog,
  rewriteLog,
  wholeProject,
} from './rewrite-log.ts'

export type RoundDeps = {
  due: Pick<Due, 'calls' | 'feedback' | 'goneTraces' | 'logs'>
  removal: RowRemoval
  fileRemoval: Pick<FileRemoval, 'named' | 'namedByLogs' | 'remove' | 'removeOps' | 'removeBlobs'>
  log: Pick<Log, 'rewrite'>
  deadLetters: Pick<DeadLetters, 'remove'>
  audit: Pick<Audit, 'record'>
  removedProjects(): ReadonlyMap<string, number>
  isStopped(): boolean
  /** Says of erasures that they are being removed. */
  onBegin(erasures: readonly Erasure[]): Promise<void>
  onError(error: Error): void
}

/**
 * Removes what is due of some projects.
 * @param erasures that say so; their counts are added to
 * @returns by project what could not be removed, and stays due
 */
export type Round = (
  erasures: readonly Erasure[],
  projectIds: readonly string[],
  nowMs: number,
) => Promise<Map<string, string>>

/** An erasure is known so long after its deletes, which are events of another topic. */
const knownWithinMs = 5_000

const stopping = () => new Error('The worker is stopping')

/** The problem as a receipt shows it; the words of the fault may name erased data, and go to the server's log. */
const problemOf = (place: string, error: unknown): string =>
  error instanceof LogNotRewritten ? error.message : `${place} could not be removed: the log of the server says why`

/** Accept timestamp of the last one. */
const latestOf = (erasures: readonly Erasure[]): bigint | undefined =>
  erasures.map(({ untilVer }) => untilVer).sort((a, b) => (a < b ? 1 : -1))[0]

/** Findings about a project. */
type Found = ErasedOf & { ids: string[]; times: Set<number>; records: Map<string, bigint> }

/** Before all log records. */
const firstLog: LogKey = { at: '-9000000000000000000', id: '' }

export function createRound(deps: RoundDeps): Round {
  const { due, removal, fileRemoval, log, removedProjects, isStopped } = deps

  /** Adds what was removed of a call to the first erasure that asked for it. */
  const countOf = (
    erasures: readonly Erasure[],
    { deleteVer, partVer }: { deleteVer: bigint; partVer: bigint },
    counts: Partial<Erasure['counts']> = {},
  ): void => {
    const erasure = erasures.find(({ untilVer }) => deleteVer <= untilVer)
    if (erasure === undefined) return
    if (partVer > 0n && (erasure.firstVer === 0n || partVer < erasure.firstVer)) erasure.firstVer = partVer
    for (const [name, count] of Object.entries(counts)) erasure.counts[name as keyof Erasure['counts']] += count
  }

  /** The same of what was counted by the deletes that asked for it. */
  const countAll = (
    erasures: readonly Erasure[],
    name: keyof Erasure['counts'],
    counts: ReadonlyMap<bigint, number> = new Map(),
  ): void => {
    for (const [deleteVer, count] of counts) countOf(erasures, { deleteVer, partVer: 0n }, { [name]: count })
  }

  /**
   * Whether a delete is to be carried out now. One that an erasure has just asked for which is not known yet is left to
   * it: its receipt would not tell of it.
   */
  const isKnownOf = (erasures: readonly Erasure[], nowMs: number) => {
    const unknown = clockOf(nowMs - knownWithinMs)
    return (deleteVer: bigint): boolean => deleteVer < unknown || erasures.some(({ untilVer }) => deleteVer <= untilVer)
  }

  /** Deleted calls of a project, some at a time. */
  async function* deletedCalls(
    projectId: string,
    erasures: readonly Erasure[],
    nowMs: number,
  ): AsyncGenerator<Deleted[]> {
    const isKnown = isKnownOf(erasures, nowMs)
    for (let after = ''; !isStopped(); ) {
      const calls = await due.calls(projectId, after)
      const last = calls.at(-1)
      if (last === undefined) return
      const known = calls.filter(({ deleteVer }) => isKnown(deleteVer))
      if (known.length > 0) yield known
      after = last.id
    }
    throw stopping()
  }

  /** Deleted log records of a project, some at a time. */
  async function* deletedLogs(
    projectId: string,
    erasures: readonly Erasure[],
    nowMs: number,
  ): AsyncGenerator<DueLog[]> {
    const isKnown = isKnownOf(erasures, nowMs)
    for (let after = firstLog; !isStopped(); ) {
      const logs = await due.logs(projectId, after)
      const last = logs.at(-1)
      if (last === undefined) return
      yield logs.filter(({ deleteVer }) => isKnown(deleteVer))
      after = last
    }
    throw stopping()
  }

  /** The log records themselves, once the log has lost what they say. */
  async function removeLogs(
    projectId: string,
    found: Pick<Found, 'records'>,
    erasures: readonly Erasure[],
    nowMs: number,
  ): Promise<void> {
    const removed = new Set<string>()
    for await (const page of deletedLogs(projectId, erasures, nowMs)) {
      const logs = page.filter(({ id }) => found.records.has(id))
      await removal.removeLogs(projectId, logs)
      for (const log of logs) {
        if (!removed.has(log.id)) countOf(erasures, log, { log_records: 1 })
        removed.add(log.id)
      }
    }
  }

  /** Removes files that nothing but what is deleted of a project names: while that is there. */
  async function removeFiles(projectId: string, erasures: readonly Erasure[], nowMs: number): Promise<void> {
    const named: NamedDigests = new Map()
    const goneLogs = new Set<string>()
    for await (const calls of deletedCalls(projectId, erasures, nowMs)) {
      await fileRemoval.named(projectId, calls, named)
      await fileRemoval.removeOps(projectId, calls)
      const ids = calls.map(({ id }) => id)
      for (const id of (await removal.recordsOf(projectId, ids)).keys()) goneLogs.add(id)
    }
    for await (const logs of deletedLogs(projectId, erasures, nowMs)) {
      await fileRemoval.namedByLogs(projectId, logs, named)
      for (const { id } of logs) goneLogs.add(id)
    }
    const removed = await fileRemoval.remove(projectId, named, goneLogs)
    for (const { ver, bytes } of removed) countOf(erasures, { deleteVer: ver, partVer: 0n }, { files: 1, bytes })
    const [files, bytes] = [removed.length, removed.reduce((sum, one) => sum + one.bytes, 0)]
    if (files > 0)
      await deps.audit.record({ action: 'erasure.files_removed', scope: projectId, details: { files, bytes } })
  }

  /** Removes feedback that was purged, and older versions of what was made anew. @returns ids that were purged, with when */
  async function removeFeedback(
    projectId: string,
    erasures: readonly Erasure[],
    nowMs: number,
  ): Promise<Map<string, bigint>> {
    const isKnown = isKnownOf(erasures, nowMs)
    const found = [...(await due.feedback(projectId, erasures))].filter(([, { ver }]) => isKnown(ver))
    const gone = new Map(found.map(([id, { ver }]) => [id, ver]))
    const rows = await removal.removePurged(projectId, gone)
    // Their number was counted at the request: some rows merged with those that purged them.
    for (const [id, partVer] of rows) countOf(erasures, { deleteVer: gone.get(id) ?? 0n, partVer })
    return new Map(found.flatMap(([id, { ver, isPurged }]) => (isPurged ? [[id, ver] as const] : [])))
  }

  /** Removes remaining rows of removed calls that nothing led to. */
  async function removeStrays(
    projectId: string,
    erasures: readonly Erasure[],
  ): Promise<{ ids: string[]; times: number[] }> {
    const untilVer = latestOf(erasures)
    if (untilVer === undefined) return { ids: [], times: [] }
    const { ids } = await removal.strays(projectId, untilVer)
    return { ids, times: ids.length > 0 ? (await removal.removeParts(projectId, ids)).times : [] }
  }

  /** Removes the parts of all deleted calls of a project. */
  async function removeProject(projectId: string, erasures: readonly Erasure[], nowMs: number): Promise<Found> {
    const failed = erasures.filter(({ status }) => status === 'failed')
    await deps.onBegin(erasures)
    await removeFiles(projectId, erasures, nowMs)
    const strays = await removeStrays(projectId, failed)
    // Their calls are not known any more: the first request gets the count.
    const calls = new Map(strays.ids.map((id) => [id, 0n]))
    const times = new Set(strays.times)
    const spans = new Map<string, bigint>()
    const seenTraces = new Set<string>()
    for await (const some of deletedCalls(projectId, erasures, nowMs)) {
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
    for await (const logs of deletedLogs(projectId, erasures, nowMs))
      for (const { id, deleteVer } of logs) records.set(id, deleteVer)
    const traces = await due.goneTraces(projectId, [...seenTraces])
    const feedback = await removeFeedback(projectId, erasures, nowMs)
    const untilVer = latestOf(erasures) ?? 0n
    return { ids: [...calls.keys()], times, calls, spans, traces, records, feedback, untilVer }
  }

  /** Everything of a project that was removed. */
  async function removeWhole(projectId: string, erasures: readonly Erasure[]): Promise<void> {
    await deps.onBegin(erasures)
    const places = await rewriteFilesInLog(log, new Map([[projectId, wholeProject]]))
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

  return async (erasures, projectIds, nowMs) => {
    const open = Map.groupBy(erasures, ({ projectId }) => projectId)
    const problems = new Map<string, string>()
    const attempt = async (some: Iterable<string>, place: string, job: () => Promise<void>): Promise<void> => {
      try {
        await job()
      } catch (error) {
        if (isStopped()) throw error
        deps.onError(error instanceof Error ? error : new Error(String(error)))
        for (const projectId of some) problems.set(projectId, problemOf(place, error))
      }
    }
    const [whole, others] = parted(projectIds, (projectId) => removedProjects().has(projectId))
    const found = new Map<string, Found>()
    for (const projectId of others)
      await attempt([projectId], 'rows and files', async () => {
        found.set(projectId, await removeProject(projectId, open.get(projectId) ?? [], nowMs))
      })
    const times = new Map([...found].map(([projectId, one]) => [projectId, one.times]))
    await attempt(found.keys(), 'indexed values', () => removal.removeValues(times))
    const sets = new Map<string, ErasedOf>()
    // Data that was created anew under its id is found in the log alone.
    for (const [projectId, one] of found)
      if (one.ids.length + one.feedback.size + one.records.size > 0 || one.untilVer > 0n) sets.set(projectId, one)
    for (const projectId of whole) sets.set(projectId, wholeProject)
    const letters: CountsOfDeletes = new Map()
    if (sets.size > 0) {
      await attempt(sets.keys(), 'records of the log', async () => {
        const rewritten = await rewriteLog(log, sets)
        for (const [projectId, rows] of rewritten?.counts ?? []) countAll(open.get(projectId) ?? [], 'log_rows', rows)
        if (rewritten !== undefined && rewritten.places.length > 0) throw new LogNotRewritten(rewritten.places)
      })
      await attempt(sets.keys(), 'dead letters', async () => {
        await deps.deadLetters.remove(({ topic, row }) => {
          const erased = erasedOfRow(topic, row, sets, whole)
          if (erased !== null) addCount(letters, erased)
          return erased !== null
        })
      })
    }
    for (const [projectId, counts] of letters) countAll(open.get(projectId) ?? [], 'dead_letters', counts)
    // The rows by which all of it is found go last: a try that breaks off begins anew, and so does one that failed.
    for (const [projectId, one] of found)
      if (!problems.has(projectId))
        await attempt([projectId], 'rows of calls', async () => {
          await removeLogs(projectId, one, open.get(projectId) ?? [], nowMs)
          const { ids } = one
          for (let i = 0; i < ids.length; i += callsAtOnce)
            await removal.removeCalls(projectId, ids.slice(i, i + callsAtOnce))
        })
    for (const projectId of whole)
      await attempt([projectId], 'rows of the project', () => removeWhole(projectId, open.get(projectId) ?? []))
    await attempt(projectIds, 'files of removed rows', () => removal.rewriteFiles(whole.length > 0))
    return problems
  }
}
