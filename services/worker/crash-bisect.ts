// Finds the rows that make the engine abort: each half of a suspicious batch is tried in a child process.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Batch } from '../core/log/log.ts'
import type { TopicName } from '../core/topics.ts'
import { sourceOf } from './bisect.ts'
import type { DeadLetters } from './deadletters.ts'
import { type SegmentRow, segmentRows, withoutHeader } from './segment-rows.ts'

/** True when the rows of the file make the engine abort. */
export type CrashProbe = (topic: TopicName, file: string) => Promise<boolean>

const probeScript = fileURLToPath(new URL('./probe.ts', import.meta.url))

/** A child that ends by a signal, or by an exit code of an abort, crashed. */
export const probeInChild: CrashProbe = (topic, file) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [probeScript, topic, file], { stdio: ['ignore', 'ignore', 'ignore'] })
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(signal !== null || (code !== null && code >= 128)))
  })

/**
 * Keeps the rows that crash the engine as dead letters and returns the others, in order.
 * Each row is written to a file of ours; nothing of it becomes part of a command line.
 */
export async function withoutCrashingRows(
  batch: Batch,
  deadLetters: Pick<DeadLetters, 'add'>,
  probe: CrashProbe = probeInChild,
): Promise<SegmentRow[]> {
  const dir = await mkdtemp(join(tmpdir(), 'callhouse-bisect-'))
  const file = join(dir, 'rows.jsonl')
  const sound = async (rows: SegmentRow[]): Promise<SegmentRow[]> => {
    const [only] = rows
    if (!only) return rows
    await writeFile(file, Buffer.concat(sourceOf(rows).bytes))
    if (!(await probe(batch.topic, file))) return rows
    if (rows.length === 1) {
      await deadLetters.add({
        topic: batch.topic,
        partition: only.partition,
        offset: only.offset,
        rowIndex: only.rowIndex,
        reason: 'this row makes the engine abort',
        row: withoutHeader(only.text),
      })
      return []
    }
    const half = rows.length >> 1
    return [...(await sound(rows.slice(0, half))), ...(await sound(rows.slice(half)))]
  }
  try {
    return await sound(await segmentRows(batch))
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
