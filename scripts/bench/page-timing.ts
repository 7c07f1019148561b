// Measures the rows of `npm run bench page`: from a link, or from an action, to the frame that shows its result.
import type { Page } from 'playwright-core'
import type { Opened, World } from '../../test/browser/world.ts'

export type Figure = {
  what: string
  value: number
  unit: string
  /** Most that it may be, or least. */
  must: number
  isLeast?: boolean
}

/** A signed-in page that keeps what it may: while requests are looked at, as in tests, a browser has no cache. */
export async function openedPage(world: World): Promise<Pick<Opened, 'page' | 'context'>> {
  const opened = await world.open()
  await opened.context.unrouteAll()
  return opened
}

/** The awaited elements of each page, with the name under which it notes the time. */
const awaited = new WeakMap<Page, Map<string, string>>()

async function noteShown(page: Page, ready: string): Promise<string> {
  const known = awaited.get(page) ?? new Map<string, string>()
  awaited.set(page, known)
  const name = known.get(ready) ?? `shown${known.size}`
  if (known.has(ready)) return name
  known.set(ready, name)
  await page.addInitScript(`globalThis.${name} = new Promise((done) => {
    const observer = new MutationObserver(() => {
      if (!(${ready})) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => done(performance.now())))
    })
    observer.observe(document, { childList: true, subtree: true, attributes: true })
  })`)
  return name
}

/**
 * Milliseconds from the start of a navigation to the frame that shows what it leads to: measured within the page, so
 * that what drives the browser is not in it.
 * @param ready an expression
 */
export async function untilOpened(page: Page, url: string, ready: string): Promise<number> {
  await page.goto('about:blank')
  const name = await noteShown(page, ready)
  await page.goto(url, { waitUntil: 'commit' })
  return page.evaluate<number>(name)
}

/**
 * Resolves once the page's own thread has loaded nothing for half a second. Requests of its worker do not count, as they
 * do in Playwright's `networkidle`.
 */
export const untilQuiet = (page: Page): Promise<void> =>
  page.evaluate<void>(`new Promise((done) => {
    let timer = setTimeout(done, 500)
    new PerformanceObserver(() => {
      clearTimeout(timer)
      timer = setTimeout(done, 500)
    }).observe({ type: 'resource' })
  })`)

export const stands = (selector: string): string => `document.querySelector(${JSON.stringify(selector)}) !== null`

/**
 * Milliseconds from the event of a deed in the page to the frame that shows what it is for.
 * @param ready an expression that must not hold before
 */
export async function untilShown(page: Page, deed: () => Promise<unknown>, ready: string): Promise<number> {
  const shown = page.evaluate<number>(`new Promise((done) => {
    let beganMs
    const begin = ({ timeStamp }) => { beganMs ??= timeStamp }
    const kinds = ['keydown', 'pointerdown', 'input', 'change']
    for (const kind of kinds) addEventListener(kind, begin, { capture: true })
    const look = () => {
      if (beganMs === undefined || !(${ready})) return requestAnimationFrame(look)
      for (const kind of kinds) removeEventListener(kind, begin, { capture: true })
      setTimeout(() => done(performance.now() - beganMs))
    }
    requestAnimationFrame(look)
  })`)
  // The listeners stand before the deed.
  await page.evaluate('0')
  await deed()
  return shown
}

/** Longest tasks of the page's main thread while something is done, from the longest on; those below 50 ms are not told of. */
export async function longTasks(page: Page, deed: () => Promise<unknown>): Promise<number[]> {
  await page.evaluate(`globalThis.tasks_ = []; globalThis.tasking_ = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks_.push(duration)
  }); tasking_.observe({ type: 'longtask' })`)
  await deed()
  await page.evaluate('new Promise((done) => setTimeout(done, 100))')
  return page.evaluate<number[]>('tasking_.disconnect(), tasks_.sort((a, b) => b - a)')
}
