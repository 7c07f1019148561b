// Sessions that were signed out before their time, in a file of the data folder: neither a restart nor another process
// on the folder opens them again.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type WatchedFile, watchFile } from '../process/watched-file.ts'

const fileSchema = z.record(z.string(), z.number())

export type EndedSessions = {
  has(sid: string): boolean
  /** @param untilMs when the session would have run out by itself */
  add(sid: string, untilMs: number): void
}

export function openEndedSessions(dataDir: string, now: () => number = Date.now): EndedSessions {
  const path = join(dataDir, 'ended-sessions.json')
  /** What was ended here stays so, whatever another process writes at the same moment. */
  const own = new Map<string, number>()
  let file: WatchedFile<Map<string, number>> | undefined
  const all = (): Map<string, number> => {
    file ??= watchFile({ path, schema: fileSchema, absent: {}, use: (content) => new Map(Object.entries(content)) })
    return file.current()
  }
  return {
    has: (sid) => own.has(sid) || all().has(sid),
    add(sid, untilMs) {
      own.set(sid, untilMs)
      const kept = [...all(), ...own].filter(([, until]) => until > now())
      const fresh = `${path}.${process.pid}`
      writeFileSync(fresh, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600, flush: true })
      renameSync(fresh, path)
    },
  }
}
