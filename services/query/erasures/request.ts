// Asks for an erasure of what has just been deleted: an event, from which the worker goes on.
import type { Clock } from '../../core/clock/clock.ts'
import type { RouteContext } from '../../core/http/route.ts'
import { type ProjectId, uuidv7 } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import { type Erasure, erasureRecord, erasuresTopic, noErasureCounts } from '../../events/erasures.ts'

export const erasureHeader = 'X-Callhouse-Erasure'

type Asked = { calls: number; missing?: number; reason?: string }

/** Durable when it resolves; everything of the project that was deleted until then belongs to it. */
export type RequestErasure = (
  context: Pick<RouteContext, 'caller'>,
  projectId: ProjectId,
  asked: Asked,
) => Promise<Erasure>

const hourUs = 3_600_000_000

export const createRequestErasure =
  (deps: { log: Pick<Log, 'append'>; clock: Clock; config: { eraseHours: number } }): RequestErasure =>
  async ({ caller }, projectId, { calls, missing = 0, reason = '' }) => {
    const clock = deps.clock.next()
    const requestedUs = Number(clock >> 10n)
    const erasure: Erasure = {
      ...{ projectId, id: uuidv7(), status: 'accepted', requestedBy: caller.userId, requestedUs },
      ...{ deadlineUs: requestedUs + deps.config.eraseHours * hourUs, doneUs: 0, untilVer: clock, reason },
      ...{ problem: '', counts: { ...noErasureCounts, calls, missing }, remaining: '', previous: '', hash: '' },
      changedMs: requestedUs / 1_000,
    }
    await deps.log.append(erasuresTopic.name, [erasureRecord(erasure, clock)])
    return erasure
  }
