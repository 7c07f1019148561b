// tier: deep browser
// Menus by keys, the palette's mark, days of the range menu, a chart that cannot be drawn, and rows of an evaluation run.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { call, newId, newTrace, type Opened, startWorld, type World } from './world.ts'

const project = 'acme/menus'
const home = `/p/${project}`

let world: World
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startWorld(project)
  const [run, trace] = [newId(), newTrace()]
  const below = (op_name: string) => ({ ...call(project, { trace, parent: run }), op_name })
  await world.send([
    call(project, { name: 'answer' }),
    { ...call(project, { id: run, trace }), op_name: 'Evaluation.evaluate' },
    below('Evaluation.predict_and_score'),
    below('Evaluation.predict_and_score'),
    below('Evaluation.summarize'),
    {
      ...call(project, { startMs: Date.now() - 600_000, exception: 'Fault: the model has no prompt' }),
      op_name: 'Evaluation.evaluate',
    },
  ])
  const chart = { type: 'lines', measure: 'latency', group_by: [], size: 6 }
  await world.server.send('/obj/create', {
    obj: {
      project_id: project,
      object_id: 'dashboard-faulty',
      val: {
        _type: 'CallhouseDashboard',
        _class_name: 'CallhouseDashboard',
        _bases: ['Object', 'BaseModel'],
        label: 'Faulty',
        charts: [{ ...chart, title: 'Broken', filter: 'op:broken' }],
      },
    },
  })
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const go = (path: string) => page.goto(`${world.url}${home}${path}`)
const focused = () => page.evaluate<string>('document.activeElement?.textContent || document.activeElement?.ariaLabel')

it('arrows go from item to item of a menu, and letters into its line', async () => {
  await go('/calls')
  await page.getByRole('button', { name: /^Time range/ }).click()
  await expectSoon(focused).toBe('all time')
  await page.keyboard.press('Home')
  await expectSoon(focused).toBe('last 15 minutes')
  await page.keyboard.press('ArrowDown')
  await expectSoon(focused).toBe('last hour')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expectSoon(focused).toBe('Custom range')
  // In a line of text Home goes to its beginning.
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowUp')
  await expectSoon(focused).toBe('all time')
  await page.keyboard.type('last 3 days')
  await expectSoon(() => page.getByRole('textbox', { name: 'Custom range' }).inputValue()).toBe('last 3 days')
  await page.keyboard.press('Enter')
  await page.waitForURL((to) => to.searchParams.get('range')?.includes('~') === true)
})

it('the range menu has today and yesterday', async () => {
  const dayMs = 86_400_000
  for (const [name, back] of [
    ['today', 0],
    ['yesterday', 1],
  ] as const) {
    await go('/calls')
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByRole('button', { name, exact: true }).click()
    await page.waitForURL((to) => to.searchParams.has('range'))
    const [from = ''] = new URL(page.url()).searchParams.get('range')?.split('~') ?? []
    const today = Math.floor(Date.now() / dayMs)
    expect(Math.floor(Date.parse(from) / dayMs)).toBe(today - back)
  }
})

it('the palette marks what Enter would open', async () => {
  await go('/calls')
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Go to' })
  await palette.getByRole('combobox').fill('e')
  const options = palette.getByRole('option')
  await expectSoon(() => options.count()).toBeGreaterThan(2)
  const ground = (place: number) =>
    page.evaluate<string>(`getComputedStyle(document.getElementById('palette-${place}')).backgroundColor`)
  const marked = () => palette.getByRole('option', { selected: true }).evaluateAll((all) => all.map(({ id }) => id))
  await expectSoon(marked).toEqual(['palette-0'])
  expect(await ground(0)).not.toBe(await ground(1))
  await page.keyboard.press('ArrowDown')
  await expectSoon(marked).toEqual(['palette-1'])
  expect(await ground(1)).not.toBe(await ground(0))
  await page.keyboard.press('Escape')
})

it('a chart that cannot be drawn keeps its menu', async () => {
  await page.route('**/calls/aggregate', (route) =>
    route.request().postData()?.includes('broken')
      ? route.fulfill({ status: 422, json: { detail: 'This cannot be asked' } })
      : route.continue(),
  )
  await go('/dashboard?board=dashboard-faulty')
  await page.getByText('This cannot be asked').waitFor()
  await page.getByRole('button', { name: 'Change Broken' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'Edit chart' })
  await form.getByRole('textbox', { name: 'Filter' }).fill('op:answer')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This cannot be asked').waitFor({ state: 'detached' })
  await page.unroute('**/calls/aggregate')
  here.faults.splice(0, here.faults.length, ...here.faults.filter((line) => !line.includes('422')))
})

it('rows of an evaluation run are its predictions alone, and one that failed says why', async () => {
  await go('/evaluations')
  const table = page.getByRole('table', { name: 'Evaluation runs' })
  await table.getByText('the model has no prompt').waitFor()
  const cells = table.locator('.row', { hasNotText: 'no prompt' }).first().getByRole('cell')
  const heads = await page.getByRole('columnheader').allInnerTexts()
  await expectSoon(async () => (await cells.allInnerTexts())[heads.indexOf('Rows')]?.trim()).toBe('2')
  await table.getByText('the model has no prompt').click()
  await page.getByRole('alert').getByText('the model has no prompt').waitFor()
  await page.getByText('This run failed before its first row.').waitFor()
})
