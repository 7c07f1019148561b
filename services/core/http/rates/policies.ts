// Names of limits as headers and refusals tell them (draft-ietf-httpapi-ratelimit-headers).
import type { RatePolicy } from '../../errors.ts'
import { Fault } from '../errors.ts'

/** State of a limit: the amount left, and the seconds until all of it is there again. */
export type Standing = {
  policy: RatePolicy
  quota: number
  left: number
  /** Absent: only less of what is stored gives any back. */
  resetSeconds?: number
}

type Shape = {
  unit?: 'content-bytes' | 'calls' | 'concurrent-requests'
  windowSeconds?: number
  reason: string
}

const minute = 60
const day = 86_400
const shapes: Readonly<Record<RatePolicy, Shape>> = {
  key: { windowSeconds: minute, reason: 'Too many requests per minute for this key' },
  'key-calls': { unit: 'calls', windowSeconds: minute, reason: 'Too many calls per minute for this key' },
  'key-bytes': { unit: 'content-bytes', windowSeconds: minute, reason: 'Too many bytes per minute for this key' },
  project: { windowSeconds: minute, reason: 'Too many requests per minute for this project' },
  'project-calls': { unit: 'calls', windowSeconds: minute, reason: 'Too many calls per minute for this project' },
  'project-bytes': {
    unit: 'content-bytes',
    windowSeconds: minute,
    reason: 'Too many bytes per minute for this project',
  },
  'project-day': {
    unit: 'content-bytes',
    windowSeconds: day,
    reason: 'This project has reached its daily limit of bytes',
  },
  'entity-day': {
    unit: 'content-bytes',
    windowSeconds: day,
    reason: 'This entity has reached its daily limit of bytes',
  },
  'project-stored': { unit: 'content-bytes', reason: 'This project has reached its storage limit' },
  'entity-stored': { unit: 'content-bytes', reason: 'This entity has reached its storage limit' },
  'project-reads': { unit: 'concurrent-requests', reason: 'Too many concurrent reads for this project' },
  'project-exports': { unit: 'concurrent-requests', reason: 'Too many concurrent exports for this project' },
}

/** `RateLimit-Policy` and `RateLimit`: structured fields, lists of strings with integer parameters. */
export function rateHeaders(standings: readonly Standing[]): Record<string, string> {
  const policies = standings.map(({ policy, quota }) => {
    const { unit, windowSeconds } = shapes[policy]
    const parameters = [`q=${quota}`, unit && `qu="${unit}"`, windowSeconds && `w=${windowSeconds}`]
    return [`"${policy}"`, ...parameters.filter(Boolean)].join(';')
  })
  const limits = standings.map(({ policy, left, resetSeconds }) =>
    [`"${policy}"`, `r=${left}`, ...(resetSeconds === undefined ? [] : [`t=${resetSeconds}`])].join(';'),
  )
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: limits.join(', ') }
}

/** Clients that were refused together come back one after the other. */
const jitter = 0.2

/** A limit that time mends: 429 with `Retry-After`. */
export function rateFault(standing: Standing, retryMs: number, random: () => number): Fault {
  const retrySeconds = Math.max(1, Math.ceil((retryMs / 1000) * (1 + jitter * random())))
  return refusal(429, standing, { 'Retry-After': String(retrySeconds) })
}

/**
 * A quota that lasts. Programs that send in the background end, or queue without end, when they are told 429 for long:
 * so the status is the operator's choice.
 */
export const quotaFault = (standing: Standing, status: 403 | 429): Fault =>
  refusal(status, standing, { 'X-Should-Retry': 'false', ...(status === 429 && { 'Retry-After': '3600' }) })

function refusal(status: 403 | 429, standing: Standing, headers: Record<string, string>): Fault {
  const { policy } = standing
  const body = {
    reason: shapes[policy].reason,
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    'violated-policies': [policy],
  }
  return Object.assign(new Fault(status, body, { ...headers, ...rateHeaders([standing]) }), { policy })
}
