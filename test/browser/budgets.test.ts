// Budgets that nothing is timed for: rows in the document, requests of a hidden tab, sizes of scripts and styles.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Filled, startFilled } from './filled.ts'
import type { Opened } from './world.ts'

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
  const first = again()
  await fresh.getByRole('button', { name: 'Live' }).click()
  await first
  const second = again()
  // Where answers take long it is asked again after ten seconds.
  await fresh.clock.runFor(11_000)
  await second
  await fresh.waitForLoadState('networkidle')
  await turnTo('hidden')
  const before = asked
  await fresh.clock.runFor(60_000)
  await fresh.evaluate('fetch("assets/none.js")')
  expect(asked).toBe(before)
  const seen = again()
  await turnTo('visible')
  await seen
  await context.close()
})

it('the script of the list, other chunks and all of the page stay within their sizes', () => {
  const folder = fileURLToPath(new URL('../../services/web/dist/', import.meta.url))
  const shell = readFileSync(`${folder}index.html`, 'utf8')
  const files = readdirSync(`${folder}assets`)
  const sizes = (end: string) =>
    files.filter((name) => name.endsWith(end)).map((name) => [name, statSync(`${folder}assets/${name}`).size] as const)
  for (const [name, size] of sizes('.js.br')) {
    const limit = shell.includes(name.slice(0, -3)) ? 150_000 : 140_000
    expect(size, name).toBeLessThanOrEqual(limit)
  }
  const css = sizes('.css.br').reduce((sum, [, size]) => sum + size, 0)
  const whole = ['.js', '.css'].flatMap(sizes).reduce((sum, [, size]) => sum + size, 0)
  expect(css).toBeLessThanOrEqual(20_000)
  expect(whole).toBeLessThanOrEqual(3 * 2 ** 20)
})
