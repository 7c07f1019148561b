// Quotas of projects and entities: bytes of a day and bytes that are stored, as the tables tell them, and what came since.
import type { EntityLimits } from '../../../../schemas/project-settings.ts'
import type { Standing } from './policies.ts'

type Kind = 'day' | 'stored'

export type Quotas = {
  /** Bytes of rows were accepted here. */
  accepted(projectId: string, bytes: number): void
  /** The quota that is used up; undefined when there is none. */
  violated(projectId: string): Standing | undefined
  /** Reads the figures anew, those that are due. */
  refresh(): Promise<void>
  /** Quotas of which four fifths are used: each is told of once a day. */
  near(): readonly string[]
}

export type QuotaDeps = {
  /** Quotas by scope: `acme`, `acme/app`. */
  settings(): Iterable<readonly [scope: string, limits: EntityLimits]>
  ofScope(scope: string): EntityLimits | undefined
  /** Bytes accepted in the last 24 hours, without those that this process accepted at or after the minute. */
  dayBytes(scope: string, sinceMinuteMs: number): Promise<number>
  /** Bytes that are stored now. */
  storedBytes(scope: string): Promise<number>
  onNear(scope: string, kind: Kind): void
  onError(error: Error): void
  now?: () => number
}

const minute = 60_000
const dayMs = 86_400_000
/** Minutes of own writes that may not be in the tables yet. */
const ownMinutes = 3
const nearPart = 0.8
/** Sums over everything stored take at most this part of the time. */
const readPart = 1 / 20

type Figures = {
  day: number
  stored: number
  /** Accepted here since the sum over what is stored was read. */
  sinceStored: number
  /** Accepted here by minute. */
  own: Map<number, number>
  storedDueMs: number
  /** Times of the last warning that little is left. */
  toldMs: Partial<Record<Kind, number>>
}

const entityOf = (projectId: string): string => projectId.slice(0, projectId.indexOf('/'))

export function createQuotas(deps: QuotaDeps): Quotas {
  const { settings, ofScope, onNear, onError, now = Date.now } = deps
  const byScope = new Map<string, Figures>()
  const minuteOf = (ms: number): number => ms - (ms % minute)

  const figuresOf = (scope: string): Figures => {
    const found = byScope.get(scope)
    if (found !== undefined) return found
    const made: Figures = { day: 0, stored: 0, sinceStored: 0, own: new Map(), storedDueMs: 0, toldMs: {} }
    byScope.set(scope, made)
    return made
  }

  const usedOf = (kind: Kind, { day, stored, sinceStored, own }: Figures): number => {
    if (kind === 'stored') return stored + sinceStored
    let all = day
    for (const bytes of own.values()) all += bytes
    return all
  }
  const limitOf = (kind: Kind, limits: EntityLimits): number =>
    (kind === 'day' ? limits.bytes_per_day : limits.stored_bytes) || 0

  function violatedOf(level: 'project' | 'entity', scope: string): Standing | undefined {
    const limits = ofScope(scope)
    if (limits === undefined) return undefined
    for (const kind of ['day', 'stored'] as const) {
      const quota = limitOf(kind, limits)
      if (quota === 0 || usedOf(kind, figuresOf(scope)) < quota) continue
      return { policy: `${level}-${kind}`, quota, left: 0, ...(kind === 'day' && { resetSeconds: dayMs / 1000 }) }
    }
    return undefined
  }

  async function read(scope: string, limits: EntityLimits): Promise<void> {
    const figures = figuresOf(scope)
    if (limits.bytes_per_day) {
      const since = minuteOf(now()) - (ownMinutes - 1) * minute
      figures.day = await deps.dayBytes(scope, since)
      for (const at of figures.own.keys()) if (at < since) figures.own.delete(at)
    }
    if (limits.stored_bytes && figures.storedDueMs <= now()) {
      const beganMs = now()
      const before = figures.sinceStored
      figures.stored = await deps.storedBytes(scope)
      figures.sinceStored -= before
      figures.storedDueMs = now() + Math.max(0, now() - beganMs) / readPart
    }
  }

  function tell(scope: string, limits: EntityLimits): string[] {
    const figures = figuresOf(scope)
    const isNear = (kind: Kind) =>
      limitOf(kind, limits) > 0 && usedOf(kind, figures) >= nearPart * limitOf(kind, limits)
    return (['day', 'stored'] as const).filter(isNear).map((kind) => {
      if (now() - (figures.toldMs[kind] ?? Number.NEGATIVE_INFINITY) >= dayMs) {
        figures.toldMs[kind] = now()
        onNear(scope, kind)
      }
      return `${scope} ${kind}`
    })
  }

  let nearNow: readonly string[] = []
  return {
    accepted(projectId, bytes) {
      for (const scope of [projectId, entityOf(projectId)]) {
        if (ofScope(scope) === undefined) continue
        const figures = figuresOf(scope)
        const at = minuteOf(now())
        figures.own.set(at, (figures.own.get(at) ?? 0) + bytes)
        figures.sinceStored += bytes
      }
    },
    violated: (projectId) => violatedOf('project', projectId) ?? violatedOf('entity', entityOf(projectId)),
    async refresh() {
      const all = [...settings()].filter(([, { bytes_per_day: day, stored_bytes: stored }]) => day || stored)
      const kept = new Set(all.map(([scope]) => scope))
      for (const scope of byScope.keys()) if (!kept.has(scope)) byScope.delete(scope)
      for (const [scope, limits] of all) await read(scope, limits).catch((error: unknown) => onError(error as Error))
      nearNow = all.flatMap(([scope, limits]) => tell(scope, limits))
    },
    near: () => nearNow,
  }
}
