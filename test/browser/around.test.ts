// tier: deep browser
// The frame of the pages: the palette's pages, operations, views, threads and refs, the sign of the server's health, a
// day of each project as bars, values of a call as filters, and charts with groups within groups.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { eventually, expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, hold, newId, type Opened, picture, startWorld, type World } from './world.ts'

const hostile = '<img src=x onerror=alert(1)>'

let world: World
let here: Opened
/** Its calls are there for all tests; a test that adds some has a project of its own. */
const project = 'acme/around'

const send = (to: string, batch: object[]) => world.server.send(`/v2/${to}/calls/complete`, { batch })

async function fill(to: string): Promise<void> {
  const startMs = Date.now() - 60_000
  await send(to, [
    call(to, { name: 'fetch_orders', startMs, inputs: { city: hostile, k: 1.5 } }),
    call(to, { name: 'fetch_orders', startMs: startMs - 1_000, inputs: { city: 'Rome', k: 2 }, exception: 'No' }),
    call(to, { name: 'summarize', startMs: startMs - 2_000, inputs: { city: 'Rome', k: 3 } }),
  ])
}

/** @returns the name of a dashboard that nothing else changes */
async function makeBoard(to = project): Promise<string> {
  const board = {
    _type: 'CallhouseDashboard',
    _class_name: 'CallhouseDashboard',
    _bases: ['Object', 'BaseModel'],
    label: 'Ours',
    charts: [{ title: 'Two', type: 'bars', measure: 'calls', group_by: ['op_name', 'status'], filter: '', size: 12 }],
  }
  const object_id = `dashboard-${newId()}`
  await world.server.send('/obj/create', { obj: { project_id: to, object_id, val: board } })
  return object_id
}

beforeAll(async () => {
  world = await startWorld()
  await fill(project)
  // Projects are counted after their calls can be read.
  await eventually(async () => {
    const asked = { search: project, limit: 1 }
    const { projects } = await world.server.send<{ projects: { calls: number }[] }>('/projects/query', asked)
    expect(projects[0]?.calls).toBe(3)
  })
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const list = async (search = '', of = project) => {
  await here.page.goto(`${world.url}/p/${of}/calls${search}`)
  await here.page.locator('.row .name').first().waitFor()
}

it('the palette leads to pages and operations', async () => {
  const { page } = here
  await list()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('thread')
  await page.getByRole('option', { name: 'Threads page' }).waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('orders')
  await page.getByRole('option', { name: 'fetch_orders operation, 2 of the latest calls' }).click()
  await page.waitForURL((to) => to.searchParams.get('q') === 'op:fetch_orders')
  await expectSoon(() => page.locator('.row .name').count()).toBe(2)
})

it('a sign says how the server is, and leads to its page', async () => {
  const { page } = here
  await list()
  await page.getByRole('link', { name: 'Server is healthy' }).click()
  await page.waitForURL(/\/system$/)
  await page.getByRole('list', { name: 'Checks' }).waitFor()
  await page.route('**/health', (route) => route.fulfill({ json: { status: 'degraded', checks: {}, lag_ms: 0 } }))
  await page.reload()
  await page.getByRole('link', { name: 'Server is degraded' }).waitFor()
  await page.unroute('**/health')
})

it('cards of projects show the hours of their day, and on demand what the project keeps', async () => {
  const { page } = here
  await page.goto(`${world.url}/?all=1`)
  await page.getByLabel('Search projects').fill(project)
  const storage = page.getByRole('button', { name: `Storage of ${project}`, exact: true })
  const card = page.locator('.projects li').filter({ has: storage })
  await expectSoon(() => card.locator('.spark-calls').count()).toBeGreaterThan(0)
  await expectSoon(() => card.locator('.spark-errors').count()).toBeGreaterThan(0)
  await storage.focus()
  await page.keyboard.press('Enter')
  await expectSoon(() => card.getByRole('status').innerText()).toMatch(/^calls [\d.]+ (?:B|KiB|MiB)/)
  expect(await storage.evaluate((button) => button.ownerDocument.activeElement === button)).toBe(true)
  expect(await everybodysFaults(page, 'projects')).toEqual([])
})

/** Opens the values by the button that a row has while the pointer is over it. */
async function valuesOf(text: string): Promise<void> {
  const row = here.page.locator('.rows .row', { hasText: text }).first()
  await row.hover()
  await row.getByRole('button', { name: 'Values of' }).click()
}

it('a value of a call becomes a filter, for it or against it, by keys and by its button', async () => {
  const { page } = here
  await list('?cols=inputs.city,inputs.k')
  await page.getByText('Rome').first().waitFor()
  await page.getByRole('table', { name: 'Calls' }).focus()
  await page.keyboard.press('.')
  const dialog = page.getByRole('dialog', { name: 'Filter by a value of this call' })
  await dialog.getByText(hostile).waitFor()
  expect(await everybodysFaults(page, 'values')).toEqual([])
  await expectSoon(() => page.locator('img[src=x]').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Without inputs.city' }).click()
  await expectSoon(() => page.locator('.row .name').count()).toBe(2)
  await valuesOf('Rome')
  await dialog.getByRole('button', { name: 'Only inputs.k' }).click()
  await expectSoon(() => page.locator('.row .name').count()).toBe(1)
  expect(new URL(page.url()).searchParams.get('q')).toBe(`-inputs.city:"${hostile}" inputs.k:2`)
  await list('?q=op%3Asummarize%20OR%20op%3Afetch_orders')
  await page.getByRole('table', { name: 'Calls' }).focus()
  await page.keyboard.press('.')
  await dialog.getByRole('button', { name: 'Only Status' }).click()
  await expectSoon(() => page.locator('.row .name').count()).toBe(2)
  expect(new URL(page.url()).searchParams.get('q')).toBe('(op:summarize OR op:fetch_orders) status:success')
})

it('a value of a call counts the calls by it, and its field becomes a column', async () => {
  const { page } = here
  await list('?cols=inputs.city')
  await valuesOf('Rome')
  const dialog = page.getByRole('dialog', { name: 'Filter by a value of this call' })
  // The field has no column yet.
  await dialog.getByRole('button', { name: 'inputs.k as a column' }).click()
  await page.waitForURL((to) => to.searchParams.get('cols') === 'inputs.city,inputs.k')
  await valuesOf('Rome')
  await dialog.getByRole('button', { name: 'Group by inputs.k' }).click()
  await page.waitForURL((to) => to.searchParams.get('by') === 'inputs.k')
  const groups = page.getByRole('dialog', { name: 'Calls by inputs.k' })
  await groups.getByRole('link', { name: '2', exact: true }).waitFor()
  expect(await everybodysFaults(page, 'groups of calls')).toEqual([])
  await page.reload()
  await groups.getByRole('link', { name: '2', exact: true }).click()
  await expectSoon(() => page.locator('.row .name').count()).toBe(1)
  expect(new URL(page.url()).searchParams.get('q')).toBe('inputs.k:"2"')
})

it('a chart has groups within groups', async () => {
  const { page } = here
  await page.goto(`${world.url}/p/${project}/dashboard?board=${await makeBoard()}&range=1h`)
  const legend = page.getByRole('region', { name: 'Two' }).locator('.legend li')
  await expectSoon(async () => (await legend.allInnerTexts()).sort()).toEqual([
    'fetch_orders · error',
    'fetch_orders · success',
    'summarize · success',
  ])
  await page.getByRole('button', { name: 'Change Two' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'Edit chart' })
  await expectSoon(() => form.getByRole('combobox', { name: 'Then by' }).inputValue()).toBe('status')
  await form.getByRole('combobox', { name: 'Then by' }).selectOption('Nothing')
  await form.getByRole('button', { name: 'Save' }).click()
  await expectSoon(async () => (await legend.allInnerTexts()).sort()).toEqual(['fetch_orders', 'summarize'])
})

it('a table has groups within groups, each a way to its calls', async () => {
  const { page } = here
  await page.goto(`${world.url}/p/${project}/dashboard?board=${await makeBoard()}&range=1h`)
  await page.getByRole('button', { name: 'Change Two' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'Edit chart' })
  await form.getByRole('combobox', { name: 'Chart type' }).selectOption('Table')
  await form.getByRole('combobox', { name: 'Then by' }).selectOption('Status')
  await form.getByRole('button', { name: 'Save' }).click()
  const table = page.getByRole('region', { name: 'Two' })
  await table.getByRole('columnheader', { name: 'Status' }).waitFor()
  const failed = table.getByRole('row').filter({ hasText: 'fetch_orders' }).filter({ hasText: 'error' })
  await failed.getByRole('link').click()
  await page.waitForURL((to) => (to.searchParams.get('q') ?? '').includes('op:fetch_orders status:error'))
  await expectSoon(() => page.locator('.row .name').count()).toBe(1)
})

it('a chart counts numbers of a field by ranges, and shows what feedback says over time', async () => {
  const { page } = here
  const project_id = project
  const asked = { project_id, limit: 10 }
  const calls = await post(world.url, '/calls/stream_query', asked)
  const { id } = JSON.parse(calls.text.split('\n')[0] ?? '') as { id: string }
  const item = { project_id, weave_ref: `weave:///${project_id}/call/${id}` }
  const score = {
    ...item,
    feedback_type: 'wandb.runnable.judge',
    runnable_ref: `weave:///${project_id}/object/judge:1`,
  }
  const batch = [
    { ...item, feedback_type: 'wandb.reaction.1', payload: { emoji: '👍' } },
    { ...score, payload: { output: { score: 0.25 } } },
    { ...score, payload: { output: { score: 0.75 } } },
  ]
  await world.server.send('/feedback/batch/create', { batch })
  await page.goto(`${world.url}/p/${project_id}/dashboard?board=${await makeBoard()}&range=1h`)
  const edit = async () => {
    await page.getByRole('button', { name: 'Change Two' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
  }
  const form = page.getByRole('dialog', { name: 'Edit chart' })
  const choose = (name: string, option: string) => form.getByRole('combobox', { name }).selectOption(option)
  const chart = page.getByRole('region', { name: 'Two' })
  await edit()
  await choose('Chart type', 'Lines')
  await choose('Metric', 'Scores and annotations (mean)')
  await form.getByRole('button', { name: 'Save' }).click()
  await chart.getByRole('button', { name: 'judge.score' }).waitFor()
  await chart.getByRole('button', { name: 'Table' }).click()
  await chart.getByRole('cell', { name: '0.5', exact: true }).waitFor()
  await edit()
  await choose('Chart type', 'Field histogram')
  await form.getByLabel('Field', { exact: true }).fill('inputs.k')
  await form.getByRole('button', { name: 'Save' }).click()
  await chart.getByRole('button', { name: 'Table', pressed: false }).waitFor()
  expect(await everybodysFaults(page, 'a histogram')).toEqual([])
  await chart.getByRole('slider').focus()
  await page.keyboard.press('ArrowLeft')
  await expectSoon(() => chart.getByRole('slider').getAttribute('aria-valuetext')).toBe('3 to 3.05: calls 1')
  await page.keyboard.press('Enter')
  await page.waitForURL((to) => to.searchParams.get('q') === 'inputs.k>=3 inputs.k<3.05')
  await expectSoon(() => page.locator('.row .name').allInnerTexts()).toEqual(['summarize'])
  // The overview shows feedback where there is any.
  await page.goto(`${world.url}/p/${project_id}/dashboard?range=1h`)
  await page.getByRole('region', { name: 'Reactions' }).getByText('👍').waitFor()
})

it('the palette leads to saved views, own dashboards, threads and what refs name, by keys alone', async () => {
  const { page } = here
  const project_id = 'acme/around-palette'
  await fill(project_id)
  const board = await makeBoard(project_id)
  const startMs = Date.now() - 90_000
  const id = newId()
  const turn = call(project_id, { id, name: 'turn', startMs })
  await send(project_id, [{ ...turn, thread_id: 'about-rome', turn_id: id }])
  const val = { view_type: 'traces', label: 'All of Rome', description: 'calls?q=inputs.city%3ARome', definition: {} }
  const view = { project_id, object_id: 'view-rome', builtin_object_class: 'SavedView', val }
  await world.server.send('/obj/create', { obj: view })
  const thing = { project_id, object_id: 'thing', val: { text: 'a value' } }
  const { digest } = await world.server.send<{ digest: string }>('/obj/create', { obj: thing })
  const find = async (text: string, option: string | RegExp) => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(text)
    await page.getByRole('option', { name: option }).waitFor()
    const options = await page.getByRole('option').allInnerTexts()
    const place = options.findIndex((one) => (typeof option === 'string' ? one.includes(option) : option.test(one)))
    for (let n = 0; n < place; n++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
  }
  await list('', project_id)
  await find('of rome', /All of Rome\s+saved view of calls/)
  await page.waitForURL((to) => to.search === '?q=inputs.city:Rome&saved=view-rome')
  await expectSoon(() => page.locator('.row .name').count()).toBe(2)
  await find('ours', /Ours\s+dashboard/)
  await page.waitForURL((to) => to.search === `?board=${board}`)
  await page.getByRole('region', { name: 'Two' }).waitFor()
  await find('about', /about-rome\s+thread/)
  await page.getByRole('heading', { name: 'about-rome' }).waitFor()
  await find(`weave:///${project_id}/object/thing:${digest}`, /thing:.*object of acme/s)
  await page.waitForURL((to) => to.pathname.endsWith(`/objects/thing/${digest}`))
  await page.getByText('a value').first().waitFor()
  await find(`weave:///${project_id}/call/${id}`, /\w+\s+call of acme/)
  // The address changes before the page of the trace is there to take keys.
  await page.getByRole('treegrid', { name: 'Spans' }).getByText('turn').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('rome')
  await page.getByRole('option', { name: 'All of Rome' }).waitFor()
  expect(await everybodysFaults(page, 'palette')).toEqual([])
  await page.keyboard.press('Escape')
})

it('refs and media in columns are signs with names, and refs of the project lead to what they are of', async () => {
  const { page } = here
  const project_id = 'acme/around-cells'
  const val = { text: 'of a part' }
  const { digest } = await world.server.send<{ digest: string }>('/obj/create', {
    obj: { project_id, object_id: 'part', val },
  })
  const own = `weave:///${project_id}/object/part:${digest}`
  // Images alone are loaded: test/browser/media.test.ts shows them.
  const shot = { _type: 'CustomWeaveType', weave_type: { type: 'wave.Wave_read' }, files: { 'audio.wav': digest } }
  const inputs = { part: own, foreign: 'weave:///else/where/op/<b>x:abc', shot, bad: 'weave:///x' }
  await send(project_id, [call(project_id, { name: 'with_refs', inputs })])
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await list('?q=op:with_refs&cols=inputs.part,inputs.foreign,inputs.shot,inputs.bad', project_id)
  const cells = page.locator('.row [role=cell].second')
  const link = cells.getByRole('link', { name: 'part' })
  await link.waitFor()
  const texts = await cells.allInnerTexts()
  expect(texts.slice(-4, -2).map((one) => one.trim().replaceAll(/\s/g, ''))).toEqual([
    `part:${digest.slice(0, 8)}…`,
    '<b>x:abc',
  ])
  expect(texts.at(-1)).toBe('weave:///x')
  await cells.getByRole('img', { name: 'media' }).waitFor()
  await expectSoon(() => cells.getByRole('link').count()).toBe(1)
  expect(asked.filter((path) => /refs|obj|file/.test(path))).toEqual([])
  expect(await everybodysFaults(page, 'refs in cells')).toEqual([])
  await link.click()
  await page.waitForURL((to) => to.pathname.endsWith(`/objects/part/${digest}`))
  // The values of the row, with keys alone.
  await list('?q=op:with_refs', project_id)
  await page.getByRole('table', { name: 'Calls' }).focus()
  await page.keyboard.press('.')
  await page.getByRole('dialog').getByRole('link', { name: 'part' }).press('Enter')
  await page.waitForURL((to) => to.pathname.endsWith(`/objects/part/${digest}`))
})

it('the palette stays open with what was typed while a link to a call becomes its trace', async () => {
  const { page } = here
  const [own, id] = ['acme/around-awaited', newId()]
  await send(own, [call(own, { id, name: 'awaited', startMs: Date.now() - 70_000 })])
  const answer = await hold(page, '**/calls/stream_query')
  await page.goto(`${world.url}/p/${own}/calls/${id}`)
  await page.getByText('Go to').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('thread')
  await page.getByRole('option', { name: 'Threads page' }).waitFor()
  answer()
  await page.waitForURL(/\/traces\//)
  await page.unroute('**/calls/stream_query')
  await page.getByRole('heading', { name: 'awaited' }).first().waitFor({ state: 'attached' })
  await page.keyboard.type('s')
  expect(await page.getByRole('combobox', { name: 'A project, an ID, a ref, or text' }).inputValue()).toBe('threads')
  await page.getByRole('option', { name: 'Threads page' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})
