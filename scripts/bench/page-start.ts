// What the built page adds to the start of the server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './page-timing.ts'
import { median, startCallhouseServer } from './process.ts'

/** Starts with the page and without, in turns, over a folder that has its tables: the median of their differences. */
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
    const more: number[] = []
    for (let round = 0; round < times; round++) {
      const withoutMs = await started({ CALLHOUSE_PAGE: 'false' })
      more.push((await started({})) - withoutMs)
    }
    return { what: 'start of the server with the page, more by', value: median(more), unit: 'ms', must: 10 }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
