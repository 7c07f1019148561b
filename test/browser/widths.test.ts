// tier: deep browser
// Every page and its dialogs in a phone's window and a desktop's, light and dark: nothing lies beside the window, no control
// is cut off, axe finds no fault. What the layouts promise is asked of boxes, not of pictures: fonts differ by machine.
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sendEvaluations } from '../../scripts/demo/evaluations.ts'
import { sendQueue } from '../../scripts/demo/queue.ts'
import { askServer } from '../../scripts/demo/server.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { widthFaults } from './boxes.ts'
import { type Filled, startFilled } from './filled.ts'
import { axeFaults, call, newId, newTrace, type Opened, picture } from './world.ts'

const project = 'acme/widths'
const home = `/p/${project}`
const widths = [390, 1440] as const
const longName = 'a name that no narrow window holds, which goes on and on'

let world: Filled
let here: Opened
const ids: Record<string, string> = {}

beforeAll(async () => {
  world = await startFilled({ project })
  const { server } = world
  const target = { url: world.url, key: 'test-key', project }
  const id = newId()
  const messages = [{ role: 'user', content: 'Is <b>anybody</b> there?' }]
  const usage = { 'gpt-4o': { prompt_tokens: 1200, completion_tokens: 34, requests: 1 } }
  const agent = (n: number) => call(project, { name: 'invoke_agent support', inputs: { messages }, startMs: n })
  await world.send([
    { ...call(project, { id, name: 'turn', inputs: { messages }, output: 'Yes.' }), thread_id: 'talk', turn_id: id },
    ...Array.from({ length: 16 }, (_, n) => agent(Date.now() - 200_000 - n)),
    call(project, {
      trace: newTrace(),
      name: longName,
      startMs: Date.now() - 1_000,
      ms: 1_234,
      exception: 'Error: the model did not answer in time\n  at fetch',
      usage,
    }),
  ])
  const table = { project_id: project, rows: Array.from({ length: 30 }, (_, n) => ({ question: `What is ${n}?`, n })) }
  const { digest } = await server.send<{ digest: string }>('/table/create', { table })
  const rows = `weave:///${project}/table/${digest}`
  const bases = ['Object', 'BaseModel']
  const prompt = (content: string) => ({ messages: [{ role: 'user', content }] })
  for (const [object_id, type, more] of [
    ['questions', 'Dataset', { rows }],
    ['greeting', 'MessagesPrompt', prompt('Hello {name}')],
    ['greeting', 'MessagesPrompt', prompt('Good day, {name}')],
    ['thing', 'Thing', { text: 'a value', list: [1, 2] }],
  ] as const) {
    const val = { _type: type, _class_name: type, _bases: bases, ...more }
    await server.send('/obj/create', { obj: { project_id: project, object_id, val } })
  }
  openKeys({ dataDir: server.dataDir, configured: [] }).create({ userId: 'narrow', role: 'read', grants: [project] })
  await sendEvaluations(target)
  await sendQueue(target)
  const listed = await askServer<{ id: string }>(target, '/calls/stream_query', {
    project_id: project,
    filter: { op_names: ['Evaluation.evaluate'] },
    columns: ['id'],
  })
  const [queue] = await askServer<{ id: string }>(target, '/annotation_queues/query', { project_id: project })
  const items = `/annotation_queues/${queue?.id}/items/query`
  const [found] = await askServer<{ items: { id: string }[] }>(target, items, { project_id: project })
  Object.assign(ids, {
    trace: world.trace,
    failed: world.failed,
    answered: world.answered,
    run: listed[0]?.id,
    runs: listed.map((one) => one.id).join(),
    queue: queue?.id,
    item: found?.items[0]?.id,
    table: digest,
  })
  here = await world.open({ width: 390 })
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  // The unknown path is a 404, of which the browser tells.
  expect(here.faults.splice(0).filter((line) => !line.includes('404'))).toEqual([])
})

type Shown = {
  /** `{name}` is an id of the world. */
  path: string
  /** What is there once the page is. */
  shows: string
  /** Keys, or names of buttons, one after the other: what opens the dialog that is looked at. */
  press?: readonly string[]
  click?: readonly string[]
}

const calls = `${home}/calls`
const trace = `${home}/traces/{trace}`
const dataset = `${home}/datasets/questions/latest`
const settings = (section: string) => `/settings/${section}?project=${project}`

const pages: readonly Shown[] = [
  { path: '/?all=1', shows: '.projects h2' },
  { path: '/nowhere', shows: 'h1' },
  { path: calls, shows: '.row .name' },
  { path: `${calls}?view=all&cols=inputs,output,feedback,thread_id`, shows: '.row .name' },
  { path: `${calls}?q=name~support%20status:success&range=24h`, shows: '.chips' },
  { path: `${calls}?q=name%3Anothing-is-called-so`, shows: '.center' },
  { path: `${calls}?range=1h&differs=1`, shows: 'dialog[open]' },
  { path: `${calls}?by=op_name`, shows: 'dialog[open] tr, dialog[open] li' },
  { path: '/p/acme/nothing-at-all/calls', shows: '.quick' },
  { path: calls, shows: '.row .name', click: ['Columns'] },
  { path: calls, shows: '.row .name', click: ['Export the list'] },
  { path: calls, shows: '.row .name', click: ['Saved views'] },
  { path: calls, shows: '.row .name', press: ['t'] },
  { path: calls, shows: '.row .name', press: ['?'] },
  { path: calls, shows: '.row .name', press: ['Control+k'] },
  { path: calls, shows: '.row .name', press: ['.'] },
  { path: calls, shows: '.row .name', press: ['x'] },
  { path: calls, shows: '.row .name', press: ['x'], click: ['Add to dataset…'] },
  { path: calls, shows: '.row .name', press: ['x'], click: ['Add to queue…'] },
  { path: calls, shows: '.row .name', press: ['x'], click: ['Feedback…'] },
  { path: calls, shows: '.row .name', press: ['x'], click: ['Export…'] },
  { path: calls, shows: '.row .name', press: ['x'], click: ['Delete…'] },
  { path: trace, shows: '.span .label' },
  { path: `${trace}?call={failed}`, shows: '.thrown' },
  { path: `${trace}?call={answered}`, shows: '.message' },
  { path: `${trace}?call={answered}&tab=feedback`, shows: '.feedback form' },
  { path: `${trace}?call={answered}`, shows: '.message', click: ['Add to dataset…'] },
  { path: `${home}/diff?a=object/greeting/v0&b=object/greeting/v1`, shows: '.differences section' },
  { path: `${home}/threads`, shows: '.row .plain' },
  { path: `${home}/threads/talk`, shows: '.turn' },
  { path: `${home}/dashboard?range=all`, shows: '.ranking, .chart' },
  { path: `${home}/dashboard?range=all&board=errors`, shows: '.ranking, .chart' },
  { path: `${home}/dashboard?range=all`, shows: '.chart', click: ['Save Latency as chart'] },
  { path: `${home}/evaluations`, shows: '.row .plain' },
  { path: `${home}/evaluations`, shows: '.row .plain', click: ['New run…'] },
  { path: `${home}/evaluations/{run}`, shows: '.row .plain' },
  { path: `${home}/evaluations/compare?runs={runs}`, shows: '.row .compared' },
  { path: `${home}/evaluations/compare?runs={runs}`, shows: '.row .compared', press: ['Home', ' '] },
  { path: `${home}/queues`, shows: '.row .plain' },
  { path: `${home}/queues`, shows: '.row .plain', click: ['New queue'] },
  { path: `${home}/queues/{queue}`, shows: '.row .plain' },
  { path: `${home}/queues/{queue}`, shows: '.row .plain', click: ['Edit…'] },
  { path: `${home}/queues/{queue}/items/{item}`, shows: '.asked' },
  { path: `${home}/objects`, shows: '.row .plain' },
  { path: `${home}/objects?class=datasets`, shows: '.row .plain' },
  { path: `${home}/objects`, shows: '.row .plain', click: ['New dataset…'] },
  { path: `${home}/objects/thing`, shows: '.row .plain' },
  { path: `${home}/objects/thing/latest`, shows: '.json .node' },
  { path: `${home}/prompts`, shows: '.row .plain' },
  { path: `${home}/prompts/greeting/v1`, shows: '.prompt-messages' },
  { path: dataset, shows: '.row' },
  { path: `${dataset}?row=2`, shows: '.reader .node' },
  { path: dataset, shows: '.row', click: ['Add row…'] },
  { path: dataset, shows: '.row', click: ['Import…'] },
  { path: dataset, shows: '.row', click: ['Columns…'] },
  { path: `${home}/tables/{table}`, shows: '.row' },
  { path: `${home}/playground`, shows: '.prompt' },
  { path: `${home}/playground`, shows: '.prompt', click: ['Run on dataset…'] },
  { path: settings('you'), shows: '.set-facts' },
  { path: settings('keys'), shows: '.sheet-row:not(.head)' },
  { path: settings('keys'), shows: '.sheet-row:not(.head)', click: ['New key'] },
  { path: settings('users'), shows: '.sheet-row:not(.head)' },
  { path: settings('audit'), shows: '.event' },
  { path: settings('limits'), shows: '.day-bars' },
  { path: settings('prices'), shows: '.sheet-row' },
  { path: settings('prices'), shows: '.sheet-row', click: ['New price'] },
  { path: settings('retention'), shows: '.none' },
  { path: settings('retention'), shows: '.none', click: ['New hold'] },
  { path: settings('masking'), shows: '.preview' },
  { path: settings('providers'), shows: '.none' },
  { path: settings('providers'), shows: '.none', click: ['New provider'] },
  { path: settings('secrets'), shows: '.none' },
  { path: `/system?project=${project}`, shows: '.section h2' },
]

/** No dialog is as wide as a desktop's window: it is looked at in the narrow one. */
const isDialog = ({ press, click }: Shown): boolean => press !== undefined || click !== undefined
const titleOf = ({ path, press = [], click = [] }: Shown): string => [path, ...press, ...click].join(' ')
const tops = 'dialog[open], :popover-open'

async function show(page: Page, { path, shows, press = [], click = [] }: Shown): Promise<void> {
  await page.goto(world.url + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ''))
  await page.locator(shows).first().waitFor()
  for (const key of press) await page.keyboard.press(key)
  for (const name of click) await page.getByRole('button', { name, exact: true }).first().click()
  if (click.length > 0) await page.locator(tops).first().waitFor()
  await page.waitForLoadState('networkidle')
}

describe.each(widths)('%i pixels', (width) => {
  const looked = pages.filter((one) => width === 390 || !isDialog(one))
  it.each(looked.map((one) => [titleOf(one), one] as const))('%s', async (_, one) => {
    const { page } = here
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
    await show(page, one)
    const found = [...(await widthFaults(page)), ...(await axeFaults(page))]
    // The themes differ in colours only.
    await page.emulateMedia({ colorScheme: 'dark' })
    found.push(...(await axeFaults(page, true)).map((line) => `dark: ${line}`))
    await page.emulateMedia({ colorScheme: 'light' })
    expect(found).toEqual([])
  })
})

const boxOf = async (of: Locator) => {
  const box = await of.first().boundingBox()
  if (box === null) throw new Error('It has no box')
  return { ...box, right: box.x + box.width, bottom: box.y + box.height }
}

describe('a narrow window', () => {
  const open = async (path: string, shows = '.row .plain') => {
    await here.page.setViewportSize({ width: 390, height: 844 })
    await here.page.goto(world.url + path)
    await here.page.locator(shows).first().waitFor()
    return here.page
  }
  const rowOf = (page: Page, text: string) => page.locator('.row', { hasText: text }).first()

  it('shows a call in two lines: name and time, then what went wrong, latency and cost', async () => {
    const page = await open(calls)
    const row = rowOf(page, longName)
    await expectSoon(() => row.innerText()).toMatch(/did not answer in time[\s\S]*1\.23 s[\s\S]*\$/)
    const whole = await boxOf(row)
    const name = await boxOf(row.locator('.name'))
    const [error, latency, time] = [
      await boxOf(row.locator('.grows')),
      await boxOf(row.locator('.lat')),
      await boxOf(row.locator('.narrow-line').first().locator('[role=cell]').last()),
    ]
    expect(whole.height).toBe(48)
    for (const { right } of [whole, name, time, error, latency]) expect(right).toBeLessThanOrEqual(390)
    expect(name.bottom).toBeLessThanOrEqual(error.y + 1)
    expect(time.x).toBeGreaterThanOrEqual(name.right)
    expect(Math.abs(time.y - name.y)).toBeLessThan(6)
    expect(Math.abs(latency.y - error.y)).toBeLessThan(6)
    // What stands above the list takes less than a quarter of the window.
    expect((await boxOf(page.locator('.rows.main'))).y).toBeLessThan(844 / 4)
  })

  it('opens a call by a tap anywhere in its row, and marks it by its box', async () => {
    const page = await open(calls)
    const row = rowOf(page, longName)
    await row.getByRole('checkbox').click()
    await page.getByRole('group', { name: 'Marked calls' }).waitFor()
    const { width, height } = await boxOf(row)
    await row.click({ position: { x: width - 20, y: height - 6 } })
    await page.waitForURL((to) => to.pathname.includes('/traces/'))
  })

  it('keeps the row that is first in view when the window becomes wide, and when it becomes narrow again', async () => {
    const page = await open(calls)
    const first = () =>
      page.evaluate<number>(`(() => {
        const list = document.querySelector('.rows.main')
        const top = list.getBoundingClientRect().top + (list.querySelector('.head')?.offsetHeight ?? 0)
        return Math.min(...[...list.querySelectorAll('.row')]
          .filter((one) => one.getBoundingClientRect().bottom > top + 4)
          .map((one) => Number(one.getAttribute('aria-rowindex'))))
      })()`)
    // As long as the list is once its calls are counted.
    await page
      .getByRole('status')
      .filter({ hasText: / of \d+/ })
      .waitFor()
    await page.evaluate(`document.querySelector('.rows.main').scrollTo(0, ${48 * 100})`)
    await expectSoon(first).toBe(102)
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 })
      await expectSoon(() => boxOf(page.locator('.rows .row')).then((box) => box.height)).toBe(width === 390 ? 48 : 28)
      await expectSoon(first).toBe(102)
    }
  })

  it.each([
    [
      'evaluation runs with their scores',
      `${home}/evaluations`,
      /correct[\s\S]*0\.775[\s\S]*judge\.helpfulness[\s\S]*0\.733/,
    ],
    ['rows of a run with their scores', `${home}/evaluations/{run}`, /correct[\s\S]*(true|false)/],
    ['threads with how they began', `${home}/threads`, /talk[\s\S]*anybody[\s\S]*Turns[\s\S]*1/],
    ['queues with what is done', `${home}/queues`, /Support answers[\s\S]*8 of 16/],
    ['datasets with version and size', `${home}/objects?class=datasets`, /questions[\s\S]*v0[\s\S]*B/],
    ['prompts with their version', `${home}/prompts`, /greeting[\s\S]*v1/],
  ])('lists %s, without being scrolled sideways', async (_, path, told) => {
    const page = await open(path.replace('{run}', ids.run ?? ''))
    const row = page.locator('.rows .row').first()
    await expectSoon(() => row.innerText()).toMatch(told)
    expect((await boxOf(row)).right).toBeLessThanOrEqual(390)
    const cells = await row.locator('[role=cell]').all()
    for (const cell of cells) expect((await boxOf(cell)).right).toBeLessThanOrEqual(390)
  })

  it('has the pages in a drawer: by words, with the focus inside, closed by Escape, a click beside it, or a choice', async () => {
    const page = await open(calls)
    const button = page.getByRole('button', { name: 'Pages', exact: true })
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0)
    expect(await button.getAttribute('aria-expanded')).toBe('false')
    await button.focus()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: 'Pages' })
    await drawer.getByRole('link', { name: 'Threads' }).waitFor()
    expect(await page.locator('button[aria-expanded=true][aria-label=Pages]').count()).toBe(1)
    // Between the last and the first of them the browser has its own stop, outside of the page.
    const outside = 'document.activeElement !== document.body && !document.activeElement.closest("dialog")'
    for (let n = 0; n < 24; n++) {
      await page.keyboard.press('Tab')
      expect(await page.evaluate(outside)).toBe(false)
    }
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    expect(await button.getAttribute('aria-expanded')).toBe('false')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Pages')
    await button.click()
    await page.mouse.click(380, 400)
    await drawer.waitFor({ state: 'detached' })
    await button.click()
    await drawer.getByRole('link', { name: 'Threads' }).click()
    await page.waitForURL((to) => to.pathname.endsWith('/threads'))
    await drawer.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Go to' }).waitFor()
    await page.keyboard.press('Escape')
    for (const key of ['g', 'c']) await page.keyboard.press(key)
    await page.waitForURL((to) => to.pathname.endsWith('/calls'))
  })
})

describe('a wide window', () => {
  it('has words beside the icons of its pages, which are put away for good; a narrower one has icons alone', async () => {
    const { page } = here
    const rail = page.getByRole('navigation', { name: 'Pages' })
    const widthOf = async () => (await boxOf(rail)).width
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(world.url + calls)
    await page.locator('.row .name').first().waitFor()
    expect(await widthOf()).toBe(160)
    expect((await boxOf(rail.getByText('Evaluations'))).width).toBeGreaterThan(30)
    await rail.getByRole('button', { name: 'Collapse' }).click()
    expect(await widthOf()).toBe(48)
    await page.reload()
    await rail.waitFor()
    expect(await widthOf()).toBe(48)
    await rail.getByRole('button', { name: 'Expand' }).click()
    expect(await widthOf()).toBe(160)
    for (const [width, shown] of [
      [1000, 48],
      [700, 48],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await expectSoon(widthOf).toBe(shown)
      expect(await rail.getByRole('link', { name: 'Evaluations' }).count()).toBe(1)
    }
  })

  it('skips its pages and bars by the first stop of the Tab key', async () => {
    const { page } = here
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(world.url + calls)
    await page.locator('.row .name').first().waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.matches(".rows.main")')).toBe(true)
  })
})
