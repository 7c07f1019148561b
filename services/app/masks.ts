// The rules of masking in a process: as the directory has them, and in its threads.
import type { Registry } from 'prom-client'
import { createMaskings, type Maskings, type MaskSource, type ScopeMask } from '../content/masking/maskings.ts'
import type { Directory } from '../core/directory/directory.ts'
import type { Logger } from '../core/process/logger.ts'
import { metricsIn } from '../core/process/metrics-in.ts'
import type { Config } from './config.ts'

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
    scopes = new Map([...masks].map(([scope, { version: _, salt, ...rules }]) => [scope, { rules, salt }]))
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

/** Hits by rule; rules beyond the first two hundred count together. */
function hitCounter(registry: Registry): (rule: string, hits: number) => void {
  const counter = metricsIn(registry).counter(
    'callhouse_masked_values_total',
    'Values that rules of masking hit, in dry runs too, by rule',
    'rule',
  )
  const known = new Set<string>()
  return (rule, hits) => {
    if (known.size < maxLabels) known.add(rule)
    counter.inc({ rule: known.has(rule) ? rule : 'other' }, hits)
  }
}

/** @param registry absent in threads, whose hits are not counted */
export function maskingsOf(
  source: MaskSource,
  config: Config,
  masterKey: () => Buffer | undefined,
  logger: Pick<Logger, 'warn'>,
  registry?: Registry,
): Maskings {
  const onHits = registry && hitCounter(registry)
  return createMaskings(source, {
    ...{ floor: config.maskFloor, masterKey, ...(onHits && { onHits }) },
    // The text of an error may quote what was to be masked.
    onFailure: (projectId, error) =>
      logger.warn(
        { project: projectId, error: error instanceof Error ? error.name : 'unknown' },
        'a payload could not be masked and is not stored',
      ),
  })
}
