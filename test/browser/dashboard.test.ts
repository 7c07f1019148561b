// tier: deep browser
// The dashboard: its figures are those of the calls, its charts are read and zoomed by mouse, keys and as tables.
import { buffer, text } from 'node:stream/consumers'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { call, everybodysFaults, type Opened, startWorld, type World } from './world.ts'

const project = 'acme/dashboard'
const path = `/p/${project}/dashboard`
let world: World
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startWorld(project)
  const now = Date.now()
  const hourMs = 3_600_000
  const made = Array.from({ length: 120 }, (_, n) =>
    call(project, {
      name: n % 3 === 0 ? 'answer' : 'search',
      startMs: now - 300_000 - (n % 20) * hourMs,
      ms: 100 + n * 10,
      usage: { [n % 2 === 0 ? 'model-a' : 'model-b']: { prompt_tokens: 90, completion_tokens: 10, requests: 1 } },
      ...(n % 10 === 0 && { exception: 'Error: no' }),
      ...(n % 4 === 1 && { attributes: { end_user: n % 8 === 1 ? 'noor rahman' : 'ada' } }),
    }),
  )
  await world.send(made)
  // The day before had half as many.
  await world.send(Array.from({ length: 60 }, (_, n) => call(project, { startMs: now - 26 * hourMs - n * 60_000 })))
  // Before both of them, a name that a spreadsheet would calculate.
  await world.send([call(project, { name: '=1+1', startMs: now - 60 * hourMs })])
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const open = async (search = '') => {
  await page.goto(`${world.url}${path}${search}`)
  await page.getByRole('heading', { name: 'Calls and errors' }).waitFor()
}
const tile = (label: string) => page.locator('.tiles > div', { has: page.getByText(label, { exact: true }) })
const chart = (title: string) => page.getByRole('region', { name: title })

it('a dashboard shows the figures of the last day, and how they differ from the day before', async () => {
  const asked = new Set<unknown>()
  let requests = 0
  const count = (request: Request): void => {
    if (!request.url().endsWith('/calls/aggregate')) return
    requests++
    asked.add(request.postData())
  }
  page.on('request', count)
  await open()
  await expectSoon(() => tile('Calls').locator('dd').allInnerTexts()).toEqual(['120', '+100 % vs previous 24 hours'])
  await expectSoon(() => tile('Error rate').locator('dd').first().innerText()).toBe('10 %')
  await expectSoon(() => tile('Tokens').locator('dd').first().innerText()).toMatch(/^12(\.0)?k$/)
  const rows = page.getByRole('region', { name: 'Top operations by calls' }).locator('tbody tr')
  await expectSoon(async () => (await rows.allInnerTexts()).map((row) => row.split(/\s+/).slice(0, 3))).toEqual([
    ['search', '80', '8'],
    ['answer', '40', '4'],
  ])
  await page.getByRole('region', { name: 'Top end users by traces' }).locator('tbody tr').first().waitFor()
  // The whole with the day before, models, operations, end users, owners of keys: nothing is asked for twice.
  expect([requests, asked.size]).toEqual([5, 5])
  page.off('request', count)
})

it('end users stand beside owners of keys, lead to their calls, and are left out where calls name none', async () => {
  await open()
  const users = page.getByRole('region', { name: 'Top end users by traces' })
  await expectSoon(() => users.locator('tbody th').allInnerTexts()).toEqual(['ada', 'noor rahman'])
  await users.getByRole('link', { name: 'noor rahman' }).click()
  await page.waitForURL((to) => to.searchParams.get('q') === 'is:root end_user:"noor rahman"')
  await page.getByText(/of 15\b/).waitFor()
  await open('?q=-has:end_user')
  await page.getByRole('region', { name: 'Top key owners by calls' }).locator('tbody tr').first().waitFor()
  await page.getByRole('region', { name: 'Top operations by calls' }).locator('tbody tr').first().waitFor()
  await expectSoon(() => users.count()).toBe(0)
})

it('models without a price are named, also beside the costs of whole traces', async () => {
  await open()
  await page.getByText('Costs exclude 2 models without a price: model-a, model-b').waitFor()
  await open('?q=is:root')
  await page.getByText('Costs exclude 2 models without a price, used in the last 30 days: model-').waitFor()
})

it('charts have their numbers as a table, and a legend that shows one series alone', async () => {
  await open()
  const tokens = chart('Tokens by model')
  await tokens.locator('.legend li').first().waitFor()
  await expectSoon(async () => (await tokens.locator('.legend li').allInnerTexts()).sort()).toEqual([
    'model-a',
    'model-b',
  ])
  await expectSoon(() => tokens.locator('svg path').count()).toBe(2)
  await tokens.getByRole('button', { name: 'model-b' }).click()
  await expectSoon(() => tokens.locator('svg path').count()).toBe(1)
  const calls = chart('Calls and errors')
  await calls.getByRole('button', { name: 'Table' }).click()
  const cells = calls.locator('tbody tr td:nth-of-type(1)')
  await expectSoon(async () => (await cells.allInnerTexts()).reduce((sum, cell) => sum + Number(cell), 0)).toBe(120)
})

it('panels are saved as CSV with their whole figures, in which no name is a formula', async () => {
  await open()
  const saved = async (title: string) => {
    const button = page.getByRole('button', { name: `${title} as CSV` })
    const [file] = await Promise.all([page.waitForEvent('download'), button.press('Enter')])
    const lines = (await text(await file.createReadStream())).trim().split('\r\n')
    return { name: file.suggestedFilename(), rows: lines.map((line) => line.split(',')) }
  }
  const calls = await saved('Calls and errors')
  expect(calls.name).toBe('calls-and-errors.csv')
  expect(calls.rows[0]).toEqual(['time', 'calls', 'errors'])
  const sum = (n: number) => calls.rows.slice(1).reduce((all, row) => all + Number(row[n]), 0)
  expect([sum(1), sum(2)]).toEqual([120, 12])
  await open('?range=7d')
  const operations = page.getByRole('region', { name: 'Top operations by calls' })
  await operations.getByRole('link', { name: '=1+1' }).waitFor()
  const { rows } = await saved('Top operations by calls')
  expect(rows[0]).toEqual(['Operation', 'Calls', 'Errors', 'p95', 'Tokens', 'Cost'])
  expect(rows.map(([name]) => name)).toContain("'=1+1")
})

it('a range is taken by keys and stands in the address; one instant leads to its calls', async () => {
  await open()
  await chart('Latency').getByRole('slider').focus()
  for (const key of ['ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft']) await page.keyboard.press(key)
  // All charts are read at the same instant.
  await expectSoon(() => page.locator('.chart .instant').count()).toBe(4)
  await page.keyboard.press('Enter')
  await page.waitForURL((to) => /range=\S+~\S+/.test(decodeURIComponent(to.search)))
  await page.goBack()
  await page.getByRole('heading', { name: 'Calls and errors' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('region', { name: 'Top operations by calls' }).getByRole('link', { name: 'answer' }).click()
  await page.locator('.row .name', { hasText: 'answer' }).first().waitFor()
  expect(decodeURIComponent(new URL(page.url()).search)).toContain('q=op:answer')
  await expectSoon(() => page.getByText(/1–40 of 40|of 40/).count()).toBeGreaterThan(0)
})

it('a dashboard takes a filter, says what is wrong with one, and when nothing is left', async () => {
  await open('?q=op:answer')
  await expectSoon(() => tile('Calls').locator('dd').first().innerText()).toBe('40')
  // Its links keep it.
  await page.goto(`${world.url}${path}?q=${encodeURIComponent('op:answer OR op:nobody')}`)
  await page.getByRole('region', { name: 'Top operations by calls' }).getByRole('link', { name: 'answer' }).click()
  await page.waitForURL((to) => to.searchParams.get('q') === '(op:answer OR op:nobody) op:answer')
  await open('?q=op:answer')
  await page.keyboard.press('f')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('op:nobody')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No calls in this time range' }).waitFor()
  await page.goto(`${world.url}${path}?q=${encodeURIComponent('(op:answer')}`)
  await page.locator('.dashboard-filter .s-error').waitFor()
})

it('the page has boards for cost, errors and latency, which keep the filter and lead to their calls', async () => {
  await open(`?q=${encodeURIComponent('-user:nobody')}`)
  const tabs = page.getByRole('group', { name: 'Dashboards' })
  const names = (title: string) => page.getByRole('region', { name: title }).locator('tbody th').allInnerTexts()
  const legend = (title: string) => chart(title).locator('.legend li').allInnerTexts()
  await tabs.getByRole('button', { name: 'Cost' }).click()
  await chart('Cost by operation').waitFor()
  await expectSoon(() => tabs.locator('[aria-pressed=true]').allInnerTexts()).toEqual(['Cost'])
  await expectSoon(async () => (await legend('Tokens by model')).sort()).toEqual(['model-a', 'model-b'])
  await tabs.getByRole('button', { name: 'Errors' }).click()
  await expectSoon(() => names('Most frequent errors')).toEqual(['Error: no'])
  await expectSoon(() => names('Top operations by errors')).toEqual(['search', 'answer'])
  await expectSoon(() => legend('Errors by operation')).toEqual(['search', 'answer'])
  await chart('Error rate').getByRole('button', { name: 'Table' }).click()
  await expectSoon(() => chart('Error rate').locator('td').allInnerTexts()).toContain('100 %')
  await tabs.getByRole('button', { name: 'Latency' }).click()
  await expectSoon(() => names('Slowest operations')).toEqual(['search', 'answer'])
  await expectSoon(async () => (await legend('Latency p95 by operation')).sort()).toEqual(['answer', 'search'])
  const heat = chart('Latency over time')
  await expectSoon(() => heat.locator('svg path').count()).toBeGreaterThan(1)
  await heat.getByRole('button', { name: 'Table' }).click()
  await expectSoon(async () =>
    (await heat.locator('tbody td').allInnerTexts()).reduce((sum, cell) => sum + Number(cell), 0),
  ).toBe(120)
  await page.reload()
  await chart('Latency p95 by operation').waitFor()
  expect(new URL(page.url()).searchParams.get('q')).toBe('-user:nobody')
  await tabs.getByRole('button', { name: 'Errors' }).click()
  await page.getByRole('region', { name: 'Most frequent errors' }).getByRole('link').click()
  await page.getByText(/of 12\b/).waitFor()
})

it('charts show the time before as dashed lines when they are asked to, and are saved as pictures', async () => {
  await open()
  const calls = chart('Calls and errors')
  await expectSoon(() => calls.locator('path.dashed').count()).toBe(0)
  await page.getByRole('button', { name: 'Compare' }).click()
  await expectSoon(() => calls.locator('path.dashed').count()).toBe(2)
  await calls.getByRole('button', { name: 'Table' }).click()
  await expectSoon(() => calls.locator('thead th').allInnerTexts()).toEqual([
    'Time',
    'calls',
    'errors',
    'calls, previous period',
    'errors, previous period',
  ])
  const button = page.getByRole('button', { name: 'Latency as PNG' })
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()])
  const bytes = await buffer(await file.createReadStream())
  expect([file.suggestedFilename(), bytes.subarray(1, 4).toString()]).toEqual(['latency.png', 'PNG'])
  expect([bytes.readUInt32BE(16), bytes.length > 5_000]).toEqual([1_200, true])
})

it('a dashboard is copied, gets charts of its own, which move and change, and is deleted', async () => {
  await page.goto(`${world.url}${path}?board=errors`)
  await chart('Errors by operation').waitFor()
  const menu = () => page.getByRole('button', { name: 'Custom dashboards' }).click()
  await menu()
  await page.getByRole('textbox', { name: 'Name of a copy of this dashboard' }).fill('Our <b>errors</b>')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Our <b>errors</b>', exact: true }).waitFor()
  const titles = () => page.locator('.charts h2').allInnerTexts()
  const first = ['Error rate', 'Errors by operation', 'Most frequent errors', 'Top operations by errors']
  await expectSoon(titles).toEqual(first)
  await page.getByRole('button', { name: 'Add chart' }).click()
  const form = page.getByRole('dialog', { name: 'New chart' })
  // The styles around the button that opened it reach neither its fields nor the icons of charts.
  const tops = await form.getByRole('textbox').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
  expect(new Set(tops).size).toBe(tops.length)
  const icons = await page
    .locator('.chart header svg.i')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
  expect(icons.length).toBeGreaterThan(0)
  expect(Math.max(...icons)).toBeLessThan(30)
  await form.getByRole('textbox', { name: 'Title' }).fill('Answers')
  await form.getByRole('combobox', { name: 'Chart type' }).selectOption('Number')
  await form.getByRole('textbox', { name: 'Filter' }).fill('(op:answer')
  await expectSoon(() => form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await form.getByRole('textbox', { name: 'Filter' }).fill('op:answer')
  await form.getByRole('button', { name: 'Save' }).click()
  await expectSoon(() => chart('Answers').locator('.figure').innerText()).toBe('40')
  const act = async (title: string, name: string) => {
    await page.getByRole('button', { name: `Change ${title}` }).click()
    await page.getByRole('button', { name, exact: true }).click()
  }
  await act('Answers', 'Move earlier')
  await expectSoon(titles).toEqual([...first.slice(0, 3), 'Answers', first[3]])
  // The mouse moves it as well, to where it is dropped.
  const handle = chart('Answers').locator('.panel-handle')
  await page.setViewportSize({ width: 1280, height: 1600 })
  await handle.dragTo(chart('Error rate'), { steps: 6 })
  await expectSoon(titles).toEqual(['Answers', ...first])
  await handle.dragTo(page.locator('.ranking', { hasText: 'Most frequent errors' }), { steps: 6 })
  await page.setViewportSize({ width: 1280, height: 800 })
  await expectSoon(titles).toEqual([...first.slice(0, 3), 'Answers', first[3]])
  await act('Most frequent errors', 'Remove')
  await expectSoon(titles).toEqual([...first.slice(0, 2), 'Answers', first[3]])
  await act('Answers', 'Edit')
  const edited = page.getByRole('dialog', { name: 'Edit chart' })
  await edited.getByRole('combobox', { name: 'Chart type' }).selectOption('Lines')
  await edited.getByRole('combobox', { name: 'Metric' }).selectOption('A field')
  await edited.getByRole('textbox', { name: 'Field', exact: true }).fill('summary.weave.latency_ms')
  await edited.getByRole('combobox', { name: 'Aggregation' }).selectOption('max')
  await edited.getByRole('combobox', { name: 'Group by' }).selectOption('Model')
  await edited.getByRole('button', { name: 'Save' }).click()
  await expectSoon(async () => (await chart('Answers').locator('.legend li').allInnerTexts()).sort()).toEqual([
    'model-a',
    'model-b',
  ])
  await page.reload()
  await expectSoon(titles).toEqual([...first.slice(0, 2), 'Answers', first[3]])
  expect(await everybodysFaults(page, 'own dashboard')).toEqual([])
  await menu()
  await expectSoon(() => page.locator('.menu ul:not([aria-label]) .item').allInnerTexts()).toEqual([
    'Our <b>errors</b>',
  ])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('heading', { name: 'Calls and errors' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.goto(`${world.url}${path}?board=cots`)
  await page.getByText('This project has no dashboard cots').waitFor()
  await page.goto(`${world.url}${path}?board=dashboard-gone`)
  await page.getByRole('heading', { name: 'Dashboard not found' }).waitFor()
})

it('a list of calls becomes a chart, and a template a dashboard', async () => {
  await page.goto(`${world.url}/p/${project}/calls?view=all&q=op:answer`)
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('link', { name: 'Save as chart…' }).click()
  const form = page.getByRole('dialog', { name: 'Save as chart' })
  await expectSoon(() => form.getByRole('textbox', { name: 'Filter' }).inputValue()).toBe('op:answer')
  await form.getByRole('combobox', { name: 'Dashboard' }).selectOption('New dashboard')
  await form.getByRole('textbox', { name: 'Dashboard name' }).fill('From lists')
  await form.getByRole('textbox', { name: 'Title' }).fill('Answers')
  await form.getByRole('combobox', { name: 'Chart type' }).selectOption('Number')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'From lists', exact: true }).waitFor()
  // The chart is of all time, as the list was.
  await expectSoon(() => chart('Answers').locator('.figure').innerText()).toBe('100')
  await page.getByRole('button', { name: 'Custom dashboards' }).click()
  await page.getByRole('list', { name: 'Templates' }).getByRole('button', { name: 'Cost and tokens' }).click()
  await page.getByRole('heading', { name: 'Cost and tokens', exact: true }).waitFor()
  await chart('Tokens by model').locator('.y-axis span').first().waitFor()
  expect(await everybodysFaults(page, 'template')).toEqual([])
})

it('a chart counts calls or whole traces, and advice names the choice that is there', async () => {
  await page.goto(`${world.url}${path}?q=errors>0`)
  await page.getByText('errors is a field of traces: add is:root to count traces').waitFor()
  await page.goto(`${world.url}/p/${project}/calls?view=all`)
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('link', { name: 'Save as chart…' }).click()
  const form = page.getByRole('dialog', { name: 'Save as chart' })
  const count = form.getByRole('combobox', { name: 'Count' })
  await form.getByRole('combobox', { name: 'Dashboard' }).selectOption('New dashboard')
  await form.getByRole('textbox', { name: 'Dashboard name' }).fill('Of traces')
  await form.getByRole('textbox', { name: 'Title' }).fill('Failed')
  await form.getByRole('combobox', { name: 'Chart type' }).selectOption('Number')
  await form.getByRole('textbox', { name: 'Filter' }).fill('errors>0')
  await form.getByText('errors is a field of traces: choose Traces').waitFor()
  await count.selectOption('Traces')
  await form.getByRole('combobox', { name: 'Metric' }).selectOption('With errors')
  const asked = page.waitForRequest(
    (request) => request.url().endsWith('/calls/aggregate') && request.postDataJSON().count === 'traces',
  )
  await form.getByRole('button', { name: 'Save' }).click()
  expect((await asked).postDataJSON()).toMatchObject({ filter: { trace_roots_only: true } })
  await chart('Failed').getByText('whole traces').waitFor()
  await chart('Failed').getByRole('button', { name: 'Change Failed' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const edited = page.getByRole('dialog', { name: 'Edit chart' })
  expect(await edited.getByRole('combobox', { name: 'Count' }).inputValue()).toBe('traces')
  expect(await edited.getByRole('textbox', { name: 'Filter' }).inputValue()).toBe('errors>0')
})

it('a dashboard says that there are no calls in all time of a project without any', async () => {
  await page.goto(`${world.url}/p/acme/dashboard-empty/dashboard?range=all`)
  await page.getByRole('heading', { name: 'No calls in this time range' }).waitFor()
})

it('a dashboard is for everybody: axe finds no fault in both themes, and 320 pixels are enough', async () => {
  await open()
  await page
    .getByRole('region', { name: 'Top end users by traces' })
    .or(page.locator('.ranking').first())
    .first()
    .waitFor()
  expect(await everybodysFaults(page, 'dashboard')).toEqual([])
  await page.goto(`${world.url}${path}?board=errors`)
  await page.getByRole('region', { name: 'Most frequent errors' }).waitFor()
  expect(await everybodysFaults(page, 'errors')).toEqual([])
})
