// Dependencies of the routes of annotation queues.
import type { Maskings } from '../../content/masking/maskings.ts'
import type { Audit } from '../../core/audit/audit.ts'
import type { Clock } from '../../core/clock/clock.ts'
import type { KeyedLock } from '../../core/concurrency/keyed-lock.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Log } from '../../core/log/log.ts'
import type { Store } from '../../core/store/store.ts'

export type ReadDeps = { store: Pick<Store, 'bytes'>; freshness: Freshness }

export type AnnotationQueueDeps = ReadDeps & {
  log: Pick<Log, 'append'>
  clock: Clock
  audit: Pick<Audit, 'begin'>
  lock: KeyedLock
  maskings: Maskings
}
