// Segments are written to files each write of which is durable, where the operating system can do that.
import { constants, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openLog, recordOf, temporaryFolder } from '../fixtures/log.ts'

/** Files in a folder that this process has open, and whether the kernel syncs each write to them. */
function openFiles(folder: string): { path: string; isSynced: boolean }[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0'
      const isSynced = (Number.parseInt(flags, 8) & constants.O_DSYNC) !== 0
      return path.startsWith(folder) ? [{ path, isSynced }] : []
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

it.skipIf(process.platform !== 'linux')('a segment is synced by each write, a new file and a spare alike', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir, { sealAfterMs: 3_600_000, segmentBytes: 4_096 })
  const grown: string[] = []
  // A segment holds one of these; the first has no spare yet.
  for (let n = 0; n < 6; n++) {
    await log.append('calls', [recordOf([`${n}`], { text: 'x'.repeat(3_000) })])
    const open = openFiles(dir).filter(({ path }) => /\/\d{16}\.jsonl$/.test(path))
    expect(open.map(({ isSynced }) => isSynced)).toEqual(open.map(() => true))
    grown.push(...open.map(({ path }) => path))
  }
  expect(new Set(grown).size).toBeGreaterThan(3)
})
