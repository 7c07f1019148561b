// Asks for an erasure of what has just been deleted: an event, from which the worker goes on.
import { createHmac, hkdfSync } from 'node:crypto'
import type { Clock } from '../core/clock/clock.ts'
import type { RouteContext } from '../core/http/route.ts'
import { type ProjectId, uuidv7 } from '../core/ids.ts'
import { canonicalJson } from '../core/json/canonical.ts'
import type { Log } from '../core/log/log.ts'
import { type Erasure, erasureRecord, erasuresTopic, noErasureCounts } from '../events/erasures.ts'

export const erasureHeader = 'X-Callhouse-Erasure'

type Asked = {
  calls: number
  missing?: number
  /** Items of feedback that go by themselves, counted here: later their rows may have merged with what purged them. */
  feedback?: number
  /** Accept timestamp of the first of these. */
  firstVer?: bigint
  reason?: string
  /** The request; the receipt has its hash. */
  selector: Readonly<Record<string, unknown>>
}

/** Durable when it resolves; everything of the project that was deleted until then belongs to it. */
export type RequestErasure = (
  context: Pick<RouteContext, 'caller'>,
  projectId: ProjectId,
  asked: Asked,
) => Promise<Erasure>

const hourUs = 3_600_000_000

/**
 * A holder of the master key can prove that a receipt is of the data that he names; nobody else learns what it was.
 * @returns '' without a key
 */
export function selectorHmac(master: Buffer | undefined, projectId: string, selector: Asked['selector']): string {
  if (master === undefined) return ''
  const key = Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), `erasure/${projectId}`, 32))
  const sorted = Object.entries(selector).flatMap(([name, value]) => {
    if (value === undefined) return []
    return [[name, Array.isArray(value) ? [...new Set(value)].sort() : value] as const]
  })
  return createHmac('sha256', key)
    .update(canonicalJson(JSON.stringify(Object.fromEntries(sorted))))
    .digest('hex')
}

export const createRequestErasure =
  (deps: {
    log: Pick<Log, 'append'>
    clock: Clock
    config: { eraseHours: number }
    masterKey(): Buffer | undefined
  }): RequestErasure =>
  async ({ caller }, projectId, { calls, missing = 0, feedback = 0, firstVer = 0n, reason = '', selector }) => {
    const clock = deps.clock.next()
    const requestedUs = Number(clock >> 10n)
    const erasure: Erasure = {
      projectId,
      id: uuidv7(),
      status: 'accepted',
      requestedBy: caller.userId,
      requestedUs,
      deadlineUs: requestedUs + deps.config.eraseHours * hourUs,
      doneUs: 0,
      untilVer: clock,
      reason,
      problem: '',
      counts: { ...noErasureCounts, calls, missing, feedback },
      remaining: '',
      places: '',
      previous: '',
      hash: '',
      hiddenUs: 0,
      firstVer,
      held: 0,
      selectorHmac: selectorHmac(deps.masterKey(), projectId, selector),
      changedMs: requestedUs / 1_000,
    }
    await deps.log.append(erasuresTopic.name, [erasureRecord(erasure, clock)])
    return erasure
  }
