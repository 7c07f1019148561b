// `npm run bench page`: what a reader waits for and downloads, in a Chromium on this machine; fails above docs/web-page.md.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Page, type Request } from 'playwright-core'
import { buildPage, chromiumOptions } from '../../test/browser/setup.ts'
import { call, newId, newTrace, servedAt, type World, worldOf } from '../../test/browser/world.ts'
import { distFolder } from '../page-stamp.mjs'
import { dashboardFigure, type Figure, filterFigure, traceDeeds } from './page-deeds.ts'
import { startCallhouseServer } from './process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] as number

function sizes(): Figure[] {
  const folder = join(root, distFolder, 'assets')
  const shell = readFileSync(join(root, distFolder, 'index.html'), 'utf8')
  const entry = readdirSync(folder).filter((name) => shell.includes(name))
  const sum = (suffix: string) =>
    entry
      .filter((name) => name.endsWith(suffix))
      .reduce((all, name) => all + statSync(join(folder, `${name}.br`)).size, 0)
  return [
    { what: 'entry JS, br', value: sum('.js') / 1000, unit: 'KB', must: 150 },
    { what: 'CSS of the entry, br', value: sum('.css') / 1000, unit: 'KB', must: 20 },
  ]
}

async function timed(page: Page, path: string, ready: string): Promise<number> {
  const startedMs = performance.now()
  await page.goto(path, { waitUntil: 'commit' })
  await page.locator(ready).first().waitFor({ timeout: 60_000 })
  return performance.now() - startedMs
}

/** When the first row is put into the page: what is asked after that holds nobody up. */
const noteFirstRow = `new MutationObserver((_, observer) => {
  if (document.querySelector('.row .name') === null) return
  globalThis.firstRowMs = performance.now()
  observer.disconnect()
}).observe(document, { childList: true, subtree: true })`

/** @param calls of the list */
async function listFigures(world: World, calls: number, times: number): Promise<Figure[]> {
  const path = `${world.url}/p/${world.project}/calls`
  const cold: number[] = []
  const warm: number[] = []
  let requests = 0
  let shift = 0
  let heap = 0
  for (let round = 0; round < times; round++) {
    const { page, context } = await world.open()
    const client = await context.newCDPSession(page)
    await client.send('Network.clearBrowserCache')
    await page.goto('about:blank')
    await page.addInitScript(noteFirstRow)
    const asked: { one: Request; notedMs: number }[] = []
    const note = (one: Request) => asked.push({ one, notedMs: Date.now() })
    page.on('request', note)
    cold.push(await timed(page, path, '.row .name'))
    const firstRowMs = await page.evaluate<number>('performance.timeOrigin + firstRowMs')
    // A request that is not answered yet has no start time of its own.
    requests = asked.filter(({ one, notedMs }) => (one.timing().startTime || notedMs) < firstRowMs).length
    page.off('request', note)
    await page.goto('about:blank')
    warm.push(await timed(page, path, '.row .name'))
    shift = await page.evaluate<number>(`new Promise((done) => {
      let sum = 0
      new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value }).observe({ type: 'layout-shift', buffered: true })
      setTimeout(() => done(sum), 300)
    })`)
    await client.send('HeapProfiler.collectGarbage')
    heap = (await client.send('Runtime.getHeapUsage')).usedSize
    await context.close()
  }
  return [
    { what: `first rows of ${calls} calls, cold cache`, value: median(cold), unit: 'ms', must: 1_500 },
    { what: 'first rows, warm cache', value: median(warm), unit: 'ms', must: 800 },
    { what: 'requests up to the first rows', value: requests, unit: '', must: 6 },
    { what: 'layout shift', value: shift, unit: '', must: 0.02 },
    { what: 'heap of the list', value: heap / 1e6, unit: 'MB', must: 40 },
  ]
}

async function traceFigures(
  world: World,
  { trace = newTrace(), spans, must, times }: { trace?: string; spans: number; must: number; times: number },
): Promise<Figure> {
  const ids = Array.from({ length: spans }, newId)
  const at = Date.now() - 600_000
  await world.send(
    ids.map((id, n) =>
      call(world.project, {
        id,
        trace,
        parent: ids[Math.floor((n - 1) / 8)],
        name: `span ${n % 20}`,
        startMs: at + n,
        ms: 500,
      }),
    ),
  )
  const { page, context } = await world.open()
  const took: number[] = []
  for (let round = 0; round < times; round++) {
    await page.goto('about:blank')
    const whole = `[role=treegrid][aria-rowcount="${spans + 1}"] .span .label`
    took.push(await timed(page, `${world.url}/p/${world.project}/traces/${trace}`, whole))
  }
  await context.close()
  return { what: `link to tree and bars, ${spans} spans`, value: median(took), unit: 'ms', must }
}

async function jsonFigure(world: World, times: number): Promise<Figure> {
  const id = newId()
  const list = Array.from({ length: 100_000 }, (_, n) => ({
    n,
    text: 'some words of a document that is long '.repeat(2),
  }))
  await world.send([call(world.project, { id, trace: newTrace(), name: 'large', inputs: { list } })])
  const { page, context } = await world.open()
  const took: number[] = []
  for (let round = 0; round < times; round++) {
    await page.goto('about:blank')
    took.push(await timed(page, `${world.url}/p/${world.project}/calls/${id}`, '.json .node .key'))
  }
  await context.close()
  return { what: 'link to the first lines of 10 MB of JSON', value: median(took), unit: 'ms', must: 2_500 }
}

/** @param calls roots of the list, besides the spans of the traces */
export async function benchPage(calls: number, times: number, turns = 200): Promise<void> {
  buildPage()
  const { CALLHOUSE_CHROMIUM: executable = '/usr/bin/chromium' } = process.env
  // The server refuses settings that it does not know.
  delete process.env.CALLHOUSE_CHROMIUM
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-bench-page-'))
  // The key is that of the tests, whose browser this is.
  const ports = { CALLHOUSE_OTLP_GRPC_PORT: 'off', CALLHOUSE_OTLP_HTTP_PORT: 'off' }
  const server = await startCallhouseServer(dataDir, { CALLHOUSE_KEYS: 'tester:test-key', ...ports })
  const browser = await chromium.launch(chromiumOptions(executable))
  const world = worldOf(servedAt(`http://127.0.0.1:${server.port}`, dataDir), browser)
  const figures = sizes()
  try {
    const at = Date.now() - 3_600_000
    const [id, trace] = [newId(), newTrace()]
    const one = (n: number) => call(world.project, { startMs: at + n, ms: n % 900, ...(n === 0 && { id }) })
    await world.send(Array.from({ length: calls }, (_, n) => one(n)))
    figures.push(...(await listFigures(world, calls, times)))
    figures.push(await filterFigure(world, id, times))
    figures.push(await dashboardFigure(world, times))
    figures.push(await traceFigures(world, { spans: 1_000, must: 800, times }))
    figures.push(await traceFigures(world, { spans: 30_000, must: 1_500, times }))
    figures.push(await traceFigures(world, { trace, spans: 100_000, must: 3_000, times }))
    figures.push(await jsonFigure(world, times))
    figures.push(...(await traceDeeds(world, trace, 100_000, turns)))
  } finally {
    await world.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  for (const { what, value, unit, must } of figures) {
    const shown = value < 10 ? value.toFixed(2) : String(Math.round(value))
    process.stdout.write(
      `${value > must ? 'FAILED' : 'ok    '}  ${what.padEnd(44)} ${shown.padStart(8)} ${unit.padEnd(3)} (must ${must})\n`,
    )
  }
  if (figures.some(({ value, must }) => value > must)) process.exitCode = 1
}
