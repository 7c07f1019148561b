// Retention of calls: the setting of a project, or the server's default.
import type { Cutoffs, CutoffsOf } from '../process/running-handler.ts'
import type { Value } from './items.ts'

export type RetentionDays = NonNullable<Value<'project'>['retention']>

/** The settings by project; a project without one has the default. */
export type RetentionSource = {
  of(projectId: string): RetentionDays | undefined
  /** Projects that have set any. */
  projectIds(): Iterable<string>
  /** Whether the project was removed: nothing of it is seen. */
  isRemoved(projectId: string): boolean
  /** Days for projects that set none; 0 = for ever. */
  defaultDays: number
  /** Days of log records for projects that set none. */
  logsDays: number
}

const hourMs = 3_600_000

const cutoffUs = (days: number | null | undefined, nowMs: number): number | undefined =>
  days ? Math.floor((nowMs - days * 24 * hourMs) / hourMs) * hourMs * 1_000 : undefined

type Days = Pick<RetentionSource, 'of' | 'defaultDays' | 'logsDays'>

/** Days that count for a project; null = for ever. Log records go with calls that go sooner, unless days of theirs are set. */
export function retentionOf({ of, defaultDays, logsDays }: Days, projectId: string) {
  const set = of(projectId) ?? {}
  const { calls_days = defaultDays || null, payloads_days, files_days = null, stats_days = calls_days } = set
  const removed = set.payloads_removed_us
  const { feedback = 'with_calls' } = set
  const { logs_days = Math.min(logsDays, calls_days ?? logsDays) } = set
  return {
    calls_days,
    payloads_days: payloads_days ?? calls_days,
    files_days,
    stats_days,
    logs_days,
    feedback,
    removed,
  }
}

/** Whether log records of a project are hidden by their age; of others whole months go, and what is there is seen. */
const areLogsAged = (source: Days, projectId: string): boolean =>
  source.of(projectId)?.logs_days !== undefined || retentionOf(source, projectId).calls_days !== null

/** Before when log records of a project are to be removed; undefined = never. */
export function logsRemovedBeforeUs(source: Days, projectId: string): number | undefined {
  const beforeUs = cutoffUs(retentionOf(source, projectId).logs_days, Date.now())
  if (beforeUs === undefined || areLogsAged(source, projectId)) return beforeUs
  const day = new Date(beforeUs / 1_000)
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth()) * 1_000
}

/** The most days for which log records of some project are kept. */
export const mostLogsDays = (source: Days & Pick<RetentionSource, 'projectIds'>): number =>
  Math.max(
    source.logsDays,
    ...[...source.projectIds()].map((id) => retentionOf(source, id).logs_days ?? Number.POSITIVE_INFINITY),
  )

/** Whole hours, so that counters of hours can be left out as they are. */
export function createCutoffsOf(source: RetentionSource): CutoffsOf {
  return (projectId): Cutoffs | undefined => {
    if (source.isRemoved(projectId)) return { isRemoved: true }
    const { calls_days, payloads_days, stats_days, logs_days, removed } = retentionOf(source, projectId)
    const logsDays = areLogsAged(source, projectId) ? logs_days : null
    const isForEver = [calls_days, payloads_days, stats_days, logsDays].every((days) => days === null)
    if (isForEver && removed === undefined) return undefined
    const nowMs = Date.now()
    const [callsUs, valuesUs] = [cutoffUs(calls_days, nowMs), cutoffUs(payloads_days, nowMs)]
    const ownUs = payloads_days === calls_days ? removed : Math.max(valuesUs ?? 0, removed ?? 0)
    const [statsUs, logsUs] = [cutoffUs(stats_days, nowMs), cutoffUs(logsDays, nowMs)]
    return { callsUs, valuesUs, payloadsUs: ownUs, statsUs, logsUs }
  }
}

/**
 * The hour, in seconds, before which calls of a project are hidden; 0 = none are. @returns of some projects, and of all
 * others
 */
export function callCutoffs(source: RetentionSource, nowMs = Date.now()) {
  const seconds = (days: number | null) => (cutoffUs(days, nowMs) ?? 0) / 1e6
  const projects = [...source.projectIds()].filter((id) => source.of(id) !== undefined)
  return {
    projects,
    cutoffs: projects.map((id) => seconds(retentionOf(source, id).calls_days)),
    others: seconds(source.defaultDays),
  }
}

/**
 * The second from which on minutes of a project may be counted again: calls may be removed earlier than their
 * statistics are hidden. @returns as parameters of a statement; of projects that are not there all minutes may be
 */
export function countedAgain(
  source: Days & Pick<RetentionSource, 'projectIds'>,
  nowMs = Date.now(),
): { agedProjects: string[]; countedFrom: number[] } {
  const secondsOf = (id: string) => {
    const { calls_days, stats_days } = retentionOf(source, id)
    const isLonger = calls_days !== null && (stats_days === null || stats_days > calls_days)
    return isLonger ? (cutoffUs(calls_days, nowMs) ?? 0) / 1e6 : 0
  }
  const aged = [...source.projectIds()].map((id) => [id, secondsOf(id)] as const).filter(([, from]) => from > 0)
  return {
    // A list without any element has no type.
    agedProjects: ['', ...aged.map(([id]) => id)],
    countedFrom: [0, ...aged.map(([, from]) => from)],
  }
}

const dayMs = 24 * hourMs

/** Projects whose files go once nothing names them, with the time in milliseconds up to which they came. */
export function fileCutoffs(
  source: Days & Pick<RetentionSource, 'projectIds'>,
  nowMs: number,
): [projectId: string, beforeMs: number][] {
  return [...source.projectIds()].flatMap((projectId) => {
    const { files_days: days } = retentionOf(source, projectId)
    return days === null ? [] : [[projectId, nowMs - days * dayMs]]
  })
}

/** The age at which calls of some project are hidden; Infinity = none ever are. */
export function hiddenAfterMs(source: RetentionSource): number {
  const set = [...source.projectIds()].map((id) => retentionOf(source, id).calls_days)
  return Math.min(
    ...[source.defaultDays || null, ...set].map((days) => (days === null ? Number.POSITIVE_INFINITY : days * dayMs)),
  )
}
