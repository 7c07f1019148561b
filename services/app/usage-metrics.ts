// Usage of projects as metrics: with a label for those projects that the operator lists, and for no others.
import type { Registry } from 'prom-client'
import type { UsageMinute } from '../core/http/rates/meter.ts'
import { metricsIn } from '../core/process/metrics-in.ts'

const names = {
  requests: 'Requests about a listed project',
  refused: 'Requests about a listed project that a limit refused',
  calls: 'Calls that were accepted for a listed project',
  bytes_stored: 'Bytes of rows that were accepted for a listed project',
  reads: 'Reads of a listed project',
} as const
/** Each is a series of every counter. */
const maxProjects = 50
type Name = keyof typeof names

const countsOf = (minute: UsageMinute): Record<Name, number> => ({
  requests: minute.requests,
  refused: minute.refused,
  calls: minute.calls,
  bytes_stored: minute.bytesStored,
  reads: minute.reads,
})

/** @returns to be told of minutes that were written, again when they have grown */
export function observeUsage(
  registry: Registry,
  projects: readonly string[],
): (minutes: readonly UsageMinute[]) => void {
  const listed = new Set(projects.slice(0, maxProjects))
  const { counter } = metricsIn(registry)
  const counters = Object.entries(names).map(
    ([name, help]) => [name as Name, counter(`callhouse_project_${name}_total`, help, 'project')] as const,
  )
  /** Counters of the minute before. */
  const counted = new Map<string, Record<Name, number>>()
  return (minutes) => {
    for (const minute of minutes) {
      if (!listed.has(minute.projectId)) continue
      const key = `${minute.minuteMs} ${minute.projectId} ${minute.keyId}`
      const counts = countsOf(minute)
      const before = counted.get(key)
      counted.set(key, counts)
      for (const [name, counter] of counters) counter.labels(minute.projectId).inc(counts[name] - (before?.[name] ?? 0))
    }
    // A minute that is over grows no more once its last counts were written.
    const newest = Math.max(...minutes.map(({ minuteMs }) => minuteMs))
    for (const key of counted.keys()) if (Number(key.split(' ', 1)[0]) < newest - 120_000) counted.delete(key)
  }
}
