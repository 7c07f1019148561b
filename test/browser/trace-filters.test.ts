// tier: deep browser
// The list of traces by what whole traces come to: order, filters, the counter, files, what is marked and deleted, and live.
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, newId, newTrace, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened

beforeAll(async () => {
  world = await startWorld('acme/traces')
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

type Made = { id: string; trace: string; name: string }

/** A root without usage and errors of its own; both lie below it. */
function traced(
  project: string,
  name: string,
  of: { errors?: number; tokens?: number; model?: string; tenant?: string },
) {
  const { errors = 0, tokens = 0, model = 'gpt-4o', tenant = 'red' } = of
  const [id, trace] = [newId(), newTrace()]
  const startMs = Date.now() - 600_000
  const below = { trace, parent: id, startMs: startMs + 10 }
  const usage = { [model]: { prompt_tokens: tokens, completion_tokens: 0 } }
  const calls = [
    call(project, { id, trace, name, startMs, ms: 50, inputs: { tenant } }),
    call(project, { ...below, name: 'chat', ms: 1_000 + tokens, ...(tokens > 0 && { usage }) }),
    ...Array.from({ length: errors }, () => call(project, { ...below, name: 'step', exception: 'Error: no' })),
  ]
  return { made: { id, trace, name } satisfies Made, calls }
}

async function send(project: string, all: readonly { calls: object[] }[]): Promise<void> {
  const batch = all.flatMap(({ calls }) => calls)
  for (let at = 0; at < batch.length; at += 500)
    await world.server.send(`/v2/${project}/calls/complete`, { batch: batch.slice(at, at + 500) })
}

const go = (project: string, search = '') => here.page.goto(`${world.url}/p/${project}/calls${search}`)
const filtered = (q: string) => `?q=${encodeURIComponent(q)}`
const names = () => here.page.locator('.rows .row .name').allInnerTexts()
const counter = () => here.page.locator('.histogram p').innerText()
const button = (name: string) => here.page.getByRole('button', { name, exact: true })
const head = (name: string) => here.page.getByRole('columnheader', { name, exact: true })

/** Four traces: by errors a, c, b and d; by tokens d, b and a, of which c has none. */
async function four(project: string): Promise<void> {
  await send(project, [
    traced(project, 'a', { errors: 3, tokens: 10 }),
    traced(project, 'b', { errors: 1, tokens: 500, model: 'o3', tenant: 'blue' }),
    traced(project, 'c', { errors: 2 }),
    traced(project, 'd', { tokens: 9_000, tenant: 'blue' }),
  ])
}

it('a cost that lacks models without a price is marked, and names them, in rows of traces and of calls', async () => {
  const project = 'acme/traces-unpriced'
  const some = traced(project, 'some', { tokens: 1_000 })
  const usage = { 'gpt-4o': { prompt_tokens: 1_000 }, own: { prompt_tokens: 7 } }
  const below = { trace: some.made.trace, parent: some.made.id }
  some.calls.push(
    call(project, { ...below, name: 'mixed', usage }),
    call(project, { name: 'all', usage: { own: usage.own } }),
  )
  await send(project, [some, traced(project, 'priced', { tokens: 1_000 })])
  const marks = () =>
    here.page.locator('.rows .row').evaluateAll((rows) =>
      rows.map((row) => {
        const cost = [...row.querySelectorAll('.num.second')].find((one) =>
          /^(\$|Costs)/.test(one.getAttribute('title') ?? ''),
        )
        return [row.querySelector('.name')?.textContent, cost?.textContent?.trim(), cost?.getAttribute('title')]
      }),
    )
  const lacks = 'Costs exclude 1 model without a price: own. Add prices under Settings, Prices.'
  await go(project, '?sort=cost:desc')
  await expectSoon(marks).toEqual([
    ['some', '$0.00500+', `$0.005. ${lacks}`],
    ['priced', '$0.00250', '$0.0025'],
    ['all', '–', lacks],
  ])
  await go(project, `?view=all&q=op:mixed`)
  await expectSoon(marks).toEqual([['mixed', '$0.00250+', `$0.0025. ${lacks}`]])
})

it('each header of what traces come to sorts, as a whole and by keys, and says so', async () => {
  const { page } = here
  const project = 'acme/traces-order'
  await four(project)
  await go(project)
  await expectSoon(async () => (await names()).sort()).toEqual(['a', 'b', 'c', 'd'])
  await head('Errors').click({ position: { x: 3, y: 3 } })
  await page.waitForURL((to) => to.searchParams.get('sort') === 'errors:desc')
  await expectSoon(names).toEqual(['a', 'c', 'b', 'd'])
  expect(await head('Errors').getAttribute('aria-sort')).toBe('descending')
  await head('Errors').getByRole('button').press('Enter')
  await expectSoon(names).toEqual(['d', 'b', 'c', 'a'])
  for (const [name, order] of [
    ['Tokens', 'dba'],
    ['Spans', 'acbd'],
    ['Duration', 'dbac'],
    ['Model', 'b'],
    ['Cost', 'd'],
  ] as const) {
    await head(name).getByRole('button').press('Enter')
    await expectSoon(async () => (await names()).join('')).toMatch(new RegExp(`^${order}`))
  }
  expect(await everybodysFaults(page, 'traces')).toEqual([])
  // Rows that are calls have no such order, and the address does not keep it.
  await button('All calls').click()
  await page.waitForURL((to) => to.searchParams.get('view') === 'all' && !to.searchParams.has('sort'))
  await head('Started').waitFor()
  expect(await head('Started').getAttribute('aria-sort')).toBe('descending')
  expect(await head('Errors').count()).toBe(0)
})

it('filters find whole traces, beside what is asked of their roots, and the counter counts these', async () => {
  const project = 'acme/traces-filter'
  await four(project)
  const found: [q: string, names: string[], counter: string][] = [
    ['', ['a', 'b', 'c', 'd'], '4 traces, 3 with errors'],
    ['errors>1', ['a', 'c'], '2 traces, 2 with errors'],
    ['-errors>0', ['d'], '1 trace, 0 with errors'],
    ['tokens>1k', ['d'], '1 trace, 0 with errors'],
    ['model:o3', ['b'], '1 trace, 1 with errors'],
    ['-has:model', ['c'], '1 trace, 1 with errors'],
    ['errors>0 inputs.tenant:blue', ['b'], '1 trace, 1 with errors'],
    ['errors>2 OR inputs.tenant:blue', ['a', 'b', 'd'], '3 traces, 2 with errors'],
    ['cost>0 status:success', ['a', 'b', 'd'], '3 traces, 2 with errors'],
    ['duration>5s', ['d'], '1 trace, 0 with errors'],
  ]
  for (const [q, expected, said] of found) {
    await go(project, filtered(q))
    await expectSoon(async () => (await names()).sort()).toEqual(expected)
    await expectSoon(counter, { withinMs: 20_000 }).toContain(said)
  }
})

it('what cannot be asked of calls is refused at its term, with what may be meant', async () => {
  const { page } = here
  const project = 'acme/traces-refused'
  await four(project)
  await go(project, `${filtered('inputs.tenant:red errors>0')}&view=all`)
  await page.getByText('errors is a field of traces: choose Traces').first().waitFor()
  const chips = page.locator('.chip')
  await expectSoon(() => chips.locator('..').locator('.chip.wrong').allInnerTexts()).toEqual([
    expect.stringContaining('errors>0'),
  ])
  expect(await page.locator('.rows .row').count()).toBe(0)
  await button('Traces').click()
  await expectSoon(async () => (await names()).sort()).toEqual(['a', 'c'])
  await button('All calls').click()
  await page.getByRole('button', { name: /status:error/ }).click()
  await page.waitForURL((to) => to.searchParams.get('q') === 'inputs.tenant:red status:error')
})

it('files have the figures of all traces that match, and what is deleted is what the list shows', async () => {
  const { page } = here
  const project = 'acme/traces-deleted'
  const failing = Array.from({ length: 120 }, (_, n) => traced(project, `failing ${n}`, { errors: 1, tokens: n + 1 }))
  const well = Array.from({ length: 15 }, (_, n) => traced(project, `well ${n}`, { tokens: 5 }))
  await send(project, [...failing, ...well])
  await go(project, `${filtered('errors>0')}&sort=tokens:desc`)
  await page.getByText('of 120').waitFor()
  await button('Export the list').click()
  const exporting = page.getByRole('dialog', { name: 'Export 120 calls' })
  await exporting.getByLabel(/^CSV/).check()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    exporting.getByText('Export', { exact: true }).click(),
  ])
  await exporting.getByRole('button', { name: 'Done' }).click()
  const [columns = '', ...lines] = (await text(await file.createReadStream())).trim().split('\r\n')
  const place = (name: string) => columns.split(',').indexOf(name)
  const cells = (name: string) => lines.map((line) => line.split(',')[place(name)])
  expect(cells('id')).toEqual(failing.map(({ made }) => made.id).reverse())
  expect(cells('trace.input_tokens')).toEqual(failing.map((_, n) => String(120 - n)))
  expect(new Set(cells('trace.errors'))).toEqual(new Set(['1']))
  expect(new Set(cells('trace.spans'))).toEqual(new Set(['3']))
  expect(new Set(cells('trace.models'))).toEqual(new Set(['gpt-4o']))
  expect(cells('trace.duration_ms')[0]).toBe('1130')
  expect(cells('trace.cost').every((cost) => Number(cost) > 0)).toBe(true)

  await page.locator('.row input').first().check()
  await page.route('**/calls/stream_query', (route) => route.fulfill({ status: 503, body: '{"reason":"Busy"}' }))
  await button('Mark all 120 that match').click()
  await page.getByText('Could not select all matching rows: Busy').waitFor()
  await page.getByText('1 marked').waitFor()
  await page.unroute('**/calls/stream_query')
  here.faults.splice(0)
  await button('Mark all 120 that match').click()
  await page.getByText('120 marked').waitFor()
  await button('Delete…').click()
  const dialog = page.getByRole('dialog', { name: 'Delete 120 calls' })
  await dialog.getByText('120 calls matching the filter.').waitFor()
  await dialog.getByLabel('Type 120 to confirm').fill('120')
  await page.keyboard.press('Enter')
  await dialog.getByText('360 deleted').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'No calls match' }).waitFor()
  const left = (await post(world.url, '/calls/stream_query', { project_id: project, columns: ['id'] })).text
  const ids = left.match(/"id":"(\w+)"/g) ?? []
  expect(ids).toHaveLength(30)
  for (const { made } of well) expect(left).toContain(made.id)
})

it('a trace that comes to meet the filter shows while the list is live', async () => {
  const { page } = here
  const project = 'acme/traces-live'
  const [failed, fine] = [traced(project, 'failed', { errors: 1 }), traced(project, 'fine', {})]
  await send(project, [failed, fine])
  await go(project, `${filtered('errors>0')}&live=1`)
  await expectSoon(names).toEqual(['failed'])
  const { id, trace } = fine.made
  await send(project, [{ calls: [call(project, { trace, parent: id, name: 'late', exception: 'Error: late' })] }])
  await expectSoon(async () => (await names()).sort(), { withinMs: 30_000 }).toEqual(['failed', 'fine'])
  await expectSoon(counter, { withinMs: 20_000 }).toContain('2 traces, 2 with errors')
  await page.getByRole('button', { name: 'Live' }).click()
})

it('values of a row are those of its trace, and are no groups where a trace has several', async () => {
  const { page } = here
  const project = 'acme/traces-values'
  await four(project)
  await go(project, filtered('errors:1 staus:success'))
  await page.getByText('Unknown field staus').first().waitFor()
  await go(project, filtered('errors:1'))
  await expectSoon(names).toEqual(['b'])
  await page.locator('.rows .row').getByText('o3').waitFor()
  await page.getByRole('table', { name: 'Calls' }).focus()
  await page.keyboard.press('.')
  const dialog = page.getByRole('dialog', { name: 'Filter by a value of this call' })
  await dialog.getByRole('button', { name: 'Group by Status' }).waitFor()
  expect(await dialog.getByRole('button', { name: 'Group by Model' }).count()).toBe(0)
  await dialog.getByRole('button', { name: 'Without Model' }).click()
  await page.waitForURL((to) => to.searchParams.get('q') === 'errors:1 -model:o3')
  await page.getByRole('heading', { name: 'No calls match' }).waitFor()
  await go(project, filtered('op:b status:error'))
  await page.getByRole('button', { name: 'Search traces with errors (1 match)' }).click()
  await expectSoon(names).toEqual(['b'])
  // Words of the navigation begin at one line, also those that take two.
  const style = "getComputedStyle(document.querySelector('.rail > button .word')).textAlign"
  expect(await page.evaluate<string>(style)).toBe('start')
  await page.getByRole('button', { name: 'Preferences' }).click()
  await page.getByRole('button', { name: 'local (UTC)' }).waitFor()
  await go(project, '?by=model')
  await page.getByText('A trace has the models of all its calls').waitFor()
  // Nor has a chart of whole traces.
  await page.goto(`${world.url}/p/${project}/dashboard?q=is:root`)
  await page.getByRole('region', { name: 'Cost by model' }).getByText('A trace has the models of all').waitFor()
  await page.getByRole('region', { name: 'Calls and errors' }).waitFor()
})

it('the head of a call names its end user, and leads to the traces of the same', async () => {
  const project = 'acme/end-users'
  const [noor, other] = [newTrace(), newTrace()]
  const of = (trace: string, name: string, end_user: string) => call(project, { trace, name, attributes: { end_user } })
  const batch = [of(noor, 'asked', 'noor rahman'), of(newTrace(), 'again', 'noor rahman'), of(other, 'else', 'vera')]
  await world.server.send(`/v2/${project}/calls/complete`, { batch })
  await here.page.goto(`${world.url}/p/${project}/traces/${noor}`)
  await here.page.getByRole('link', { name: 'noor rahman', exact: true }).click()
  await expectSoon(async () => (await names()).sort()).toEqual(['again', 'asked'])
})
