// What a reader does in the page, and what it costs: filters, interactions, frames of scrolling, memory, and rest.
import type { CDPSession, Page } from 'playwright-core'
import type { World } from '../../test/browser/world.ts'

export type Figure = { what: string; value: number; unit: string; must: number }

const nowMs = 'performance.timeOrigin + performance.now()'
const share = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0

/** From the deed to the frame in which the page shows what it is for; `ready` must not hold before. */
async function untilShown(page: Page, deed: () => Promise<unknown>, ready: string): Promise<number> {
  const startedMs = await page.evaluate<number>(nowMs)
  const shownMs = page.evaluate<number>(`new Promise((done) => {
    const look = () => (${ready} ? done(${nowMs}) : requestAnimationFrame(look))
    look()
  })`)
  await deed()
  return (await shownMs) - startedMs
}

/** @param id of a call of the list */
export async function filterFigure(world: World, id: string, times: number): Promise<Figure> {
  const { page, context } = await world.open()
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
  return { what: 'change of the filter to its rows, p95', value: share(took, 0.95), unit: 'ms', must: 400 }
}

export async function dashboardFigure(world: World, times: number): Promise<Figure> {
  const { page, context } = await world.open()
  const took: number[] = []
  for (let round = 0; round < times; round++) {
    await page.goto('about:blank')
    const startedMs = performance.now()
    await page.goto(`${world.url}/p/${world.project}/dashboard?range=30d`, { waitUntil: 'commit' })
    await page.locator('.ranking tbody tr').first().waitFor()
    await page.waitForFunction('document.querySelectorAll(".chart svg").length >= 2')
    took.push(performance.now() - startedMs)
  }
  await context.close()
  return { what: 'dashboard of 30 days, all charts', value: share(took, 0.5), unit: 'ms', must: 1_500 }
}

const noteInteractions = `globalThis.interactions = []
new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) if (interactionId) interactions.push(duration)
}).observe({ type: 'event', durationThreshold: 16, buffered: true })`

/** Frames while the wheel turns. */
async function framesOf(page: Page): Promise<number[]> {
  const box = await page.getByRole('treegrid', { name: 'Spans' }).boundingBox()
  await page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 200)
  await page.evaluate(`globalThis.frames_ = []; (() => {
    let before = performance.now()
    const note = (at) => { frames_.push(at - before); before = at; requestAnimationFrame(note) }
    requestAnimationFrame(note)
  })()`)
  const endMs = performance.now() + 5_000
  while (performance.now() < endMs) await page.mouse.wheel(0, 600)
  return (await page.evaluate<number[]>('frames_')).slice(1)
}

const heapOf = async (client: CDPSession): Promise<number> => {
  await client.send('HeapProfiler.collectGarbage')
  // Columns of spans are buffers outside of the heap of values.
  const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await client.send('Runtime.getHeapUsage')
  return (usedSize + embedderHeapUsedSize + backingStorageSize) / 1e6
}

/** A trace that is walked through: keys, search, the wheel. @param turns between it and the list, for what stays behind */
export async function traceDeeds(world: World, trace: string, spans: number, turns: number): Promise<Figure[]> {
  const { page, context } = await world.open()
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
  const frames = await framesOf(page)
  const interactions = await page.evaluate<number[]>('interactions')
  await page.goto(list)
  await page.locator('.row .name').first().waitFor()
  const before = await heapOf(client)
  for (let turn = 0; turn < turns; turn++) {
    await page.locator('.row .name').first().click()
    await page.locator('.span .label').first().waitFor()
    await page.goBack()
    await page.locator('.row .name').first().waitFor()
  }
  const growth = (await heapOf(client)) - before
  // At rest: neither live nor running, nothing is asked.
  await page.waitForLoadState('networkidle')
  let asked = 0
  page.on('request', () => asked++)
  await new Promise((resolve) => setTimeout(resolve, 10_000))
  await context.close()
  const slow = frames.filter((ms) => ms > 33).length / Math.max(1, frames.length)
  return [
    { what: `heap of ${spans} spans`, value: heap, unit: 'MB', must: 150 },
    { what: 'interaction to next paint there, p98', value: share(interactions, 0.98), unit: 'ms', must: 150 },
    { what: 'frames of scrolling there, p95', value: share(frames, 0.95), unit: 'ms', must: 20 },
    { what: 'frames above 33 ms', value: slow * 100, unit: '%', must: 2 },
    { what: `heap after ${turns} turns from list to trace`, value: growth, unit: 'MB', must: 10 },
    { what: 'requests in 10 s of rest', value: asked, unit: '', must: 0 },
  ]
}
