// Measures a reader's actions in the page: filters, interactions, frames of scrolling, memory, and rest.
import type { CDPSession, Page } from 'playwright-core'
import type { World } from '../../test/browser/world.ts'
import { type Figure, longTasks, openedPage, untilOpened, untilQuiet, untilShown } from './page-timing.ts'
import { median, quantile } from './process.ts'

/** @param id of a call of the list */
export async function filterFigure(world: World, id: string, times: number): Promise<Figure> {
  const { page, context } = await openedPage(world)
  await page.goto(`${world.url}/p/${world.project}/calls`)
  await page.locator('.row .name').first().waitFor()
  const rows = `document.querySelector('.rows[role=table]')?.getAttribute('aria-rowcount')`
  const isOne = `${rows} === '2' && document.querySelector('.row .name') !== null`
  const took: number[] = []
  for (let round = 0; round < times; round++) {
    await page.getByLabel('Filter calls').fill(`id:${id}`)
    took.push(await untilShown(page, () => page.keyboard.press('Enter'), isOne))
    const remove = page.getByRole('button', { name: /^Remove id/ })
    took.push(await untilShown(page, () => remove.click(), `Number(${rows}) > 2`))
  }
  await context.close()
  return { what: 'change of the filter to its rows, p95', value: quantile(took, 0.95), unit: 'ms', must: 400 }
}

type Opening = { what: string; path: string; ready: string; must: number }

/** A page of the project, from its link to what it leads to. @param path within the project @param ready an expression */
export async function openingFigure(
  world: World,
  times: number,
  { what, path, ready, must }: Opening,
): Promise<Figure> {
  const { page, context } = await openedPage(world)
  const took: number[] = []
  for (let round = 0; round < times; round++)
    took.push(await untilOpened(page, `${world.url}/p/${world.project}/${path}`, ready))
  await context.close()
  return { what, value: median(took), unit: 'ms', must }
}

const drawn = (charts: number, rankings: number): string =>
  `document.querySelectorAll('.chart svg').length >= ${charts} && document.querySelectorAll('.ranking:has(tbody tr)').length >= ${rankings}`

/** The dashboards whose charts all ask for something of their own. */
export const dashboards: readonly Opening[] = [
  { what: 'dashboard of 30 days, all charts', path: 'dashboard?range=30d', ready: drawn(4, 2), must: 1_500 },
  { what: 'costs of 7 days, all charts', path: 'dashboard?range=7d&board=cost', ready: drawn(4, 2), must: 1_500 },
]

const noteInteractions = `globalThis.interactions = []
new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) if (interactionId) interactions.push(duration)
}).observe({ type: 'event', durationThreshold: 16, buffered: true })`

/** Frames while the wheel turns, and while the timeline is zoomed. */
async function framesOf(page: Page): Promise<number[]> {
  const tree = page.getByRole('treegrid', { name: 'Spans' })
  const box = await tree.boundingBox()
  await page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 200)
  await tree.focus()
  await page.evaluate(`globalThis.frames_ = []; globalThis.scrolls_ = true; (() => {
    let before = performance.now()
    const note = (at) => { frames_.push(at - before); before = at; if (scrolls_) requestAnimationFrame(note) }
    requestAnimationFrame(note)
  })()`)
  const wheelEndMs = performance.now() + 7_000
  while (performance.now() < wheelEndMs) await page.mouse.wheel(0, 600)
  for (const key of '++++++------') {
    await page.keyboard.press(key)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return (await page.evaluate<number[]>('scrolls_ = false, frames_')).slice(1)
}

/** Measures a large tree after a key or a letter. */
async function treeFigures(page: Page, spans: number, times: number): Promise<Figure[]> {
  const tree = page.getByRole('treegrid', { name: 'Spans' })
  const lines = `Number(document.querySelector('[role=treegrid]')?.getAttribute('aria-rowcount'))`
  const [isWhole, isLess] = [`${lines} === ${spans + 1}`, `${lines} < ${spans + 1}`]
  const finder = page.getByLabel('Find in this trace')
  const kinds = page.getByLabel('Kind of span')
  const took: Record<'collapsing' | 'expanding' | 'filtering' | 'searching', number[]> = {
    collapsing: [],
    expanding: [],
    filtering: [],
    searching: [],
  }
  for (let round = 0; round < times; round++) {
    await tree.focus()
    await page.keyboard.press('Home')
    took.collapsing.push(await untilShown(page, () => page.keyboard.press('ArrowLeft'), isLess))
    took.expanding.push(await untilShown(page, () => page.keyboard.press('ArrowRight'), isWhole))
    took.filtering.push(await untilShown(page, () => kinds.selectOption('llm'), isLess))
    await untilShown(page, () => kinds.selectOption(''), isWhole)
    took.searching.push(await untilShown(page, () => finder.fill('span 7'), isLess))
    await untilShown(page, () => finder.fill(''), isWhole)
  }
  return Object.entries(took).map(([deed, values]) => ({
    what: `${deed} in ${spans} spans`,
    value: median(values),
    unit: 'ms',
    must: 50,
  }))
}

const heapOf = async (client: CDPSession): Promise<number> => {
  // Values and elements that hold each other go by one collection after the other.
  for (let round = 0; round < 3; round++) {
    await client.send('HeapProfiler.collectGarbage')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  // Columns of spans are buffers outside of the heap of values.
  const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await client.send('Runtime.getHeapUsage')
  return (usedSize + embedderHeapUsedSize + backingStorageSize) / 1e6
}

const noteTimers = `globalThis.fired = 0
for (const name of ['setTimeout', 'setInterval']) {
  const own = globalThis[name]
  globalThis[name] = (work, ms, ...rest) => own((...given) => { fired++; work(...given) }, ms, ...rest)
}`

const turnHidden = `for (const [name, value] of [['visibilityState', 'hidden'], ['hidden', true]])
  Object.defineProperty(document, name, { configurable: true, value })
document.dispatchEvent(new Event('visibilitychange'))`

/** A list that is neither live nor running, and a live one in a hidden tab: nothing is asked, and no timer fires. */
export async function restFigures(world: World): Promise<Figure[]> {
  const { page, context } = await openedPage(world)
  await page.addInitScript(noteTimers)
  await page.goto(`${world.url}/p/${world.project}/calls`)
  await page.locator('.row .name').first().waitFor()
  await untilQuiet(page)
  let asked = 0
  page.on('request', () => asked++)
  const rest = async (where: string): Promise<Figure[]> => {
    // The page is at rest: answers are marked as old after ten seconds.
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    const [askedBefore, firedBefore] = [asked, await page.evaluate<number>('fired')]
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    const fired = (await page.evaluate<number>('fired')) - firedBefore
    return [
      { what: `requests in 10 s ${where}`, value: asked - askedBefore, unit: '', must: 0 },
      { what: 'timers that fired meanwhile', value: fired, unit: '', must: 0 },
    ]
  }
  const figures = await rest('of rest')
  await page.getByRole('button', { name: 'Live' }).click()
  await page.evaluate(turnHidden)
  figures.push(...(await rest('of a hidden tab that is live')))
  await context.close()
  return figures
}

/** The code of both pages, loaded once, is no growth. */
const loadingTurns = 5

/** From the list to its first trace and back. */
async function turnsBetween(page: Page, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await page.locator('.row .name').first().click()
    await page.locator('.span .label').first().waitFor()
    await page.goBack()
    await page.locator('.row .name').first().waitFor()
  }
}

type Walk = { trace: string; spans: number; times: number; turns: number }

/** A trace that is walked through: keys, search, the wheel. @param turns between it and the list, for what stays behind */
export async function traceDeeds(world: World, { trace, spans, times, turns }: Walk): Promise<Figure[]> {
  const { page, context } = await openedPage(world)
  const client = await context.newCDPSession(page)
  await page.addInitScript(noteInteractions)
  const list = `${world.url}/p/${world.project}/calls`
  await page.goto(`${world.url}/p/${world.project}/traces/${trace}`)
  const tree = page.locator(`[role=treegrid][aria-rowcount="${spans + 1}"]`)
  await tree.locator('.span .label').first().waitFor()
  const heap = await heapOf(client)
  await tree.focus()
  for (const key of ['ArrowLeft', 'ArrowRight', 'j', 'j', 'End', 'PageUp', 'Home', 'e', 'c', 's'])
    await page.keyboard.press(key)
  const finder = page.getByLabel('Find in this trace')
  await finder.fill('')
  await finder.pressSequentially('span 7', { delay: 60 })
  await finder.fill('')
  const deeds = await treeFigures(page, spans, times)
  let frames: number[] = []
  const long = await longTasks(page, async () => {
    frames = await framesOf(page)
  })
  const interactions = await page.evaluate<number[]>('interactions')
  await page.goto(list)
  await page.locator('.row .name').first().waitFor()
  await turnsBetween(page, loadingTurns)
  const before = await heapOf(client)
  await turnsBetween(page, turns)
  const growth = (await heapOf(client)) - before
  await context.close()
  const slow = frames.filter((ms) => ms > 33).length / Math.max(1, frames.length)
  return [
    { what: `heap of ${spans} spans`, value: heap, unit: 'MB', must: 150 },
    ...deeds,
    { what: 'interaction to next paint there, p98', value: quantile(interactions, 0.98), unit: 'ms', must: 150 },
    { what: 'frames of scrolling there, p95', value: quantile(frames, 0.95), unit: 'ms', must: 20 },
    { what: 'frames above 33 ms', value: slow * 100, unit: '%', must: 2 },
    { what: 'tasks above 50 ms meanwhile', value: long.length, unit: '', must: 0 },
    { what: `heap after ${turns} turns from list to trace`, value: growth, unit: 'MB', must: 10 },
  ]
}
