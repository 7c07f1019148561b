// Work of which the audit log tells before it is done, and how it went.
import type { Audit, AuditEnd } from './audit.ts'
import type { AuditEvent } from './chain.ts'

/** Records events as begun, then does the work, then records how it went. Without the first nothing is done. */
export const audited = <T>(
  audit: Pick<Audit, 'begin'>,
  events: readonly AuditEvent[],
  work: () => T | Promise<T>,
): Promise<T> =>
  auditedOnce(audit, events, async (begin) => {
    await begin()
    return work()
  })

/** The same, for work that finds out on its way whether it does anything: it calls `begin` before each step that does. */
export async function auditedOnce<T>(
  audit: Pick<Audit, 'begin'>,
  events: readonly AuditEvent[],
  work: (begin: () => Promise<void>) => Promise<T>,
): Promise<T> {
  let begun: Promise<AuditEnd> | undefined
  const end = async (outcome: 'done' | 'failed'): Promise<void> => {
    const ended = await begun?.catch(() => undefined)
    await ended?.(outcome)
  }
  let done: T
  try {
    done = await work(async () => {
      begun ??= audit.begin(events)
      await begun
    })
  } catch (error) {
    await end('failed')
    throw error
  }
  await end('done')
  return done
}

type Noun = 'export' | 'import' | 'backup'

/**
 * Long work between two events of its own, `export.started` and `export.ended`: without the first nothing is done.
 * @param rows done so far
 */
export async function betweenEvents(
  audit: Pick<Audit, 'record'>,
  noun: Noun,
  event: Omit<AuditEvent, 'action'>,
  work: () => Promise<void>,
  rows?: () => number,
): Promise<void> {
  await audit.record({ ...event, action: `${noun}.started` })
  let outcome: 'done' | 'failed' = 'failed'
  try {
    await work()
    outcome = 'done'
  } finally {
    await audit.record({ ...event, action: `${noun}.ended`, outcome, ...(rows && { details: { rows: rows() } }) })
  }
}

const shownIds = 10

/** Ids as details have them: how many, and the first of them. */
export const idsOf = (ids: readonly string[]): { count: number; first: readonly string[] } => ({
  count: ids.length,
  first: ids.slice(0, shownIds),
})
