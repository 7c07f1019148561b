// The rules of masking in a process: as the directory has them, and in its threads.
import type { Registry } from 'prom-client'
import {
  createMaskings,
  type MaskHits,
  type Maskings,
  type MaskSource,
  type ScopeMask,
} from '../content/masking/maskings.ts'
import type { Directory } from '../core/directory/directory.ts'
import type { Logger } from '../core/process/logger.ts'
import { metricsIn } from '../core/process/metrics-in.ts'
import { runningAccount } from '../core/process/running-handler.ts'
import type { Config } from './config.ts'
import { faultCounter } from './otlp-faults.ts'

type Scopes = ReadonlyMap<string, ScopeMask>

/** Rules by scope, as they are in the directory now. */
export function masksOf(directory: Directory): MaskSource {
  let version = 0
  let scopes: Scopes = new Map()
  let lookedAt = -1
  let known = new Map<string, unknown>()
  const read = (): Scopes => {
    const { masks } = directory.state()
    if (lookedAt === directory.version()) return scopes
    lookedAt = directory.version()
    // Most changes are of sessions and keys: maskers stay as they are.
    if (masks.size === known.size && [...masks].every(([scope, value]) => known.get(scope) === value)) return scopes
    known = new Map(masks)
    version++
    scopes = new Map([...masks].map(([scope, { version, salt, ...rules }]) => [scope, { rules, version, salt }]))
    return scopes
  }
  return {
    scopes: read,
    version: () => {
      read()
      return version
    },
  }
}

const maxLabels = 200

/** Counts hits by rule, those beyond the first two hundred together, and to the account of the request that runs. */
function hitCounter(registry: Registry): (hits: MaskHits) => void {
  const counter = metricsIn(registry).counter(
    'callhouse_masked_total',
    'Values that rules of masking hit, by what found them and by rule; of a dry run: mode="dry_run"',
    ...(['detector', 'rule', 'mode'] as const),
  )
  const known = new Set<string>()
  return ({ projectId, rule, detector, hits, isDry }) => {
    if (known.size < maxLabels) known.add(`${detector} ${rule}`)
    const labels = known.has(`${detector} ${rule}`) ? { detector, rule } : { detector: 'other', rule: 'other' }
    counter.inc({ ...labels, mode: isDry ? 'dry_run' : 'on' }, hits)
    if (!isDry) runningAccount()?.masked(projectId, hits)
  }
}

/** Counters of values and items that are not stored as they were sent, here and for the threads. */
export const itemCounters = (registry: Registry) => ({
  onMasked: hitCounter(registry),
  onFaults: faultCounter(registry),
})

export function maskingsOf(
  source: MaskSource,
  config: Config,
  masterKey: () => Buffer | undefined,
  logger: Pick<Logger, 'warn'>,
  onHits: (hits: MaskHits) => void,
): Maskings {
  return createMaskings(source, {
    floor: config.maskFloor,
    masterKey,
    onHits,
    // The text of an error may quote what was to be masked.
    onFailure: (projectId, error) =>
      logger.warn(
        { project: projectId, error: error instanceof Error ? error.name : 'unknown' },
        'a payload could not be masked and is not stored',
      ),
  })
}
