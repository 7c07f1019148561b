// The context of the running handler: what it may read of the store, and whether its work may still move to a thread.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type LongAnswer, TooLongHere } from '../errors.ts'
import type { ProjectId } from '../ids.ts'

/** Whether the work of a request may still begin anew elsewhere: not once something was written or its answer began. */
export type Work = { mayMove: boolean; moved: TooLongHere | undefined }

/** Rows that are appended about a project: their bytes, and the calls that they begin. */
export type Amount = { bytes: number; calls: number }

/** The account of a request: the limits of its key and projects, and its counters. */
export type Account = {
  /** The number by which the thread that holds the engines knows it in another one. */
  number?: number
  /** @throws Fault 429 when the project has had its requests of a minute */
  open(projectId: ProjectId): void
  /**
   * Before rows are appended.
   * @returns to be told whether they were: what was not is given back
   * @throws Fault 429 or 403 when a limit would be passed
   */
  append(amounts: ReadonlyMap<string, Amount>): (isAppended: boolean) => void
  /** Values of a project were masked. */
  masked(projectId: string, hits: number): void
  /** A statement is about to be run. @throws Fault 429 when too many requests read at one time */
  read(projectId: ProjectId, pool: 'interactive' | 'export' | 'background'): void
}

/** The caller of the running request, as audit events name it. */
export type AuditedRequest = {
  requestId: string
  userId: string
  keyId: string | undefined
  address(): string
}

/** Rows of a project from before these times, whole hours in microseconds, are not seen; absent = all are. */
export type Cutoffs = {
  /** The project was removed: only routes about that open it. */
  isRemoved?: true
  callsUs?: number | undefined
  /** Only where payloads are kept for less time than their calls. */
  payloadsUs?: number | undefined
  /** Cut-off of indexed values of payloads. */
  valuesUs?: number | undefined
  statsUs?: number | undefined
  logsUs?: number | undefined
}

/** The cut-offs of a project now; undefined = nothing is hidden. */
export type CutoffsOf = (projectId: ProjectId) => Cutoffs | undefined

/** The context that a handler runs in; handlers that it invokes share it. */
export type RunningFor = {
  account?: Account | undefined
  request?: AuditedRequest | undefined
  cutoffsOf?: CutoffsOf | undefined
  /** Result of its waits for earlier writes: milliseconds, 0 = nothing is missing. */
  staleness?: { ms: number } | undefined
}

export type RunningHandler = RunningFor & {
  route: string
  withoutProject: boolean
  projects: ReadonlySet<string>
  /**
   * Cut-offs of the projects that have some, as they were when the projects were opened: one answer has one cut-off.
   */
  cutoffs?: ReadonlyMap<string, Cutoffs>
  work: Work | undefined
}

/** Follows a handler through everything that it awaits; handlers that it invokes have their own. */
const running = new AsyncLocalStorage<RunningHandler>()

export const runAs = <T>(handler: RunningHandler, work: () => T): T => running.run(handler, work)

/** Work of the request that runs; handlers that another one invokes share it. */
export const runningWork = (): Work | undefined => running.getStore()?.work

/** The account of the running request; undefined for the server's own work. */
export const runningAccount = (): Account | undefined => running.getStore()?.account

/** The request that runs; undefined for work of the server's own and in other threads. */
export const runningRequest = (): AuditedRequest | undefined => running.getStore()?.request
/** The cut-offs of the running request in a project that it opened. */
export const runningCutoffs = (projectId: ProjectId): Cutoffs | undefined => running.getStore()?.cutoffs?.get(projectId)

/** A wait for earlier writes ended before they were readable: the answer of the request that runs may lack them. */
export function noteStale(ms: number): void {
  const staleness = running.getStore()?.staleness
  if (staleness !== undefined) staleness.ms = Math.max(staleness.ms, ms)
}

export const runningFor = (): RunningFor => running.getStore() ?? {}

/** Work of another thread, for which the ports are used here. */
export const runFor = <T>(account: Account | undefined, work: () => T): T =>
  account === undefined
    ? work()
    : running.run({ route: 'thread', withoutProject: true, projects: new Set(), work: undefined, account }, work)

/** @throws TooLongHere when the work of the request that runs may begin anew in a thread */
export function moveWork(answer?: LongAnswer): void {
  const work = runningWork()
  if (work?.mayMove !== true) return
  work.moved = new TooLongHere(answer)
  throw work.moved
}

/** Something is written: from now on the work stays here. @throws TooLongHere when it has moved already */
export function keepWork(): void {
  const work = runningWork()
  if (work?.moved !== undefined) throw work.moved
  if (work !== undefined) work.mayMove = false
}

/**
 * Throws unless the handler that runs has opened the project of a statement, or any project for a statement that is
 * about none: a handler that forgets to ask for its caller's right gets no rows.
 */
export function throwUnlessOpened(statement: { name: string; projectId?: ProjectId }): void {
  const handler = running.getStore()
  if (handler === undefined) throw new Error(`${statement.name} is read by no handler`)
  const { projectId } = statement
  const isOpened =
    projectId === undefined ? handler.withoutProject || handler.projects.size > 0 : handler.projects.has(projectId)
  if (!isOpened) throw new Error(`${handler.route} reads ${statement.name} of a project that it has not opened`)
}
