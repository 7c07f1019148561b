// Measures how much the built page adds to the start of the server.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './page-timing.ts'
import { median, startCallhouseServer } from './process.ts'

/** Number of standard deviations by which the rank sum of some values exceeds chance (Mann-Whitney). */
function ranksAbove(some: readonly number[], others: readonly number[]): number {
  const above = some.reduce((sum, one) => sum + others.filter((other) => one > other).length, 0)
  const pairs = some.length * others.length
  return (above - pairs / 2) / Math.sqrt((pairs * (some.length + others.length + 1)) / 12)
}

type Profile = {
  nodes: { id: number; callFrame: { url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

/** Milliseconds in which the page's part of the server ran, or what it called. */
function pageMs({ nodes, samples, timeDeltas }: Profile): number {
  const ofPage = new Set<number>()
  // Callers stand before what they call.
  for (const { id, callFrame, children = [] } of nodes) {
    if (callFrame.url.includes('/services/web/')) ofPage.add(id)
    if (ofPage.has(id)) for (const child of children) ofPage.add(child)
  }
  return samples.reduce((sum, id, n) => sum + (ofPage.has(id) ? (timeDeltas[n] as number) : 0), 0) / 1000
}

/**
 * Starts with the page and without, in turns, over a folder that has its tables: the CPU that profiles tell of the page, and
 * what it may wait for besides: what the medians of the turns differ by. Starts swing by ten times as much as may be added:
 * what they may differ by through chance alone is none.
 */
export async function startFigure(times: number): Promise<Figure> {
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-bench-start-'))
  const profiles = join(dataDir, 'profiles')
  const started = async (env: Record<string, string>, options = ''): Promise<number> => {
    const beganMs = performance.now()
    const server = await startCallhouseServer(dataDir, { ...env, NODE_OPTIONS: options })
    const tookMs = performance.now() - beganMs
    await server.stop()
    return tookMs
  }
  try {
    await started({})
    const [withPage, without]: [number[], number[]] = [[], []]
    for (let round = 0; round < 8 * times; round++) {
      const isWith = (round + (round >> 1)) % 2 === 0
      ;(isWith ? withPage : without).push(await started(isWith ? {} : { CALLHOUSE_PAGE: 'false' }))
    }
    for (let round = 0; round < times; round++)
      await started({}, `--cpu-prof --cpu-prof-interval=200 --cpu-prof-dir=${profiles}`)
    const own = readdirSync(profiles).map((name) =>
      pageMs(JSON.parse(readFileSync(join(profiles, name), 'utf8')) as Profile),
    )
    const isLonger = ranksAbove(withPage, without) > 2
    const value = Math.max(median(own), isLonger ? median(withPage) - median(without) : 0)
    return { what: 'start of the server with the page, more by', value, unit: 'ms', must: 10 }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
