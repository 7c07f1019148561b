// The topic erasures: what was asked to be removed for good, how far that is, and its receipt.
import type { RecordInput } from '../core/log/log.ts'
import { always, choice, clock, declareTopic, key, number, recordOfRows, text } from './declaration.ts'

export const erasuresTopic = declareTopic({
  name: 'erasures',
  about: 'What was asked to be removed for good, how far that is, and in the end its receipt.',
  version: 1,
  landing: 'erasures_in',
  columns: {
    project_id: key,
    id: key,
    clock,
    status: choice('accepted', 'removing', 'verifying', 'done', 'held', 'failed'),
    requested_by: text,
    requested_us: always(number('Int64')),
    deadline_us: always(number('Int64')),
    done_us: number('Int64'),
    /** All calls of the project that were deleted up to this accept timestamp belong to it, or to an earlier one. */
    until_ver: number<string>('UInt64'),
    reason: text,
    /** The reason why it has failed or waits. */
    problem: text,
    calls: number('UInt64'),
    missing: number('UInt64'),
    payload_rows: number('UInt64'),
    feedback: number('UInt64'),
    log_rows: number('UInt64'),
    dead_letters: number('UInt64'),
    /** JSON list of places that may still hold something. */
    remaining: text,
    previous: text,
    hash: text,
    /** Time from which on answers lacked the erased data; 0 = not known yet. */
    hidden_us: number('Int64'),
    /** The request, as a hash under a key of the installation. */
    selector_hmac: text,
    /** Accept timestamp of the first of what was removed. */
    first_ver: number<string>('UInt64'),
    files: number('UInt64'),
    bytes: number('UInt64'),
    /** Calls that stay for as long as they are held. */
    held: number('UInt64'),
    log_records: number('UInt64'),
    /** JSON list of the places that were looked at; '' = of a version that did not say. */
    places: text,
  },
})

/** An erasure as it is stored; times in microseconds since 1970. */
export type Erasure = {
  projectId: string
  id: string
  status: 'accepted' | 'removing' | 'verifying' | 'done' | 'held' | 'failed'
  requestedBy: string
  requestedUs: number
  deadlineUs: number
  hiddenUs: number
  doneUs: number
  untilVer: bigint
  firstVer: bigint
  selectorHmac: string
  held: number
  reason: string
  problem: string
  counts: ErasureCounts
  /** JSON texts. */
  remaining: string
  places: string
  previous: string
  hash: string
  /** Time of the last change, in milliseconds since 1970. */
  changedMs: number
}

export type ErasureCounts = {
  calls: number
  missing: number
  payload_rows: number
  feedback: number
  files: number
  bytes: number
  log_rows: number
  log_records: number
  dead_letters: number
}

export const noErasureCounts: ErasureCounts = {
  calls: 0,
  missing: 0,
  payload_rows: 0,
  feedback: 0,
  files: 0,
  bytes: 0,
  log_rows: 0,
  log_records: 0,
  dead_letters: 0,
}

/** Record of the current state of an erasure: the newest one counts. */
export const erasureRecord = (erasure: Erasure, clock: bigint): RecordInput =>
  recordOfRows(erasuresTopic, [
    {
      project_id: erasure.projectId,
      id: erasure.id,
      clock,
      status: erasure.status,
      requested_by: erasure.requestedBy,
      requested_us: erasure.requestedUs,
      deadline_us: erasure.deadlineUs,
      done_us: erasure.doneUs,
      until_ver: String(erasure.untilVer),
      reason: erasure.reason,
      problem: erasure.problem,
      ...erasure.counts,
      remaining: erasure.remaining,
      places: erasure.places,
      previous: erasure.previous,
      hash: erasure.hash,
      hidden_us: erasure.hiddenUs,
      held: erasure.held,
      selector_hmac: erasure.selectorHmac,
      first_ver: String(erasure.firstVer),
    },
  ])

/** A row of the table as JSON; 64-bit integers are texts. */
export type ErasureRow = Record<Exclude<keyof typeof erasuresTopic.columns, 'status'>, string> & {
  status: Erasure['status']
}

/** All columns of the table. */
export const erasureColumns: readonly string[] = Object.keys(erasuresTopic.columns)

export const erasureOf = (row: ErasureRow): Erasure => ({
  projectId: row.project_id,
  id: row.id,
  status: row.status,
  requestedBy: row.requested_by,
  requestedUs: Number(row.requested_us),
  deadlineUs: Number(row.deadline_us),
  doneUs: Number(row.done_us),
  untilVer: BigInt(row.until_ver),
  reason: row.reason,
  problem: row.problem,
  remaining: row.remaining,
  places: row.places,
  previous: row.previous,
  hash: row.hash,
  changedMs: Number(BigInt(row.clock) >> 10n) / 1_000,
  hiddenUs: Number(row.hidden_us),
  selectorHmac: row.selector_hmac,
  firstVer: BigInt(row.first_ver),
  held: Number(row.held),
  counts: {
    calls: Number(row.calls),
    missing: Number(row.missing),
    payload_rows: Number(row.payload_rows),
    feedback: Number(row.feedback),
    files: Number(row.files),
    bytes: Number(row.bytes),
    log_rows: Number(row.log_rows),
    log_records: Number(row.log_records),
    dead_letters: Number(row.dead_letters),
  },
})

const timeOf = (us: number): string | null => (us === 0 ? null : new Date(us / 1_000).toISOString())

/** Receipts of versions that did not know of something say nothing of it, as their hash does not cover it. */
const isOfBefore = ({ status, hiddenUs }: Erasure): boolean => status === 'done' && hiddenUs === 0
const isWithoutPlaces = ({ status, places }: Erasure): boolean => status === 'done' && places === ''

function countsOf(erasure: Erasure): Partial<ErasureCounts> {
  const counts: Partial<ErasureCounts> = { ...erasure.counts }
  if (isWithoutPlaces(erasure)) delete counts.log_records
  if (isOfBefore(erasure)) {
    delete counts.files
    delete counts.bytes
  }
  return counts
}

const listOf = <T>(json: string): T[] => (json === '' ? [] : JSON.parse(json))

/** The receipt of an erasure; `hash` is the SHA-256 of the canonical JSON of all the rest, once it is done. */
export const receiptOf = (erasure: Erasure) => ({
  erasure_id: erasure.id,
  project_id: erasure.projectId,
  status: erasure.status,
  requested_by: erasure.requestedBy,
  requested_at: timeOf(erasure.requestedUs),
  deadline: timeOf(erasure.deadlineUs),
  done_at: timeOf(erasure.doneUs),
  reason: erasure.reason,
  problem: erasure.problem === '' ? null : erasure.problem,
  counts: countsOf(erasure),
  ...(!isOfBefore(erasure) && {
    hidden_at: timeOf(erasure.hiddenUs),
    selector_hmac: erasure.selectorHmac === '' ? null : erasure.selectorHmac,
    held: erasure.held,
  }),
  ...(!isWithoutPlaces(erasure) && { places: listOf<string>(erasure.places) }),
  remaining: listOf<{ place: string; until: string | null }>(erasure.remaining),
  previous: erasure.previous,
  hash: erasure.hash,
})
