// The topic audit: who changed or was refused what, each event hashed with the one before it in the chain of its process.
import type { SealedEvent } from '../core/audit/chain.ts'
import type { RecordInput } from '../core/log/log.ts'
import { always, choice, declareTopic, key, number, text } from './declaration.ts'

export const auditTopic = declareTopic({
  name: 'audit',
  about: 'Who changed or was refused what: each event is hashed with the one before it in the chain of its process.',
  version: 1,
  landing: 'audit_in',
  columns: {
    /** Scope of the event: `*`, an entity, or a project. */
    project_id: key,
    at_us: always(number('Int64')),
    chain: key,
    seq: always(number('UInt64')),
    actor: text,
    actor_kind: choice('user', 'command', 'server'),
    key_id: text,
    address: text,
    action: key,
    target: text,
    outcome: choice('done', 'begun', 'failed', 'refused'),
    request_id: text,
    /** JSON, as it was hashed. */
    details: text,
    /** Number of the first event of the same chain whose outcome an end reports; 0 = the event is no end. */
    ends_from: number('UInt64'),
    ends_to: number('UInt64'),
    prev: text,
    hash: key,
  },
})

/**
 * One record per event, all of a chain in one partition. Its bytes are no project's: a server with one project would have
 * two from its first event on, and keep most of what may wait to be applied free for the other.
 */
export const auditRecord = ({ scope, ...event }: SealedEvent): RecordInput => {
  const row = `{${auditTopic.cells({ project_id: scope, ...event })}}\n`
  return { rows: Buffer.from(row), rowCount: 1, patchCount: 0, clock: 0n, key: event.chain }
}
