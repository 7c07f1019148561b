// tier: deep browser
// Budgets that nothing is timed for: rows in the document, requests of a list, of compared runs and of a hidden tab.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { type Filled, startFilled } from './filled.ts'
import { call, hold, newId, newTrace, type Opened } from './world.ts'

let world: Filled
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project: 'acme/budgets' })
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())

const rendered = () => page.locator('.rows .row').count()

it('a list keeps as many rows in the document as a window shows, wherever they are scrolled to', async () => {
  await page.goto(`${world.url}${world.home}?view=all`)
  await page.getByText(/of 25\d/).waitFor()
  await page.getByRole('table', { name: 'Calls' }).focus()
  for (const key of ['PageDown', 'End', 'Home']) {
    await page.keyboard.press(key)
    const count = await rendered()
    expect(count, key).toBeGreaterThan(10)
    expect(count, key).toBeLessThan(60)
  }
})

/** Requests of the page itself, with the rows that are drawn by then; its worker asks for the rows. */
const noteAsked = `globalThis.asked = []
const own = globalThis.fetch
globalThis.fetch = (to, init) => {
  asked.push({ path: new URL(to).pathname, body: init?.body ?? '', rows: document.querySelectorAll('.row .name').length })
  return own(to, init)
}`
type Asked = { path: string; body: string; rows: number }

it('a list asks for what stands beside its rows once they are drawn, and never for a filter that was left', async () => {
  const { page: fresh, context } = await world.open()
  await fresh.addInitScript(noteAsked)
  const asked = async () =>
    (await fresh.evaluate<Asked[]>('asked')).filter(({ path }) => !/\/(?:fields|health)$/.test(path))
  const paths = async () => (await asked()).map(({ path }) => path)
  await fresh.goto(world.url + world.home)
  await expectSoon(paths).toEqual(expect.arrayContaining(['/calls/query_stats', '/calls/aggregate']))
  // A list of traces asks for the failed ones once it has all of them over time.
  await expectSoon(async () => (await paths()).filter((path) => path === '/calls/aggregate').length).toBe(2)
  expect((await asked()).filter(({ rows }) => rows === 0).map(({ path }) => path)).toEqual(['/auth/session'])
  await fresh.evaluate('asked = []')
  await fresh.getByLabel('Filter calls').fill(`id:${world.failed}`)
  await fresh.keyboard.press('Enter')
  await expectSoon(paths).toContain('/calls/aggregate')
  // Rows that are all here are not counted by the server.
  expect(await paths()).not.toContain('/calls/query_stats')
  for (const { path, body, rows } of await asked()) {
    expect(rows, path).toBe(1)
    expect(body, path).toContain(world.failed)
  }
  await fresh.evaluate('asked = []')
  await fresh.getByRole('button', { name: /^Remove id/ }).click()
  await expectSoon(paths).toContain('/calls/aggregate')
  for (const { path, body } of await asked()) expect(body, path).not.toContain(world.failed)
  await context.close()
})

/** Number of times that the page itself uses formats of the browser. */
const noteFormats = `globalThis.formats = 0
const noted = (own) => new Proxy(own, {
  apply: (target, self, args) => (formats++, Reflect.apply(target, self, args)),
  construct: (target, args) => (formats++, Reflect.construct(target, args)),
})
for (const name of ['DateTimeFormat', 'NumberFormat']) Intl[name] = noted(Intl[name])
Number.prototype.toLocaleString = noted(Number.prototype.toLocaleString)`

it('the page uses no format until its rows have come, while the worker loads them', async () => {
  const { page: fresh, context } = await world.open()
  await fresh.addInitScript(noteFormats)
  const answer = await hold(fresh, '**/calls/stream_query')
  await fresh.goto(world.url + world.home)
  await fresh.getByLabel('Filter calls').waitFor()
  expect(await fresh.evaluate('formats')).toBe(0)
  answer()
  await fresh.locator('.row .name').first().waitFor()
  expect(await fresh.evaluate('formats')).toBeGreaterThan(0)
  await context.close()
})

it('compared runs are read in one request', async () => {
  const ids = [newId(), newId(), newId()]
  const project = 'acme/budgets-compared'
  const batch = ids.flatMap((id) => {
    const trace = newTrace()
    const output = { output: id, scores: { correct: true } }
    const rowOf = { trace, parent: id, name: 'Evaluation.predict_and_score', output, inputs: { example: { n: 1 } } }
    return [call(project, { id, trace, name: 'Evaluation.evaluate' }), call(project, rowOf)]
  })
  await world.server.send(`/v2/${project}/calls/complete`, { batch })
  const { page: fresh, context } = await world.open()
  const parents: unknown[] = []
  fresh.on('request', (request) => {
    const { filter } = JSON.parse(request.postData() ?? '{}') as { filter?: { parent_ids?: string[] } }
    if (filter?.parent_ids) parents.push(filter.parent_ids)
  })
  await fresh.goto(`${world.url}/p/${project}/evaluations/compare?runs=${ids.join()}`)
  await fresh.locator('.row .compared').nth(2).waitFor()
  for (const [run, id] of ids.entries())
    expect(await fresh.locator('.row .compared').nth(run).innerText()).toContain(id)
  expect(parents).toEqual([ids])
  await context.close()
})

it('calls of a live list are not asked for while the tab is hidden, and at once when it is seen again', async () => {
  const { page: fresh, context } = await world.open()
  await fresh.clock.install()
  await fresh.goto(world.url + world.home)
  await fresh.getByText(/of 25\d/).waitFor()
  const isCount = (url: string) => url.endsWith('/calls/query_stats')
  let asked = 0
  fresh.on('request', (request) => {
    if (isCount(request.url())) asked++
  })
  const turnTo = (state: 'hidden' | 'visible') =>
    fresh.evaluate(`
      Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' })
      Object.defineProperty(document, 'hidden', { configurable: true, value: ${state === 'hidden'} })
      document.dispatchEvent(new Event('visibilitychange'))
    `)
  const again = () => fresh.waitForRequest((request) => isCount(request.url()))
  await Promise.all([again(), fresh.getByRole('button', { name: 'Live' }).click()])
  // Where answers take long it is asked again after ten seconds.
  await Promise.all([again(), fresh.clock.runFor(11_000)])
  await fresh.waitForLoadState('networkidle')
  await turnTo('hidden')
  const before = asked
  await fresh.clock.runFor(60_000)
  await fresh.evaluate('fetch("assets/none.js")')
  expect(asked).toBe(before)
  await Promise.all([again(), turnTo('visible')])
  await context.close()
})
