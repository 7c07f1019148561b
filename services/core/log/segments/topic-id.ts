// The id of a topic of the embedded log: random, made with the folder and durable before its first record.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { errorCode, type LogFs, writeWhole } from '../../files/disk.ts'

export const topicIdName = 'id'

export type TopicId = {
  value(): string
  /** Resolves when a new one is durable. */
  renew(): Promise<void>
}

const pattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A folder without one was made by an older version, or just now. */
export async function openTopicId(fs: LogFs, folder: string): Promise<TopicId> {
  const path = join(folder, topicIdName)
  let value = ''
  const renew = async (): Promise<void> => {
    const fresh = randomUUID()
    await writeWhole(fs, path, [Buffer.from(`${fresh}\n`)])
    value = fresh
  }
  try {
    value = (await fs.readFile(path)).toString().trim()
    if (!pattern.test(value)) throw new Error(`${path} is damaged: it holds the id of the log, as text`)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    await renew()
  }
  return { value: () => value, renew }
}
