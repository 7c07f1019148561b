// Erasures: what is deleted is also removed. Calls that are deleted and still stored say what is to be removed, so that no
// list of them can be lost; an event per erasure says how far it is, and in the end what was removed: its receipt.
import { createHash } from 'node:crypto'
import type { Audit } from '../../core/audit/audit.ts'
import { type Clock, clockOf } from '../../core/clock/clock.ts'
import { canonicalJson } from '../../core/json/canonical.ts'
import type { Log } from '../../core/log/log.ts'
import type { Store } from '../../core/store/store.ts'
import {
  type Erasure,
  type ErasureRow,
  erasureColumns,
  erasureOf,
  erasureRecord,
  erasuresTopic,
  receiptOf,
} from '../../events/erasures.ts'
import type { DeadLetters } from '../dead-letters/dead-letters.ts'
import type { FileRemoval, NamedDigests } from './remove-files.ts'
import { callsAtOnce, type RowRemoval } from './remove-rows.ts'
import { erasedProjectOf, rewriteFilesInLog, rewriteLog } from './rewrite-log.ts'

const hourMs = 3_600_000
const everyMs = 60_000
/** So long after its deletes an erasure is in the log: what is younger may yet be asked for. */
const askedWithinMs = 1_000
const background = { pool: 'background' } as const
/** Whatever there is. */
const all = { has: () => true }

const msOfClock = (clock: bigint): number => Number(clock >> 10n) / 1_000

export type Erasing = {
  /** Removes what is due, and looks whether what was removed is gone. @returns erasures that are done since */
  run(nowMs?: number): Promise<number>
  stop(): Promise<void>
}

export type ErasingDeps = {
  removal: RowRemoval
  fileRemoval: Pick<FileRemoval, 'named' | 'remove' | 'removeBlobs'>
  store: Pick<Store, 'rows' | 'command'>
  log: Pick<Log, 'append' | 'rewrite' | 'owns'>
  clock: Clock
  /** Whether the tables hold everything that the log held just now. */
  settled(): Promise<boolean>
  isHeld(projectId: string): boolean
  /** Projects that were removed, with when: nothing of theirs stays, whatever comes late. */
  removedProjects(): ReadonlyMap<string, number>
  /** Within so many hours of its request an erasure is done; 0 = at once. */
  eraseHours: number
  /** How long what cannot be written again stays in the log. */
  logRetentionMs: number
  audit: Pick<Audit, 'record'>
  deadLetters: Pick<DeadLetters, 'remove'>
  onDone(done: { erasures: number }): void
  onError(error: Error): void
}

/** Those for which a condition holds, and the others. */
function parted<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}

/** Deleted calls of a project that are still stored, with the accept timestamp of each delete. */
type Deleted = { id: string; deleteVer: bigint }

/** Calls that are deleted and stored: accept timestamps of the delete, and of the oldest part that is stored. */
const deletedCallsSql = `
  SELECT project_id, id, delete_ver AS deleted,
    if(start_ver = 0 OR (end_ver > 0 AND end_ver < start_ver), end_ver, start_ver) AS part
  FROM callhouse.calls WHERE delete_ver > 0
  UNION ALL
  SELECT project_id, id, maxIf(clock, kind = 'delete'), minIf(clock, kind != 'delete')
  FROM callhouse.call_patches
  WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.call_patches WHERE kind = 'delete')
  GROUP BY project_id, id HAVING countIf(kind != 'delete') > 0`

export function createErasing(deps: ErasingDeps): Erasing {
  const { store, log, clock, eraseHours, isHeld, removedProjects, removal, fileRemoval } = deps
  /** Half of the time is left for tries, and for files that others still read. */
  const dueMs = (eraseHours * hourMs) / 2
  let isStopped = false
  let running: Promise<number> | undefined
  let looked = 0

  const read = <Row>(name: string, sql: string, params: Record<string, unknown> = {}): Promise<Row[]> =>
    store.rows<Row>({ name, sql, params }, background)

  const openErasures = async (): Promise<Erasure[]> => {
    const rows = await read<ErasureRow>(
      'erasure.open',
      `SELECT ${erasureColumns.join(', ')} FROM callhouse.erasures FINAL WHERE status != 'done' ORDER BY until_ver`,
    )
    return rows.map(erasureOf)
  }
  const append = async (erasure: Erasure): Promise<void> => {
    const at = clock.next()
    await log.append(erasuresTopic.name, [erasureRecord(erasure, at)])
    erasure.changedMs = msOfClock(at)
  }

  /** Projects with deleted calls that nothing holds, and the accept timestamp of the oldest delete. */
  const dueProjects = async (): Promise<Map<string, bigint>> => {
    const rows = await read<{ project_id: string; oldest: string }>(
      'erasure.projects',
      `SELECT project_id, toString(min(deleted)) AS oldest FROM (${deletedCallsSql}) GROUP BY project_id`,
    )
    const free = rows.filter(({ project_id }) => !isHeld(project_id))
    const due = new Map(free.map(({ project_id, oldest }) => [project_id, BigInt(oldest)]))
    const removed = removedProjects()
    const left = await removal.tablesWith([...removed.keys()].filter((projectId) => !isHeld(projectId)))
    for (const projectId of left.keys()) due.set(projectId, clockOf(removed.get(projectId) as number))
    return due
  }

  /**
   * Erasures of which something is left that they were to remove. Parts that come again afterwards keep none open: they
   * are removed with what is due next.
   */
  const blockedOf = async (verifying: readonly Erasure[]): Promise<Set<Erasure>> => {
    const [ofRemoved, others] = parted(verifying, ({ projectId }) => removedProjects().has(projectId))
    const left = await removal.tablesWith([...new Set(ofRemoved.map(({ projectId }) => projectId))])
    const blocked = new Set(ofRemoved.filter(({ projectId }) => left.has(projectId)))
    if (others.length === 0) return blocked
    const rows = await read<{ n: string }>(
      'erasure.left',
      `SELECT DISTINCT toString(n) AS n FROM
        (
          SELECT arrayJoin(arrayFilter(
            (n, project, until, removed) -> project = project_id AND deleted <= until AND part <= removed,
            range(toUInt32(length({projects:Array(String)}))),
            {projects:Array(String)}, {untils:Array(UInt64)}, {removed:Array(UInt64)}
          )) AS n
          FROM (${deletedCallsSql}) WHERE project_id IN {projects:Array(String)}
        )`,
      {
        projects: others.map(({ projectId }) => projectId),
        untils: others.map(({ untilVer }) => String(untilVer)),
        removed: others.map(({ changedMs }) => String(clockOf(changedMs))),
      },
    )
    for (const { n } of rows) blocked.add(others[Number(n)] as Erasure)
    return blocked
  }

  /** The next deleted calls of a project, in the order of their ids. */
  const deletedCalls = async (projectId: string, after: string): Promise<Deleted[]> => {
    const rows = await read<{ id: string; ver: string }>(
      'erasure.calls',
      `SELECT id, toString(max(ver)) AS ver FROM
        (
          SELECT id, delete_ver AS ver FROM callhouse.calls
          WHERE project_id = {project:String} AND delete_ver > 0 AND id > {after:String}
          UNION ALL
          SELECT id, clock FROM callhouse.call_patches WHERE project_id = {project:String} AND kind = 'delete'
            AND id > {after:String} AND id IN
            (SELECT id FROM callhouse.call_patches WHERE project_id = {project:String} AND kind != 'delete')
        )
        GROUP BY id ORDER BY id LIMIT ${callsAtOnce}`,
      { project: projectId, after },
    )
    return rows.map(({ id, ver }) => ({ id, deleteVer: BigInt(ver) }))
  }

  /** Adds what was removed of a call to the first erasure that asked for it. */
  const countOf = (erasures: readonly Erasure[], deleteVer: bigint, counts: Partial<Erasure['counts']>): void => {
    const erasure = erasures.find(({ untilVer }) => deleteVer <= untilVer)
    if (erasure === undefined) return
    for (const [name, count] of Object.entries(counts)) erasure.counts[name as keyof Erasure['counts']] += count
  }

  const change = async (erasures: readonly Erasure[], status: 'removing' | 'verifying'): Promise<void> => {
    for (const erasure of erasures)
      if (erasure.status !== status) await append(Object.assign(erasure, { status, problem: '' }))
  }

  /** Removes files that nothing but deleted calls of a project names: while their payloads are there, which name them. */
  async function removeFiles(projectId: string): Promise<void> {
    const named: NamedDigests = new Map()
    for (let after = ''; !isStopped; ) {
      const calls = await deletedCalls(projectId, after)
      if (calls.length === 0) break
      await fileRemoval.named(projectId, calls, named)
      after = calls.at(-1)?.id as string
    }
    if (isStopped) throw new Error('The worker is stopping')
    const { files, bytes } = await fileRemoval.remove(projectId, named)
    if (files > 0)
      await deps.audit.record({ action: 'erasure.files_removed', scope: projectId, details: { files, bytes } })
  }

  /** Removes the parts of all deleted calls of a project. @returns their ids */
  async function removeProject(projectId: string, erasures: readonly Erasure[]): Promise<string[]> {
    await change(erasures, 'removing')
    await removeFiles(projectId)
    const ids: string[] = []
    for (let after = ''; !isStopped; ) {
      const calls = await deletedCalls(projectId, after)
      if (calls.length === 0) return ids
      const some = calls.map(({ id }) => id)
      const { feedback, payloads } = await removal.removeParts(projectId, some)
      for (const { id, deleteVer } of calls)
        countOf(erasures, deleteVer, { payload_rows: payloads.get(id) ?? 0, feedback: feedback.get(id) ?? 0 })
      ids.push(...some)
      after = some.at(-1) as string
    }
    throw new Error('The worker is stopping')
  }

  /** Everything of a project that was removed. */
  async function removeWhole(projectId: string, erasures: readonly Erasure[]): Promise<void> {
    await change(erasures, 'removing')
    await rewriteFilesInLog(log, new Map([[projectId, { files: all, objects: all }]]))
    await fileRemoval.removeBlobs(projectId)
    const rows = await removal.removeProject(projectId)
    const [first] = erasures
    if (first === undefined) return
    first.counts.payload_rows += rows.get('payloads') ?? 0
    first.counts.feedback += rows.get('feedback') ?? 0
  }

  /** Removes what is deleted of some projects. @param erasures that say so */
  async function removeDue(erasures: readonly Erasure[], projectIds: readonly string[]): Promise<void> {
    const open = Map.groupBy(erasures, ({ projectId }) => projectId)
    const erased = new Map<string, string[]>()
    const whole = projectIds.filter((projectId) => removedProjects().has(projectId))
    const others = projectIds.filter((projectId) => !whole.includes(projectId))
    for (const projectId of others) erased.set(projectId, await removeProject(projectId, open.get(projectId) ?? []))
    const sets: Map<string, Pick<ReadonlySet<string>, 'has'>> = new Map(
      [...erased].map(([projectId, ids]) => [projectId, new Set(ids)]),
    )
    for (const projectId of whole) sets.set(projectId, all)
    const rows = await rewriteLog(log, sets)
    const letters = new Map<string, number>()
    await deps.deadLetters.remove(({ topic, row }) => {
      const projectId = erasedProjectOf(topic, row, sets, whole)
      if (projectId !== null) letters.set(projectId, (letters.get(projectId) ?? 0) + 1)
      return projectId !== null
    })
    // The rows by which all of it is found go last: a try that breaks off begins anew.
    for (const [projectId, ids] of erased)
      for (let i = 0; i < ids.length; i += callsAtOnce)
        await removal.removeCalls(projectId, ids.slice(i, i + callsAtOnce))
    for (const projectId of whole) await removeWhole(projectId, open.get(projectId) ?? [])
    for (const projectId of projectIds) {
      const [first] = open.get(projectId) ?? []
      if (first === undefined) continue
      first.counts.log_rows += rows?.get(projectId) ?? 0
      first.counts.dead_letters += letters.get(projectId) ?? 0
    }
    await removal.rewriteFiles(whole.length > 0)
  }

  const logEndOf = (requestedUs: number): string => new Date(requestedUs / 1_000 + deps.logRetentionMs).toISOString()

  /** Places that are not this server's to change, with the time at which they are empty. */
  const remainingOf = ({ projectId, requestedUs }: Erasure): { place: string; until: string | null }[] => [
    ...(log.rewrite === undefined ? [{ place: 'log', until: logEndOf(requestedUs) }] : []),
    ...(log.rewrite !== undefined && removedProjects().has(projectId)
      ? [{ place: 'log of tables, prices, queues and jobs', until: logEndOf(requestedUs) }]
      : []),
    ...(removedProjects().has(projectId)
      ? []
      : [{ place: 'objects and tables, and files that something else names', until: null }]),
    { place: 'backups and exports', until: null },
  ]

  async function finish(projectId: string, erasures: readonly Erasure[], nowMs: number): Promise<number> {
    const [row] = await read<{ hash: string }>(
      'erasure.previous',
      `SELECT hash FROM callhouse.erasures FINAL WHERE project_id = {project:String} AND status = 'done'
        ORDER BY done_us DESC, id DESC LIMIT 1`,
      { project: projectId },
    )
    let previous = row?.hash ?? ''
    for (const [n, erasure] of erasures.entries()) {
      Object.assign(erasure, { status: 'done', doneUs: Math.round(nowMs * 1_000) + n, previous, problem: '' })
      erasure.remaining = JSON.stringify(remainingOf(erasure))
      const { hash: _, ...receipt } = receiptOf(erasure)
      erasure.hash = createHash('sha256')
        .update(canonicalJson(JSON.stringify(receipt)))
        .digest('hex')
      const { id, hash } = erasure
      await deps.audit.record({ action: 'erasure.done', scope: projectId, target: id, details: { hash } })
      await append(erasure)
      previous = hash
    }
    return erasures.length
  }

  /** Erasures that are not done and not held; those that a hold keeps waiting say so. */
  async function freeErasures(isDue: (ms: number) => boolean): Promise<Erasure[]> {
    const all = await openErasures()
    for (const erasure of all)
      if (isHeld(erasure.projectId) && erasure.status !== 'held' && isDue(erasure.requestedUs / 1_000))
        await append(Object.assign(erasure, { status: 'held', problem: 'something of the project is held' }))
    return all.filter(({ projectId }) => !isHeld(projectId))
  }

  /** Ends erasures of which nothing is left, neither rows nor files. */
  async function finishVerified(verifying: readonly Erasure[], nowMs: number): Promise<number> {
    let done = 0
    for (const [projectId, erasures] of Map.groupBy(verifying, (one) => one.projectId)) {
      const rewrittenMs = Math.max(...erasures.map(({ changedMs }) => changedMs))
      if ((await removal.filesLeft(rewrittenMs, removedProjects().has(projectId))) === 0)
        done += await finish(projectId, erasures, nowMs)
    }
    return done
  }

  async function work(nowMs: number): Promise<number> {
    if (!log.owns('calls', 0)) return 0
    const isDue = (ms: number) => ms <= nowMs - dueMs
    const look = async () => {
      const [verifying, waiting] = parted(await freeErasures(isDue), ({ status }) => status === 'verifying')
      return { verifying, waiting, isRequestDue: waiting.some(({ requestedUs }) => isDue(requestedUs / 1_000)) }
    }
    const known = await look()
    // What was deleted in other ways, or came again, is looked for once an hour.
    const isHourly = nowMs - looked >= hourMs
    if (!known.isRequestDue && !isHourly && known.verifying.length === 0) return 0
    // An erasure may be read before the deletes that it follows: they are events of another topic.
    if (!(await deps.settled())) return 0
    // Deletes that have come meanwhile are removed, too: what asked for them is told of it.
    const { verifying, waiting, isRequestDue } = await look()
    if (isHourly) looked = nowMs
    const blocked = await blockedOf(verifying)
    const due = isRequestDue || isHourly ? await dueProjects() : new Map<string, bigint>()
    if (isRequestDue || [...due.values()].some((oldest) => isDue(msOfClock(oldest) + askedWithinMs))) {
      const round = [...waiting, ...blocked].sort((a, b) => (a.untilVer < b.untilVer ? -1 : 1))
      await removeDue(round, [...due.keys()])
      await change(round, 'verifying')
      return 0
    }
    if (blocked.size > 0) {
      await removeDue([...blocked], [...new Set([...blocked].map(({ projectId }) => projectId))])
      await change([...blocked], 'verifying')
    }
    const done = await finishVerified(
      verifying.filter((erasure) => !blocked.has(erasure)),
      nowMs,
    )
    if (done > 0) deps.onDone({ erasures: done })
    return done
  }

  const run = (nowMs = Date.now()): Promise<number> => {
    running ??= work(nowMs).finally(() => {
      running = undefined
    })
    return running
  }
  const timer = setInterval(
    () => void run().catch((error: unknown) => deps.onError(error instanceof Error ? error : new Error(String(error)))),
    eraseHours === 0 ? 1_000 : everyMs,
  )
  timer.unref()
  return {
    run,
    async stop() {
      isStopped = true
      clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}
