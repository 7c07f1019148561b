// What the built page adds to the start of the server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './page-timing.ts'
import { startCallhouseServer } from './process.ts'

/**
 * Starts with the page and without, in turns, over a folder that has its tables: what the shortest start of each differs
 * by. Starts vary by more than what is measured, and never by being too short.
 */
export async function startFigure(times: number): Promise<Figure> {
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-bench-start-'))
  const started = async (env: Record<string, string>): Promise<number> => {
    const beganMs = performance.now()
    const server = await startCallhouseServer(dataDir, env)
    const tookMs = performance.now() - beganMs
    await server.stop()
    return tookMs
  }
  try {
    await started({})
    const [withPage, without]: [number[], number[]] = [[], []]
    for (let round = 0; round < 2 * times; round++) {
      const isWith = (round + (round >> 1)) % 2 === 0
      ;(isWith ? withPage : without).push(await started(isWith ? {} : { CALLHOUSE_PAGE: 'false' }))
    }
    const value = Math.max(0, Math.min(...withPage) - Math.min(...without))
    return { what: 'start of the server with the page, more by', value, unit: 'ms', must: 10 }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
