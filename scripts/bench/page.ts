// `npm run bench page`: what a reader waits for and downloads, in a Chromium on this machine; fails above docs/web-page.md.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Request } from 'playwright-core'
import { chromiumOptions } from '../../test/browser/setup.ts'
import { call, newId, newTrace, servedAt, type World, worldOf } from '../../test/browser/world.ts'
import { buildPage } from '../../test/fixtures/built-page.ts'
import { distFolder } from '../page-stamp.mjs'
import { dashboards, filterFigure, openingFigure, restFigures, traceDeeds } from './page-deeds.ts'
import { jsonFigures } from './page-json.ts'
import { judgingFigures } from './page-judging.ts'
import { lighthouseFigures } from './page-lighthouse.ts'
import { startFigure } from './page-start.ts'
import { type Figure, openedPage, stands, untilOpened } from './page-timing.ts'
import { median, startCallhouseServer, untilAtRest } from './process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

function sizes(): Figure[] {
  const folder = join(root, distFolder, 'assets')
  const shell = readFileSync(join(root, distFolder, 'index.html'), 'utf8')
  const files = readdirSync(folder)
  const bytes = (name: string) => statSync(join(folder, name)).size
  const named = (suffix: string, isEntry: boolean) =>
    files.filter((name) => name.endsWith(suffix) && shell.includes(name) === isEntry)
  const br = (suffix: string) => named(suffix, true).reduce((all, name) => all + bytes(`${name}.br`), 0)
  const later = Math.max(...[...named('.js', false), ...named('.css', false)].map((name) => bytes(`${name}.gz`)))
  const whole = files.filter((name) => !/\.(?:br|gz)$/.test(name)).reduce((all, name) => all + bytes(name), 0)
  return [
    { what: 'entry JS, br', value: br('.js') / 1000, unit: 'KB', must: 150 },
    { what: 'CSS of the entry, br', value: br('.css') / 1000, unit: 'KB', must: 20 },
    { what: 'largest later chunk, gz', value: later / 1000, unit: 'KB', must: 140 },
    { what: 'all files of the page, unpacked', value: whole / 1e6, unit: 'MB', must: 3 },
  ]
}

/** Notes when the first row is put into the page: later requests hold nobody up. */
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
    const { page, context } = await openedPage(world)
    const client = await context.newCDPSession(page)
    await client.send('Network.clearBrowserCache')
    await page.addInitScript(noteFirstRow)
    const asked: Request[] = []
    const note = (one: Request) => asked.push(one)
    page.on('request', note)
    cold.push(await untilOpened(page, path, stands('.row .name')))
    const firstRowMs = await page.evaluate<number>('performance.timeOrigin + firstRowMs')
    // Requests that are answered only after they held nobody up.
    requests = asked.filter((one) => {
      const { startTime, responseStart } = one.timing()
      return responseStart >= 0 && startTime + responseStart < firstRowMs
    }).length
    page.off('request', note)
    warm.push(await untilOpened(page, path, stands('.row .name')))
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

async function sendTrace(world: World, trace: string, spans: number): Promise<void> {
  const ids = Array.from({ length: spans }, newId)
  const at = Date.now() - 600_000
  const one = (id: string, n: number) =>
    call(world.project, {
      id,
      trace,
      parent: ids[Math.floor((n - 1) / 8)],
      name: `span ${n % 20}`,
      startMs: at + n,
      ms: 500,
    })
  await world.send(ids.map(one))
}

type TraceOptions = { trace?: string; spans: number; must: number; times: number; atRest(): Promise<void> }

async function traceFigures(
  world: World,
  { trace = newTrace(), spans, must, times, atRest }: TraceOptions,
): Promise<Figure> {
  await sendTrace(world, trace, spans)
  await atRest()
  const { page, context } = await openedPage(world)
  const took: number[] = []
  const whole = stands(`[role=treegrid][aria-rowcount="${spans + 1}"] .span .label`)
  const url = `${world.url}/p/${world.project}/traces/${trace}`
  for (let round = 0; round < times; round++) took.push(await untilOpened(page, url, whole))
  await context.close()
  return { what: `link to tree and bars, ${spans} spans`, value: median(took), unit: 'ms', must }
}

const operations = ['answer', 'search', 'rank', 'summarize', 'check']
const models = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5']
const rareWord = 'woodpecker'
/** A server that refuses calls for longer takes none any more. */
const refusedS = 300

/** Sends calls in batches: five million calls do not fit into memory at once. */
async function sendCalls(world: World, calls: number, id: string): Promise<void> {
  const at = Date.now() - Math.max(3_600_000, calls)
  const one = (n: number) =>
    call(world.project, {
      startMs: at + n,
      ms: n % 900,
      name: operations[n % operations.length] ?? '',
      inputs: { question: n % 50_000 === 0 ? `Why a ${rareWord}?` : 'Why?' },
      // Most calls of agents are tools and steps.
      ...(n % 4 === 0 && {
        usage: { [models[n % 3] ?? '']: { input_tokens: 40 + (n % 900), output_tokens: n % 300 } },
      }),
      ...(n === 0 && { id }),
    })
  for (let from = 0; from < calls; from += 20_000) {
    const some = Array.from({ length: Math.min(20_000, calls - from) }, (_, n) => one(from + n))
    // A server that has much to apply takes them a little later.
    for (let tries = 0; !(await isSent(world, some)); tries++) {
      if (tries > 2 * refusedS) throw new Error(`the server took no calls for ${refusedS} s`)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

const isSent = (world: World, calls: Parameters<World['send']>[0]): Promise<boolean> =>
  world.send(calls).then(
    () => true,
    (error: Error) => {
      if (error.message.includes(' answered 429: ')) return false
      throw error
    },
  )

const holds = ({ value, must, isLeast }: Figure): boolean => (isLeast ? value >= must : value <= must)

/** Rows as they are measured; whether all of them hold. */
function printed(figures: readonly Figure[]): boolean {
  for (const figure of figures) {
    const { what, value, unit, must } = figure
    const shown = value < 10 ? value.toFixed(2) : String(Math.round(value))
    process.stdout.write(
      `${holds(figure) ? 'ok    ' : 'FAILED'}  ${what.padEnd(52)} ${shown.padStart(8)} ${unit.padEnd(3)} (must ${must})\n`,
    )
  }
  return figures.every(holds)
}

const turns = 200

/** @param calls roots of the list, besides the spans of the traces. @param only parts that are measured; none = all */
export async function benchPage(calls: number, times: number, only: readonly string[] = []): Promise<void> {
  await buildPage()
  const { CALLHOUSE_CHROMIUM: executable = '/usr/bin/chromium' } = process.env
  // The server refuses settings that it does not know.
  delete process.env.CALLHOUSE_CHROMIUM
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-bench-page-'))
  // The key is that of the tests, whose browser this is.
  const server = await startCallhouseServer(dataDir, { CALLHOUSE_KEYS: 'tester:test-key' })
  const browser = await chromium.launch(chromiumOptions(executable))
  const world = worldOf(servedAt(`http://127.0.0.1:${server.port}`, dataDir), browser)
  const id = newId()
  const atRest = () => untilAtRest(server)
  const parts: Record<string, () => Promise<Figure[]>> = {
    sizes: async () => sizes(),
    list: async () => [...(await listFigures(world, calls, times)), await filterFigure(world, id, times)],
    search: async () => [
      await openingFigure(world, times, {
        what: 'search for a word, first hits',
        path: `calls?q=${rareWord}`,
        ready: stands('.row .name'),
        must: 1_000,
      }),
    ],
    dashboard: async () => {
      const figures: Figure[] = []
      for (const board of dashboards) figures.push(await openingFigure(world, times, board))
      return figures
    },
    traces: async () => [
      await traceFigures(world, { spans: 1_000, must: 800, times, atRest }),
      await traceFigures(world, { spans: 30_000, must: 1_500, times, atRest }),
    ],
    large: async () => {
      const trace = newTrace()
      const opened = await traceFigures(world, { trace, spans: 100_000, must: 3_000, times, atRest })
      return [opened, ...(await traceDeeds(world, { trace, spans: 100_000, times, turns }))]
    },
    json: () => jsonFigures(world, times),
    judging: () => judgingFigures(world, times),
    rest: () => restFigures(world),
    start: async () => [await startFigure(times)],
    lighthouse: async () => {
      const trace = newTrace()
      await sendTrace(world, trace, 1_000)
      const paths = {
        'sign-in': '/sign-in',
        projects: '/?all=1',
        calls: `/p/${world.project}/calls`,
        '1,000 spans': `/p/${world.project}/traces/${trace}`,
        dashboard: `/p/${world.project}/dashboard`,
      }
      return lighthouseFigures(executable, { url: world.url, paths, times })
    },
  }
  try {
    await sendCalls(world, calls, id)
    await atRest()
    for (const [name, figures] of Object.entries(parts)) {
      if (only.length > 0 && !only.includes(name)) continue
      if (!printed(await figures())) process.exitCode = 1
    }
  } finally {
    await world.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
