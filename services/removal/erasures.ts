// Erasures: what is deleted is also removed. Calls that are deleted and still stored say what is to be removed, so that no
// list of them can be lost; an event per erasure says how far it is, and in the end what was removed: its receipt.
import { createHash } from 'node:crypto'
import type { Audit } from '../core/audit/audit.ts'
import type { Clock } from '../core/clock/clock.ts'
import { canonicalJson } from '../core/json/canonical.ts'
import type { Log } from '../core/log/log.ts'
import { statement } from '../core/store/statements.ts'
import type { Query, Store } from '../core/store/store.ts'
import {
  type Erasure,
  type ErasureRow,
  erasureColumns,
  erasureOf,
  erasureRecord,
  erasuresTopic,
  receiptOf,
} from '../events/erasures.ts'
import type { DeadLetters } from '../worker/dead-letters/dead-letters.ts'
import { createDue, parted } from './due.ts'
import type { HeldCalls } from './held-calls.ts'
import { createRemaining, lookedAt } from './remaining.ts'
import type { FileRemoval } from './remove-files.ts'
import type { RowRemoval } from './remove-rows.ts'
import { createRound } from './round.ts'

const hourMs = 3_600_000
const everyMs = 60_000
/** So long after its deletes an erasure is in the log: what is younger may yet be asked for. */
const askedWithinMs = 1_000
const background = { pool: 'background' } as const

/** A copy: changes of an erasure until its next record do not change the recorded one. */
const copyOf = (erasure: Erasure): Erasure => ({ ...erasure, counts: { ...erasure.counts } })

const msOfClock = (clock: bigint): number => Number(clock >> 10n) / 1_000

export type Erasing = {
  /** Something was asked for: it is noted when it is hidden. */
  onAsked(): void
  /** Removes what is due, and looks whether what was removed is gone. @returns erasures that are done since */
  run(nowMs?: number): Promise<number>
  stop(): Promise<void>
}

export type ErasingDeps = {
  removal: RowRemoval
  fileRemoval: Pick<FileRemoval, 'named' | 'namedByLogs' | 'remove' | 'removeOps' | 'removeBlobs'>
  store: Pick<Store, 'rows' | 'command'>
  log: Pick<Log, 'append' | 'rewrite' | 'owns'>
  clock: Clock
  /** Whether the tables hold everything that the log held just now. */
  settled(): Promise<boolean>
  held: HeldCalls
  /** Projects that were removed, with when: nothing of theirs stays, whatever comes late. */
  removedProjects(): ReadonlyMap<string, number>
  /** Within so many hours of its request an erasure is done; 0 = at once. */
  eraseHours: number
  /** Time for which records that cannot be rewritten stay in the log. */
  logRetentionMs: number
  audit: Pick<Audit, 'record'>
  deadLetters: Pick<DeadLetters, 'remove'>
  onDone(done: { erasures: number }): void
  /** Called after each look: erasures that are not done by their deadline, but for held ones, and those that failed. */
  onOpen(open: { overdue: number; failed: number }): void
  onError(error: Error): void
}

export function createErasing(deps: ErasingDeps): Erasing {
  const { store, log, clock, eraseHours, held, removedProjects, removal } = deps
  /** Half of the time is left for tries, and for files that others still read. */
  const dueMs = (eraseHours * hourMs) / 2
  let isStopped = false
  let running: Promise<number> | undefined
  let looked = 0
  let isAskedAgain = false
  /** Erasures as this process wrote them last, by id: their events may not be in the table yet. */
  const written = new Map<string, Erasure>()

  const read = <Row>(query: Query): Promise<Row[]> => store.rows<Row>(query, background)

  const openErasures = async (): Promise<Erasure[]> => {
    const rows = await read<ErasureRow>(statement('erasure.open', {}, { columns: erasureColumns.join(', ') }))
    const found = rows.map(erasureOf)
    const open = new Set(found.map(({ id }) => id))
    for (const id of written.keys()) if (!open.has(id)) written.delete(id)
    return found
      .map((one) => {
        const own = written.get(one.id)
        return own === undefined || own.changedMs < one.changedMs ? one : copyOf(own)
      })
      .filter(({ status }) => status !== 'done')
  }
  const due = createDue({ store, removal, held, removedProjects })
  const append = async (erasure: Erasure): Promise<void> => {
    const at = clock.next()
    await log.append(erasuresTopic.name, [erasureRecord(erasure, at)])
    erasure.changedMs = msOfClock(at)
    written.set(erasure.id, copyOf(erasure))
  }

  const change = async (erasures: readonly Erasure[], status: 'removing' | 'verifying'): Promise<void> => {
    for (const erasure of erasures)
      if (erasure.status !== status) await append(Object.assign(erasure, { status, problem: '' }))
  }
  /** Notes of erasures whose deletes are in the tables by now that no answer shows what they are about. */
  const noteHidden = async (erasures: readonly Erasure[], nowMs: number): Promise<void> => {
    for (const erasure of erasures) {
      erasure.hiddenUs = Math.round(Math.max(nowMs, Date.now()) * 1_000)
      await append(erasure)
    }
  }
  const fail = (erasure: Erasure, problem: string) => append(Object.assign(erasure, { status: 'failed', problem }))

  const removeRound = createRound({
    due,
    removal,
    fileRemoval: deps.fileRemoval,
    log,
    deadLetters: deps.deadLetters,
    audit: deps.audit,
    removedProjects,
    isStopped: () => isStopped,
    onError: deps.onError,
    onBegin: (erasures) => change(erasures, 'removing'),
  })
  /** Removes what is due of some projects, and says of their erasures how that went. */
  const removeDue = async (
    erasures: readonly Erasure[],
    projectIds: readonly string[],
    nowMs: number,
  ): Promise<void> => {
    const problems = await removeRound(erasures, projectIds, nowMs)
    for (const [projectId, own] of Map.groupBy(erasures, (one) => one.projectId)) {
      const problem = problems.get(projectId)
      if (problem === undefined) await change(own, 'verifying')
      else for (const erasure of own) await fail(erasure, problem)
    }
  }

  const remainingOf = createRemaining(deps)

  async function finish(projectId: string, erasures: readonly Erasure[], nowMs: number): Promise<number> {
    const [row] = await read<{ hash: string }>(statement('erasure.previous', { project: projectId }))
    let previous = row?.hash ?? ''
    // Clocks may go back: nothing is done before it was hidden.
    const beganUs = Math.max(Math.round(nowMs * 1_000), ...erasures.map(({ hiddenUs }) => hiddenUs))
    for (const [n, erasure] of erasures.entries()) {
      Object.assign(erasure, { status: 'done', doneUs: beganUs + n, previous, problem: '', held: 0 })
      erasure.remaining = JSON.stringify(await remainingOf(erasure))
      erasure.places = JSON.stringify(lookedAt(log))
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

  /** Says of an erasure that all that is left of it waits for the end of a hold. */
  const wait = async (erasure: Erasure, calls: number): Promise<void> => {
    if (erasure.status === 'held' && erasure.held === calls) return
    const problem = calls === 0 ? 'something of the project is held' : `held: ${calls}`
    await append(Object.assign(erasure, { status: 'held', problem, held: calls }))
  }

  /** Erasures that are not done, and have something that may be removed; those that a hold keeps waiting say so. */
  async function freeErasures(
    all: readonly Erasure[],
    isDue: (ms: number) => boolean,
    nowMs: number,
  ): Promise<Erasure[]> {
    const free: Erasure[] = []
    for (const [projectId, own] of Map.groupBy(all, (one) => one.projectId)) {
      if (!held.isAny(projectId)) {
        free.push(...own)
        continue
      }
      const isWhole = (await held.of(projectId)) === 'all'
      const counts = await due.held(projectId, own)
      for (const erasure of own) {
        const calls = counts.get(erasure) ?? 0
        // An erasure that waits for the same number of calls as before has nothing else to remove.
        const isWaiting = erasure.status === 'held' && erasure.held === calls && calls > 0
        if (!isWhole && !isWaiting) free.push(erasure)
        else if (isWhole && !/failed/.test(erasure.status) && isDue(erasure.requestedUs / 1_000))
          await wait(erasure, calls)
      }
    }
    tell(all, nowMs)
    return free.sort((a, b) => (a.untilVer < b.untilVer ? -1 : 1))
  }

  function tell(open: readonly Erasure[], nowMs: number): void {
    const free = open.filter(({ status }) => status !== 'held')
    const overdue = free.filter(({ deadlineUs }) => deadlineUs / 1_000 < nowMs).length
    deps.onOpen({ overdue, failed: free.filter(({ status }) => status === 'failed').length })
  }

  /** Tables with something that was to be removed, and that nothing will be found by; what is applied meanwhile is none. */
  async function strayTables(projectId: string, untilVer: bigint): Promise<string[] | undefined> {
    const { tables } = await removal.strays(projectId, untilVer)
    if (tables.length === 0) return []
    if (!(await deps.settled())) return undefined
    return (await removal.strays(projectId, untilVer)).tables
  }

  /** Ends those of which nothing is held. */
  async function finishFree(projectId: string, erasures: readonly Erasure[], nowMs: number): Promise<number> {
    if (!held.isAny(projectId)) return finish(projectId, erasures, nowMs)
    const counts = await due.held(projectId, erasures)
    for (const [erasure, calls] of counts) await wait(erasure, calls)
    return finish(
      projectId,
      erasures.filter((erasure) => !counts.has(erasure)),
      nowMs,
    )
  }

  /** Ends erasures of which nothing is left, neither rows nor files. */
  async function finishVerified(verifying: readonly Erasure[], nowMs: number): Promise<number> {
    let done = 0
    for (const [projectId, own] of Map.groupBy(verifying, (one) => one.projectId)) {
      const isWhole = removedProjects().has(projectId)
      const goneBeforeMs = await removal.filesGoneBefore(isWhole)
      // Each by its own time: those that are asked for meanwhile hold up none before them.
      const erasures = own.filter(({ changedMs }) => changedMs < goneBeforeMs)
      if (erasures.length === 0) continue
      const tables = isWhole ? [] : await strayTables(projectId, (erasures.at(-1) as Erasure).untilVer)
      if (tables === undefined) continue
      if (tables.length === 0) done += await finishFree(projectId, erasures, nowMs)
      else for (const erasure of erasures) await fail(erasure, `rows are left in ${tables.join(', ')}`)
    }
    return done
  }

  async function work(nowMs: number): Promise<number> {
    if (!log.owns('calls', 0)) {
      // Whoever owns it tells.
      deps.onOpen({ overdue: 0, failed: 0 })
      return 0
    }
    const isDue = (ms: number) => ms <= nowMs - dueMs
    const look = async () => {
      const open = await openErasures()
      const [verifying, waiting] = parted(
        await freeErasures(open, isDue, nowMs),
        ({ status }) => status === 'verifying',
      )
      const seen = open.filter(({ hiddenUs }) => hiddenUs === 0)
      const isOneDue = ({ status, requestedUs, changedMs }: Erasure) =>
        status === 'failed' ? changedMs <= nowMs - hourMs : isDue(requestedUs / 1_000)
      return { verifying, waiting, seen, isRequestDue: waiting.some(isOneDue) }
    }
    const known = await look()
    // Other deletes, and data that came again, are looked for once an hour.
    const isHourly = nowMs - looked >= hourMs
    if (!known.isRequestDue && !isHourly && known.verifying.length + known.seen.length === 0) return 0
    // An erasure may be read before the deletes that it follows: they are events of another topic.
    if (!(await deps.settled())) return 0
    await noteHidden(known.seen, nowMs)
    // Deletes that have come meanwhile are removed, too: what asked for them is told of it.
    const { verifying, waiting, isRequestDue } = await look()
    if (isHourly) looked = nowMs
    const blocked = await due.blocked(verifying)
    const projects = isRequestDue || isHourly ? await due.projects() : new Map<string, bigint>()
    if (isRequestDue || [...projects.values()].some((oldest) => isDue(msOfClock(oldest) + askedWithinMs))) {
      const round = [...waiting, ...blocked].sort((a, b) => (a.untilVer < b.untilVer ? -1 : 1))
      await removeDue(round, [...new Set([...projects.keys(), ...round.map(({ projectId }) => projectId)])], nowMs)
      return 0
    }
    if (blocked.size > 0)
      await removeDue([...blocked], [...new Set([...blocked].map(({ projectId }) => projectId))], nowMs)
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
  const look = () =>
    void run().catch((error: unknown) => deps.onError(error instanceof Error ? error : new Error(String(error))))
  const timer = setInterval(look, eraseHours === 0 ? 1_000 : everyMs)
  timer.unref()
  return {
    run,
    onAsked() {
      if (running === undefined) look()
      else if (!isAskedAgain) {
        isAskedAgain = true
        const again = () => {
          isAskedAgain = false
          if (!isStopped) look()
        }
        running.then(again, again)
      }
    },
    async stop() {
      isStopped = true
      clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}
