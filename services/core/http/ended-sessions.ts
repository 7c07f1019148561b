// Sessions that were signed out before their time, in a file of the data folder: a restart does not open them again.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const fileSchema = z.record(z.string(), z.number())

export type EndedSessions = {
  has(sid: string): boolean
  /** @param untilMs when the session would have run out by itself */
  add(sid: string, untilMs: number): void
}

export function openEndedSessions(dataDir: string, now: () => number = Date.now): EndedSessions {
  const path = join(dataDir, 'ended-sessions.json')
  let ended: Map<string, number> | undefined
  const read = (): Map<string, number> => {
    try {
      return new Map(Object.entries(fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')))))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
      throw error
    }
  }
  const all = (): Map<string, number> => {
    ended ??= read()
    return ended
  }
  return {
    has: (sid) => all().has(sid),
    add(sid, untilMs) {
      const kept = [...all()].filter(([, until]) => until > now())
      ended = new Map([...kept, [sid, untilMs]])
      const fresh = `${path}.new`
      writeFileSync(fresh, JSON.stringify(Object.fromEntries(ended)), { mode: 0o600, flush: true })
      renameSync(fresh, path)
    },
  }
}
