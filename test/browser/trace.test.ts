// The page of a trace beyond what its tree and reader show: its place in the list, its zoom, what runs, what is asked again.
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Filled, startFilled } from './filled.ts'
import { newId, newTrace, type Opened, picture } from './world.ts'

const project = 'acme/trace'
let world: Filled
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project })
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (path: string) => page.goto(world.url + path)
const traceHref = (id: string, more = '') => `/p/${project}/traces/${id}${more}`

describe('a trace', () => {
  it('knows its place in all of the list that was loaded, also after a reload', async () => {
    await go(world.home)
    await page.getByText(/of 25\d/).waitFor()
    const table = page.getByRole('table', { name: 'Calls' })
    await table.focus()
    for (const key of ['PageDown', 'PageDown', 'PageDown', 'PageDown', 'PageDown', 'PageDown'])
      await page.keyboard.press(key)
    await page.locator('.row .name', { hasText: 'many' }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/traces/)
    const place = page.getByText(/^\d+ \/ \d+$/)
    const [at = 0, of = 0] = (await place.innerText()).split(' / ').map(Number)
    expect(of).toBeGreaterThanOrEqual(200)
    expect(at).toBeGreaterThan(60)
    await page.reload()
    await page.getByText(`${at} / ${of}`).waitFor()
    await page.keyboard.press('[')
    await page.getByText(`${at - 1} / ${of}`).waitFor()
    await page.getByRole('link', { name: 'Calls', exact: true }).last().click()
    await page.waitForURL((to) => to.pathname === world.home)
  })

  it('keeps what its timeline shows in the address', async () => {
    await go(traceHref(world.trace))
    await page.locator('.span .label', { hasText: 'fetch' }).waitFor()
    await page.keyboard.press('+')
    await page.waitForURL((to) => /zoom=\d+-\d+/.test(to.search))
    await page.locator('.minimap .window').waitFor()
    const { search } = new URL(page.url())
    await page.reload()
    await page.locator('.minimap .window').waitFor()
    expect(new URL(page.url()).search).toBe(search)
    await page.keyboard.press('0')
    await page.waitForURL((to) => !to.search.includes('zoom'))
  })

  it('that runs says since when nothing came, and its bars grow while the server cannot be asked', async () => {
    const trace = newTrace()
    const started = { project_id: project, op_name: 'slow', attributes: {}, inputs: {} }
    const start = { ...started, id: newId(), trace_id: trace, started_at: new Date(Date.now() - 300_000).toISOString() }
    await world.server.send('/call/start', { start })
    await go(traceHref(trace))
    await page.getByText(/running; nothing came since/).waitFor()
    const took = () => page.locator('.spans .span').nth(1).innerText()
    await page.route('**/trace/tree', (route) => route.abort())
    const before = await page.locator('.foot').innerText()
    await expect.poll(() => page.locator('.foot').innerText(), { timeout: 15_000 }).not.toBe(before)
    expect(await took()).toContain('slow')
    await page.unroute('**/trace/tree')
    here.faults.splice(0, Number.POSITIVE_INFINITY, ...here.faults.filter((line) => !line.includes('ERR_FAILED')))
  })

  it('asks again each time that the server is too busy, not once', async () => {
    await go(traceHref(world.trace, `?call=${world.answered}&tab=feedback`))
    await page.getByRole('button', { name: 'Good' }).waitFor()
    let refused = 0
    await page.route('**/feedback/query', (route) => {
      if (refused >= 3) return route.continue()
      refused++
      return route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { reason: 'busy' } })
    })
    await page.getByRole('button', { name: 'Good' }).click()
    await page.getByRole('alert').getByText('busy').waitFor()
    await expect.poll(() => refused, { timeout: 15_000 }).toBe(3)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.unroute('**/feedback/query')
    here.faults.splice(0, Number.POSITIVE_INFINITY, ...here.faults.filter((line) => !line.includes('503')))
  })
})
