// Erasures: what is deleted is also removed. Calls that are deleted and still stored say what is to be removed, so that no
// list of them can be lost; an event per erasure says how far it is, and in the end what was removed: its receipt.
import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock/clock.ts'
import { canonicalJson } from '../core/json/canonical.ts'
import type { Log } from '../core/log/log.ts'
import {
  type Erasure,
  type ErasureRow,
  erasureColumns,
  erasureOf,
  erasureRecord,
  erasuresTopic,
  receiptOf,
} from '../events/erasures.ts'
import { blockedErasures, dueProjects, heldCounts, parted } from './due.ts'
import { find } from './engine.ts'
import { createRemaining, lookedAt } from './remaining.ts'
import { type RoundDeps, removeRound } from './round.ts'

const hourMs = 3_600_000
const everyMs = 60_000
/** So long after its deletes an erasure is in the log: what is younger may yet be asked for. */
const askedWithinMs = 1_000

export type Erasing = {
  /** Something was asked for: it is noted when it is hidden. */
  onAsked(): void
  /** Removes what is due, and looks whether what was removed is gone. @returns erasures that are done since */
  run(nowMs?: number): Promise<number>
  stop(): Promise<void>
}

export type ErasingDeps = Omit<RoundDeps, 'isStopped' | 'onBegin'> & {
  log: Pick<Log, 'append' | 'rewrite' | 'owns'>
  clock: Clock
  /** Whether the tables hold everything that the log held just now. */
  settled(): Promise<boolean>
  /** Within so many hours of its request an erasure is done; 0 = at once. */
  eraseHours: number
  /** Time for which records that cannot be rewritten stay in the log. */
  logRetentionMs: number
  onDone(done: { erasures: number }): void
  /** Called after each look: erasures that are not done by their deadline, but for held ones, and those that failed. */
  onOpen(open: { overdue: number; failed: number }): void
}

type State = Omit<ErasingDeps, 'removal'> &
  RoundDeps & {
    /** When other deletes, and data that came again, were last looked for. */
    lookedMs: number
    /** Erasures as this process wrote them last, by id: their events may not be in the table yet. */
    written: Map<string, Erasure>
  }

/** A copy: changes of an erasure until its next record do not change the recorded one. */
const copyOf = (erasure: Erasure): Erasure => ({ ...erasure, counts: { ...erasure.counts } })

const msOfClock = (clock: bigint): number => Number(clock >> 10n) / 1_000
const byDelete = (a: Erasure, b: Erasure): number => (a.untilVer < b.untilVer ? -1 : 1)
const byProject = (erasures: Iterable<Erasure>) => Map.groupBy(erasures, ({ projectId }) => projectId)

async function openErasures(state: State): Promise<Erasure[]> {
  const { written } = state
  const rows = await find<ErasureRow>(state, 'erasure.open', {}, { columns: erasureColumns.join(', ') })
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

/** Records an erasure, with some changes. */
async function append({ clock, log, written }: State, erasure: Erasure, changes: Partial<Erasure> = {}): Promise<void> {
  Object.assign(erasure, changes)
  const at = clock.next()
  await log.append(erasuresTopic.name, [erasureRecord(erasure, at)])
  erasure.changedMs = msOfClock(at)
  written.set(erasure.id, copyOf(erasure))
}

async function change(state: State, erasures: readonly Erasure[], status: 'removing' | 'verifying'): Promise<void> {
  for (const erasure of erasures) if (erasure.status !== status) await append(state, erasure, { status, problem: '' })
}

/** Says of an erasure that all that is left of it waits for the end of a hold. */
async function wait(state: State, erasure: Erasure, held: number): Promise<void> {
  if (erasure.status === 'held' && erasure.held === held) return
  const problem = held === 0 ? 'something of the project is held' : `held: ${held}`
  await append(state, erasure, { status: 'held', problem, held })
}

/** Removes what is due of some projects, and says of their erasures how that went. */
async function removeDue(state: State, erasures: Erasure[], due: Iterable<string>, nowMs: number): Promise<void> {
  const own = byProject(erasures)
  const problems = await removeRound(state, erasures, [...new Set([...due, ...own.keys()])], nowMs)
  for (const [projectId, some] of own) {
    const problem = problems.get(projectId)
    if (problem === undefined) await change(state, some, 'verifying')
    else for (const erasure of some) await append(state, erasure, { status: 'failed', problem })
  }
}

/** Writes receipts: each holds the hash of the one before. */
async function finish(state: State, projectId: string, erasures: readonly Erasure[], nowMs: number): Promise<void> {
  const remainingOf = createRemaining(state)
  const [row] = await find<{ hash: string }>(state, 'erasure.previous', { project: projectId })
  let previous = row?.hash ?? ''
  // Clocks may go back: nothing is done before it was hidden.
  const beganUs = Math.max(Math.round(nowMs * 1_000), ...erasures.map(({ hiddenUs }) => hiddenUs))
  for (const [n, erasure] of erasures.entries()) {
    Object.assign(erasure, { status: 'done', doneUs: beganUs + n, previous, problem: '', held: 0 })
    erasure.remaining = JSON.stringify(await remainingOf(erasure))
    erasure.places = JSON.stringify(lookedAt(state.log))
    const { hash: _, ...receipt } = receiptOf(erasure)
    const hash = createHash('sha256')
      .update(canonicalJson(JSON.stringify(receipt)))
      .digest('hex')
    await state.audit.record({ action: 'erasure.done', scope: projectId, target: erasure.id, details: { hash } })
    await append(state, erasure, { hash })
    previous = hash
  }
}

/** Erasures that are not done, and have something that may be removed; those that a hold keeps waiting say so. */
async function freeErasures(state: State, all: readonly Erasure[], isDue: (ms: number) => boolean, nowMs: number) {
  const { held } = state
  const free: Erasure[] = []
  for (const [projectId, own] of byProject(all)) {
    if (!held.isAny(projectId)) {
      free.push(...own)
      continue
    }
    const isWhole = (await held.of(projectId)) === 'all'
    const counts = await heldCounts(state, projectId, own)
    for (const erasure of own) {
      const calls = counts.get(erasure) ?? 0
      // An erasure that waits for the same number of calls as before has nothing else to remove.
      const isWaiting = erasure.status === 'held' && erasure.held === calls && calls > 0
      if (!isWhole && !isWaiting) free.push(erasure)
      else if (isWhole && erasure.status !== 'failed' && isDue(erasure.requestedUs / 1_000))
        await wait(state, erasure, calls)
    }
  }
  const notHeld = all.filter(({ status }) => status !== 'held')
  state.onOpen({
    overdue: notHeld.filter(({ deadlineUs }) => deadlineUs / 1_000 < nowMs).length,
    failed: notHeld.filter(({ status }) => status === 'failed').length,
  })
  return free.sort(byDelete)
}

/** Tables with something that was to be removed, and that nothing will be found by; what is applied meanwhile is none. */
async function strayTables({ removal, settled }: State, projectId: string, untilVer: bigint) {
  const { tables } = await removal.strays(projectId, untilVer)
  if (tables.length === 0) return []
  if (!(await settled())) return undefined
  return (await removal.strays(projectId, untilVer)).tables
}

/** Ends erasures of which nothing is left, neither rows nor files. @returns how many */
async function finishVerified(state: State, verifying: readonly Erasure[], nowMs: number): Promise<number> {
  let done = 0
  for (const [projectId, own] of byProject(verifying)) {
    const isWhole = state.removedProjects().has(projectId)
    const goneBeforeMs = await state.removal.filesGoneBefore(isWhole)
    // Each by its own time: those that are asked for meanwhile hold up none before them.
    const erasures = own.filter(({ changedMs }) => changedMs < goneBeforeMs)
    const last = erasures.at(-1)
    if (last === undefined) continue
    const tables = isWhole ? [] : await strayTables(state, projectId, last.untilVer)
    if (tables === undefined) continue
    if (tables.length > 0) {
      const problem = `rows are left in ${tables.join(', ')}`
      for (const erasure of erasures) await append(state, erasure, { status: 'failed', problem })
      continue
    }
    const isHeld = state.held.isAny(projectId)
    const held = isHeld ? await heldCounts(state, projectId, erasures) : new Map<Erasure, number>()
    for (const [erasure, calls] of held) await wait(state, erasure, calls)
    const free = erasures.filter((erasure) => !held.has(erasure))
    await finish(state, projectId, free, nowMs)
    done += free.length
  }
  return done
}

async function work(state: State, nowMs: number): Promise<number> {
  if (!state.log.owns('calls', 0)) {
    // Whoever owns it tells.
    state.onOpen({ overdue: 0, failed: 0 })
    return 0
  }
  // Half of the time is left for tries, and for files that others still read.
  const isDue = (ms: number) => ms <= nowMs - (state.eraseHours * hourMs) / 2
  const look = async () => {
    const open = await openErasures(state)
    const free = await freeErasures(state, open, isDue, nowMs)
    const [verifying, waiting] = parted(free, ({ status }) => status === 'verifying')
    const seen = open.filter(({ hiddenUs }) => hiddenUs === 0)
    const isOneDue = ({ status, requestedUs, changedMs }: Erasure) =>
      status === 'failed' ? changedMs <= nowMs - hourMs : isDue(requestedUs / 1_000)
    return { verifying, waiting, seen, isRequestDue: waiting.some(isOneDue) }
  }
  const known = await look()
  // Other deletes, and data that came again, are looked for once an hour.
  const isHourly = nowMs - state.lookedMs >= hourMs
  if (!known.isRequestDue && !isHourly && known.verifying.length + known.seen.length === 0) return 0
  // An erasure may be read before the deletes that it follows: they are events of another topic.
  if (!(await state.settled())) return 0
  // The deletes are in the tables by now: no answer shows what they are about.
  for (const erasure of known.seen)
    await append(state, erasure, { hiddenUs: Math.round(Math.max(nowMs, Date.now()) * 1_000) })
  // Deletes that have come meanwhile are removed, too: what asked for them is told of it.
  const { verifying, waiting, isRequestDue } = await look()
  if (isHourly) state.lookedMs = nowMs
  const blocked = await blockedErasures(state, verifying)
  const projects = isRequestDue || isHourly ? await dueProjects(state) : new Map<string, bigint>()
  if (isRequestDue || [...projects.values()].some((oldest) => isDue(msOfClock(oldest) + askedWithinMs))) {
    await removeDue(state, [...waiting, ...blocked].sort(byDelete), projects.keys(), nowMs)
    return 0
  }
  if (blocked.size > 0) await removeDue(state, [...blocked], [], nowMs)
  const rest = verifying.filter((erasure) => !blocked.has(erasure))
  const done = await finishVerified(state, rest, nowMs)
  if (done > 0) state.onDone({ erasures: done })
  return done
}

export function createErasing(deps: ErasingDeps): Erasing {
  let isStopped = false
  let running: Promise<number> | undefined
  let isAskedAgain = false
  const state: State = {
    ...deps,
    lookedMs: 0,
    written: new Map(),
    isStopped: () => isStopped,
    onBegin: (erasures) => change(state, erasures, 'removing'),
  }
  const run = (nowMs = Date.now()): Promise<number> => {
    running ??= work(state, nowMs).finally(() => {
      running = undefined
    })
    return running
  }
  const look = () =>
    void run().catch((error: unknown) => deps.onError(error instanceof Error ? error : new Error(String(error))))
  const timer = setInterval(look, deps.eraseHours === 0 ? 1_000 : everyMs)
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
