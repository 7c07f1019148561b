// Metric of keys that end soon: whoever sends with one loses what he sends after its end.
import type { Registry } from 'prom-client'
import { metricsIn } from '../process/metrics-in.ts'
import type { Keys } from './keys.ts'

/** Time before the end of a key from which on answers and the metric mention it. */
export const endsSoonMs = 14 * 86_400_000

export function observeKeys(registry: Registry, keys: Pick<Keys, 'ending'>): void {
  metricsIn(registry).value(
    'callhouse_keys_expiring',
    'Keys that expire, or end after a rotation, within 14 days',
    () => keys.ending(endsSoonMs),
  )
}
