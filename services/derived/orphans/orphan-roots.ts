// Finds the topmost calls of traces whose root never came, so that these stand in lists of roots (docs/adr/0063): of minutes
// that were counted a while ago, so that a root that is still under way is waited for; and of traces that were over long before
// they came, at once.
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import type { Budget } from '../budget.ts'
import { type Assignment, readCoverage, writeCoverage } from '../rollups/coverage.ts'

export type OrphanRoots = {
  /**
   * Looks at everything that was counted until then.
   * @returns how many calls became such a root, or are none any more
   */
  look(nowMs: number): Promise<number>
  /** Takes the spans of a batch that was applied. */
  arrived(spans: { traces: ReadonlyMap<string, Trace & { spans: readonly ArrivedSpan[] }> }, nowMs: number): void
  /** Whether traces arrived that may have lost or found a root. */
  isDue(): boolean
  /** Looks at these traces. @returns as `look` does */
  lookAtArrived(nowMs: number): Promise<number>
  start(): void
  stop(): Promise<void>
}

/** Name under which it is noted how far was looked: the position is a time in microseconds. */
const coverageName = 'orphan_roots'
const everyMs = 15_000
/** Minutes, and traces, of one statement. */
const minutesAtOnce = 1_000
const tracesAtOnce = 2_000
/** Age of spans from which on they are imported: their roots may come with later requests. */
const importedMs = 3_600_000
/** Traces that are remembered, of each kind: the others are found with their minutes. */
const maxArrived = 10_000

/** A span of a batch; '' = it has no parent. */
type ArrivedSpan = { parent: string; startedUs: number }
type Minute = { project_id: string; minute: number }
type Trace = { project: string; trace: string }
type Change = Trace & { started_us: number; id: string; is_orphan: number }

function* slicesOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

type OrphanDeps = {
  store: Pick<Store, 'rows' | 'command'>
  budget: Pick<Budget, 'run'>
  assignment(): Assignment
  /** Time without anything new after which the root of a trace is given up. */
  graceMs: number
  /** Makes what is counted at the times at which some calls start, in microseconds, due. */
  recountCalls(calls: readonly Pick<Change, 'project' | 'started_us'>[]): Promise<void>
  onError(error: Error): void
}

type State = OrphanDeps & {
  lastVersion: number
  /** Up to when projects with such roots were looked at. */
  lookedUs: number
  isStopped: boolean
  /** Traces without a root that were over before they came, and those of late that have calls that stand for one. */
  arrived: Map<string, Trace>
  orphaned: Set<string>
}

type Read = <Row>(name: string, params: Record<string, unknown>) => Promise<Row[]>

const readNow =
  ({ store }: State): Read =>
  (name, params) =>
    store.rows(statement(name, params), { pool: 'background' })

const readWithin =
  (state: State): Read =>
  (name, params) =>
    state.budget.run(() => readNow(state)(name, params))

async function keep({ store, recountCalls }: State, changes: readonly Change[], version: number): Promise<void> {
  const lines = changes.map(({ project, started_us, id, trace, is_orphan }) =>
    JSON.stringify([project, started_us, id, trace, is_orphan, version]),
  )
  await store.command(statement('orphan-roots-insert', {}, { rows: lines.join('\n') }), { background: true })
  await recountCalls(changes)
}

async function lookAtTraces(
  state: State,
  traces: readonly Trace[],
  times: { quiet: number; ended: number },
  read: Read,
): Promise<number> {
  let changed = 0
  for (const some of slicesOf(traces, tracesAtOnce)) {
    const named = { projects: some.map(({ project }) => project), traces: some.map(({ trace }) => trace) }
    // Versions grow with the time at which a look begins to read: of two looks at a trace the later one wins.
    state.lastVersion = Math.max(Date.now() * 1_000, state.lastVersion + 1)
    const version = state.lastVersion
    const changes = await read<Change>('orphan-roots-calls', { ...named, ...times })
    if (changes.length > 0) await keep(state, changes, version)
    changed += changes.length
  }
  return changed
}

async function lookAtMinutes(state: State, minutes: readonly Minute[], quietUs: number): Promise<number> {
  const times = minutes.map(({ minute }) => Number(minute))
  const read = readWithin(state)
  const traces = await read<Trace>('orphan-roots-traces', {
    projects: minutes.map(({ project_id }) => project_id),
    minutes: times,
    from: Math.min(...times),
    before: Math.max(...times) + 60,
  })
  return lookAtTraces(state, traces, { quiet: quietUs, ended: 0 }, read)
}

/** Calls that stood for a root leave a trace that got one. */
async function lookAtArrived(state: State, nowMs: number): Promise<number> {
  const { arrived, orphaned } = state
  const traces = [...arrived.values()]
  const keys = [...arrived.keys()]
  arrived.clear()
  if (state.isStopped) return 0
  for (const key of keys) {
    orphaned.delete(key)
    orphaned.add(key)
  }
  for (const key of orphaned) {
    if (orphaned.size <= maxArrived) break
    orphaned.delete(key)
  }
  const ended = Math.round((nowMs - state.graceMs) * 1_000)
  return lookAtTraces(state, traces, { quiet: 0, ended }, readNow(state))
}

async function look(state: State, nowMs: number): Promise<number> {
  const { store, graceMs } = state
  const { slots } = state.assignment()
  if (state.isStopped || slots?.length === 0) return 0
  const now = Math.round(nowMs * 1_000)
  const until = now - graceMs * 1_000
  const covered = await readCoverage(store, coverageName, slots)
  const after = covered.offsets.get(0) ?? 0
  const between = (from: number, to: number, orphaned: 0 | 1) =>
    readWithin(state)<Minute>('orphan-roots-due', { after: from, until: to, orphaned, slots: slots ?? [] })
  // A root that comes after all replaces its calls at once.
  const late = await between(Math.max(after, state.lookedUs), now, 1)
  const due = until > after ? await between(after, until, 0) : []
  let changed = 0
  for (const minutes of slicesOf([...late, ...due], minutesAtOnce)) {
    if (state.isStopped) return changed
    changed += await lookAtMinutes(state, minutes, until)
  }
  state.lookedUs = now
  if (due.length === 0) return changed
  const upTo = [{ topic: 'calls', partition: 0, offset: until }]
  await writeCoverage(store, coverageName, { slots, upTo, revision: until })
  return changed
}

export function createOrphanRoots(deps: OrphanDeps): OrphanRoots {
  const { graceMs } = deps
  const [arrived, orphaned] = [new Map<string, Trace>(), new Set<string>()]
  const state: State = { ...deps, lastVersion: 0, lookedUs: 0, isStopped: false, arrived, orphaned }
  const queue = createSerialQueue()
  let timer: NodeJS.Timeout | undefined
  return {
    look: (nowMs) => queue.run(() => look(state, nowMs)),
    arrived({ traces }, nowMs) {
      const [overUs, oldUs] = [(nowMs - graceMs) * 1_000, (nowMs - importedMs) * 1_000]
      const isLate = ({ parent, startedUs }: ArrivedSpan) => parent !== '' && startedUs <= overUs && startedUs > oldUs
      for (const [key, { project, trace, spans }] of traces) {
        const isOver = spans.length > 0 && spans.every(isLate)
        if (orphaned.has(key) || (isOver && arrived.size < maxArrived)) arrived.set(key, { project, trace })
        else arrived.delete(key)
      }
    },
    isDue: () => arrived.size > 0,
    lookAtArrived: (nowMs) => lookAtArrived(state, nowMs),
    start() {
      let isLooking = false
      timer = setInterval(() => {
        // On a busy machine a look may take longer than until the next one.
        if (isLooking) return
        isLooking = true
        queue
          .run(() => look(state, Date.now()))
          .catch((error: unknown) => deps.onError(error instanceof Error ? error : new Error(String(error))))
          .finally(() => {
            isLooking = false
          })
      }, everyMs)
      timer.unref()
    },
    async stop() {
      state.isStopped = true
      clearInterval(timer)
      await queue.idle()
    },
  }
}
