// The minute's work of a process on usage and quotas, however one of the rounds ends.
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openLimits, type ProcessLimits } from '../../services/app/limits.ts'
import type { AuditEvent } from '../../services/core/audit/chain.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { emptyState } from '../../services/core/directory/state.ts'
import type { Log } from '../../services/core/log/log.ts'
import type { Store } from '../../services/core/store/store.ts'

const minuteMs = 60_000
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A process with a quota of a thousand bytes a day for `acme/app`. */
async function opened({
  audit = async (_: AuditEvent): Promise<void> => undefined,
  broken = (): boolean => false,
} = {}) {
  const state = emptyState()
  state.projects.set('acme/app', { limits: { bytes_per_day: 1_000 } })
  const lines: string[] = []
  const written: string[] = []
  const append = async (topic: string, records: { rows: Buffer }[]) => {
    written.push(...records.map(({ rows }) => `${topic} ${rows}`))
    return { topic, partition: 0, offset: written.length }
  }
  const limits = await openLimits({
    directory: {
      state() {
        if (broken()) throw new Error('the directory broke')
        return state
      },
    },
    log: { append } as unknown as Log,
    store: { rows: async () => [] } as unknown as Store,
    clock: createClock(),
    config: { edges: 1, quotaStatus: '403', metricsProjects: [] } as never,
    logger: { warn: (...line: unknown[]) => void lines.push(JSON.stringify(line)) } as never,
    registry: new Registry(),
    audit: { record: audit },
  })
  return { limits, lines, written }
}

const took = (limits: ProcessLimits, bytes: number) =>
  limits.accounts.appended(new Map([['acme/app', { bytes, calls: 1 }]]))

it('usage is written in the minutes after one that failed', async () => {
  let isBroken = false
  const { limits, lines, written } = await opened({ broken: () => isBroken })
  isBroken = true
  await vi.advanceTimersByTimeAsync(minuteMs)
  isBroken = false
  expect(lines.join()).toContain('the directory broke')
  took(limits, 10)
  await vi.advanceTimersByTimeAsync(minuteMs)
  expect(written.filter((row) => row.includes('"bytes_stored":10'))).toHaveLength(1)
  took(limits, 7)
  await limits.close()
  expect(written.join()).toMatch(/"bytes_stored":(?:7|17)\b/)
})

it('a quota of which four fifths are used is an audit event, once a day, whether or not it can be recorded', async () => {
  const events: AuditEvent[] = []
  const record = async (event: AuditEvent) => {
    events.push(event)
    throw new Error('the log is away')
  }
  const { limits, lines } = await opened({ audit: record })
  took(limits, 700)
  await vi.advanceTimersByTimeAsync(minuteMs)
  expect(events).toEqual([])
  took(limits, 200)
  await vi.advanceTimersByTimeAsync(2 * minuteMs)
  expect(events).toEqual([{ action: 'quota.near', scope: 'acme/app', target: 'acme/app', details: { quota: 'day' } }])
  expect(lines.join()).toContain('was not recorded')
  await limits.close()
})
