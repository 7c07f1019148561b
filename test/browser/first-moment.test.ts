// tier: deep browser
// A list from its first moment: keys without a click, rows that are links, and the truth about the server behind it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, type Opened, startWorld, type World } from './world.ts'

let world: World
let here: Opened
const project = 'acme/moment'
beforeAll(async () => {
  world = await startWorld(project)
  await world.send(['one', 'two', 'three'].map((name) => call(project, { name })))
  here = await world.open()
})
afterAll(() => world?.close())

const list = async () => {
  await here.page.goto(`${world.url}/p/${project}/calls`)
  await here.page.locator('.row .name').nth(2).waitFor()
}
const rowAt = () => here.page.locator('.rows .row.at').getAttribute('aria-rowindex')

it('keys move in a list and open its row before anything was clicked, and Tab begins past the bars', async () => {
  const { page, faults } = here
  await list()
  for (const key of ['j', 'ArrowDown', 'k']) await page.keyboard.press(key)
  await expectSoon(rowAt).toBe('3')
  await page.keyboard.press('Enter')
  await page.waitForURL((to) => to.pathname.includes('/traces/'))
  await list()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await page.evaluate<string>("document.activeElement?.getAttribute('aria-label')")).toBe('Calls')
  expect(await everybodysFaults(page, 'first moment')).toEqual([])
  expect(faults.splice(0)).toEqual([])
})

it('every cell of a row opens it, also in a new tab, and every part of a header sorts', async () => {
  const { page, context } = here
  await list()
  const cell = page.locator('.rows .row').nth(1).locator('.lat')
  const [other] = await Promise.all([context.waitForEvent('page'), cell.click({ button: 'middle' })])
  await other.waitForURL((to) => to.pathname.includes('/traces/'))
  await other.close()
  await cell.click()
  await page.waitForURL((to) => to.pathname.includes('/traces/'))
  await list()
  await page.getByRole('columnheader', { name: 'Latency' }).click({ position: { x: 4, y: 4 } })
  await page.waitForURL((to) => to.searchParams.get('sort') === 'latency:desc')
})

it('a server that is away is told, pages that cannot be loaded stay in the frame, and both mend themselves', async () => {
  const { page, context, faults } = here
  await list()
  let isAway = true
  await context.route('**/*', (route) => (isAway ? route.abort() : route.continue()))
  await page.getByRole('button', { name: 'Refresh' }).click()
  const bar = page.getByRole('status').getByText('Cannot reach the server')
  await bar.waitFor()
  await page.getByRole('link', { name: 'Threads' }).click()
  await page.getByRole('alert').getByText('It opens automatically').waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  isAway = false
  await page.getByRole('heading', { name: 'No threads yet' }).waitFor()
  await bar.waitFor({ state: 'detached' })
  faults.splice(0)
})
