// Requests that carry the same Idempotency-Key within a day ask for the same job.
import { createHash } from 'node:crypto'
import { fault } from '../core/http/errors.ts'
import type { ProjectId } from '../core/ids.ts'
import { type Freshness, latestOfLog, throwIfStale } from '../core/log/freshness.ts'
import type { Query, Store } from '../core/store/store.ts'

const keptUs = 24 * 3_600_000_000
const maxLength = 255

/** The key of a request; undefined when it has none. @throws Fault 400 */
export function idempotencyKey(header: string | undefined): string | undefined {
  const key = header?.trim()
  if (!key) return undefined
  if (key.length > maxLength) throw fault(400, `Idempotency-Key has more than ${maxLength} characters`)
  return key
}

const hashOf = (...parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/** The stored form of a caller's key. */
export const requestKeyOf = (userId: string, key: string): string => hashOf('training job', userId, key).toString('hex')

/** A UUID in the form of version 4 (RFC 9562) whose random bits are a hash. */
function derivedId(...parts: string[]): string {
  const bytes = hashOf(...parts).subarray(0, 16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export type JobOfKeyDeps = {
  store: Pick<Store, 'rows'>
  freshness: Freshness
  /** The latest job that was made with a key: `id`, and `created_us` when. */
  jobOfKeyQuery(projectId: ProjectId, requestKey: string): Query
}

export type JobOfKey = { id: string; isThere: boolean }

/**
 * The job that a key stands for: the last one that was made with it, for a day; after that a new one, whose id follows
 * from the last one. Requests that race see the same last job, so they name the same new one, in whichever process.
 * @throws Fault 503 when earlier requests may not be readable yet
 */
export async function jobOfKey(
  { store, freshness, jobOfKeyQuery }: JobOfKeyDeps,
  request: { projectId: ProjectId; requestKey: string; nowUs: number; signal: AbortSignal },
): Promise<JobOfKey> {
  const { projectId, requestKey, nowUs, signal } = request
  // Not the caller's wish for freshness: an answer from old tables would start a job twice.
  throwIfStale(await freshness.wait(latestOfLog(signal), ['training_jobs']))
  const [last] = await store.rows<{ id: string; created_us: string }>(jobOfKeyQuery(projectId, requestKey), { signal })
  if (last !== undefined && nowUs - Number(last.created_us) < keptUs) return { id: last.id, isThere: true }
  return { id: derivedId(projectId, requestKey, last?.id ?? ''), isThere: false }
}
