// Dead letters as files of an archive: an import makes dead letters of them again.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { type TopicName, topics } from '../../events/registry.ts'
import type { DeadLetters } from '../../worker/dead-letters/dead-letters.ts'
import type { Task } from '../tasks.ts'
import { type ArchiveFile, createArchiveWriter, readLines } from './archive.ts'

const lineSchema = z.object({ reason: z.string(), at: z.string(), row: z.string() })

/** A row may be anything; of one project is what says so. */
function isOf(project: string, row: string): boolean {
  try {
    return (JSON.parse(row) as { project_id?: unknown } | null)?.project_id === project
  } catch {
    return false
  }
}

/** Writes those that were not replayed, a file per topic. Replayed ones are in the log. */
export async function exportDeadLetters(
  letters: Pick<DeadLetters, 'list' | 'show'>,
  { folder, project }: { folder: string; project: string | null },
  task: Task,
): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = []
  const waiting = (await letters.list()).filter(({ replayedAt }) => replayedAt === undefined)
  for (const topic of Object.keys(topics) as TopicName[]) {
    const out = createArchiveWriter(folder, `dead_letters_${topic}`, { topic, contents: 'dead letters' })
    try {
      for (const { id } of waiting.filter((one) => one.topic === topic)) {
        task.signal.throwIfAborted()
        const letter = await letters.show(id)
        if (letter === undefined || (project !== null && !isOf(project, letter.row))) continue
        const { reason, at, row } = letter
        await out.add(Buffer.from(`${JSON.stringify({ reason, at, row })}\n`))
        task.advanced(1)
      }
      files.push(...(await out.end()))
    } finally {
      await out.discard()
    }
  }
  return files
}

/**
 * Their places are those of another log. Position 0 exists in none, and a number that follows from the row makes the
 * same letter of one that is imported twice.
 */
export async function importDeadLetters(
  letters: Pick<DeadLetters, 'add'>,
  folder: string,
  { path, topic }: ArchiveFile,
  task: Task,
): Promise<void> {
  for await (const line of readLines(join(folder, path))) {
    task.signal.throwIfAborted()
    const { reason, at, row } = lineSchema.parse(JSON.parse(line.toString('utf8')))
    const rowIndex = createHash('sha256').update(row).digest().readUInt32BE()
    await letters.add({ topic, partition: 0, offset: 0, rowIndex, reason: `${reason} (imported, found at ${at})`, row })
    task.advanced(1)
  }
}
