// Finds the rows that make the engine abort: each half of a suspicious batch is tried in a child process.
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { splitBatch } from '../../core/concurrency/split-batch.ts'
import type { Batch } from '../../core/log/log.ts'
import { type SegmentRow, segmentRows, sourceOf, withoutHeader } from '../../events/segment-rows.ts'
import type { DeadLetters } from '../dead-letters/dead-letters.ts'
import { type CrashProbe, type ProbeResult, probeInChild } from './child-probe.ts'
import { cut } from './cuts.ts'
import { Held } from './held.ts'
import type { ProbeResults } from './in-flight.ts'

/** Children of one batch, over all starts: each is an engine of its own and takes a second or two. */
const maxChildren = 400
/** So many rows that end the engine are a fault of the engine and not of rows. */
const maxCrashingRows = 20

export const digestOfRows = (bytes: Buffer[]): string => {
  const hash = createHash('sha256')
  for (const chunk of bytes) hash.update(chunk)
  return hash.digest('hex')
}

/**
 * Keeps the rows that crash the engine as dead letters and returns the others in order, in groups: the rows of a group
 * were tried together. Each row is written to a file of ours; nothing of it becomes part of a command line.
 * A child that was ended from outside, or one that fails without a row of the batch, decides nothing.
 * @throws Held when nothing can be decided, or when the batch is beyond the bounds; no row is a dead letter then
 */
export async function withoutCrashingRows(
  batch: Batch,
  deps: {
    deadLetters: Pick<DeadLetters, 'add'>
    /** Findings that survive a restart. */
    findings: ProbeResults
    probe?: CrashProbe
    signal?: AbortSignal
  },
): Promise<SegmentRow[][]> {
  const { deadLetters, findings, probe = probeInChild(), signal = new AbortController().signal } = deps
  const dir = await mkdtemp(join(tmpdir(), 'callhouse-bisect-'))
  const crashing: SegmentRow[] = []
  let isControlled = false

  const inChild = async (bytes: Buffer[]): Promise<ProbeResult> => {
    const file = join(dir, 'rows.jsonl')
    await writeFile(file, bytes)
    const outcome = await probe(batch.topic, file, signal)
    if (typeof outcome === 'string') return outcome
    throw new Held(`rows that ended the engine cannot be told: ${outcome.undecided}; rows wait`, outcome.detail)
  }

  /** An engine without a row of the batch has to survive; else the rows are not what ends it. */
  const control = async (): Promise<void> => {
    if ((await inChild([])) !== 'survived')
      throw new Held('the engine ends in a child process without any row of the batch; rows wait')
    isControlled = true
  }

  const find = async (rows: SegmentRow[], again = ''): Promise<ProbeResult> => {
    const { bytes } = sourceOf(rows)
    const digest = digestOfRows(bytes) + again
    const known = findings.get(digest)
    if (known !== undefined) return known as ProbeResult
    if (findings.count() >= maxChildren)
      throw new Held(`${maxChildren} child processes did not tell which rows end the engine; rows wait`)
    if (!isControlled || again !== '') await control()
    const finding = await inChild(bytes)
    findings.put(digest, finding)
    return finding
  }

  const groups: SegmentRow[][] = []
  const attempt = async (rows: SegmentRow[]): Promise<SegmentRow[][]> => {
    const [first] = rows
    if (!first) return []
    const finding = await find(rows)
    if (finding !== 'survived' && rows.length > 1) return cut(rows, 'engine ended')
    // A row is given up after two equal findings, with an engine that survived without it in between.
    if (finding !== 'ended' || (await find(rows, '-again')) !== 'ended') groups.push(rows)
    else crashing.push(first)
    if (crashing.length > maxCrashingRows)
      throw new Held(`more than ${maxCrashingRows} rows of one batch end the engine; rows wait`)
    return []
  }

  try {
    await splitBatch(await segmentRows(batch), attempt)
    for (const { partition, offset, rowIndex, text } of crashing)
      await deadLetters.add({
        topic: batch.topic,
        partition,
        offset,
        rowIndex,
        reason: 'this row makes the engine abort',
        row: withoutHeader(text),
      })
    return groups
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
