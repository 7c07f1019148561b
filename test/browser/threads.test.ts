// tier: deep browser
// Threads: the list with its order, one thread as a conversation of turns, by keys, for everybody.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, newId, newTrace, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let home: string
let here: Opened
const firstTrace = newTrace()
const [firstId, innerId, thirdId] = [newId(), newId(), newId()]

const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })

beforeAll(async () => {
  world = await startWorld('acme/threads')
  home = `/p/${world.project}/threads`
  const at = Date.now() - 600_000
  const turn = (thread_id: string, n: number, more: NonNullable<Parameters<typeof call>[1]>) => {
    const { id = newId(), trace = newTrace() } = more
    return { ...call(world.project, { startMs: at + n * 1_000, ...more, id, trace }), id, thread_id, turn_id: id }
  }
  const first = user('Where is <b>my order</b>?')
  const second = user('And the refund?')
  const outer = turn('order 8812', 1, {
    id: firstId,
    trace: firstTrace,
    name: 'first turn',
    ms: 300,
    inputs: { messages: [first] },
    output: { choices: [{ message: assistant('On its way.') }] },
  })
  // A turn inside a turn is part of it.
  const inner = turn('order 8812', 1.1, { id: innerId, trace: firstTrace, parent: firstId, name: 'inner turn' })
  const long = Array.from({ length: 60 }, (_, n) =>
    turn('long/one', 10 + n, { name: `turn ${n}`, inputs: { messages: [user(`said ${n}`)] } }),
  )
  await world.send([
    outer,
    inner,
    turn('order 8812', 2, {
      name: 'second turn',
      ms: 500,
      inputs: { messages: [first, assistant('On its way.'), second] },
      output: { choices: [{ message: assistant('Within two days.') }] },
    }),
    turn('order 8812', 3, {
      id: thirdId,
      name: 'third turn',
      inputs: { step: 'close it' },
      output: 'closed',
      exception: 'Error: no',
    }),
    ...long,
    // Inside a turn of the page before.
    turn('long/one', 65.5, { parent: long[0]?.id, name: 'late inner turn' }),
  ])
  const began = [
    { messages: [user('said a'.padEnd(1_000_000, ' and on'))] },
    { messages: [{ role: 'system', content: 'Be kind' }, user('said b')] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'said c' }] }] },
    { 'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'said d' }] }] },
    { plain: 1 },
  ]
  const project = 'acme/threads-began'
  const batch = began.map((inputs, n) => {
    const id = newId()
    const [thread_id, trace] = [`thread ${n}`, newTrace()]
    return { ...call(project, { id, trace, inputs, startMs: at + n * 1_000 }), thread_id, turn_id: id }
  })
  await world.server.send(`/v2/${project}/calls/complete`, { batch })
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (path: string) => here.page.goto(world.url + path)
const turnNames = () => here.page.locator('.turn h2').allInnerTexts()

describe('the list of threads', () => {
  it('shows threads by their last turn, and by what its heads say', async () => {
    const { page } = here
    await go(home)
    const rows = page.getByRole('table', { name: 'Threads' }).locator('.row')
    await expectSoon(() => rows.allInnerTexts()).toEqual([
      expect.stringMatching(/long\/one[\s\S]*said 0[\s\S]*\b60\b/),
      expect.stringMatching(/order 8812[\s\S]*my order[\s\S]*\b3\b/),
    ])
    await page.getByRole('button', { name: 'p99 turn' }).click()
    await page.waitForURL((to) => to.searchParams.get('sort') === 'p99_turn_duration_ms')
    await expectSoon(() => rows.first().innerText()).toContain('order 8812')
    await expectSoon(() => page.getByRole('columnheader', { name: 'p99 turn' }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    await page.getByRole('table', { name: 'Threads' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'order 8812' }).waitFor()
    await page.goBack()
    await page.waitForURL((to) => to.searchParams.get('sort') === 'p99_turn_duration_ms')
  })

  it('says how each thread began: by the first message of its user, in parts or after a system prompt, cut', async () => {
    const { page, context } = here
    const asked: string[] = []
    await context.route('**/calls/stream_query', (route) => {
      asked.push(route.request().postData() ?? '')
      return route.continue()
    })
    await go('/p/acme/threads-began/threads')
    const rows = page.getByRole('table', { name: 'Threads' }).locator('.row')
    const began = async () => (await rows.allInnerTexts()).map((row) => /said .|\[?plain/.exec(row)?.[0])
    await expectSoon(began).toEqual(['plain', 'said d', 'said c', 'said b', 'said a'])
    // No payload comes whole, however large.
    expect(asked).toEqual([])
    await context.unroute('**/calls/stream_query')
  })

  it('says what a thread is where there are none, and what went wrong where it cannot be read', async () => {
    const { page, context, faults } = here
    await go('/p/acme/no-threads/threads')
    await page.getByRole('heading', { name: 'No threads yet' }).waitFor()
    await context.route('**/threads/stream_query', (route) => route.fulfill({ status: 503, json: { detail: 'busy' } }))
    await go(home)
    await page.getByRole('alert').waitFor()
    await context.unroute('**/threads/stream_query')
    // It tries again by itself, too: a button that is gone by then needs no press.
    await page.getByRole('button', { name: /again/i }).evaluateAll('buttons => buttons.forEach((one) => one.click())')
    await page.getByRole('table', { name: 'Threads' }).waitFor()
    faults.splice(0)
  })
})

describe('a thread', () => {
  it('is a conversation: each turn shows what is new in it and leads to its trace', async () => {
    const { page } = here
    await go(`${home}/order%208812`)
    await expectSoon(turnNames).toEqual(['1. first turn', '2. second turn', '3. third turn'])
    const turns = page.locator('.turn')
    await turns.nth(1).getByText('Within two days.').waitFor()
    await turns.nth(1).getByText('2 earlier messages').waitFor()
    await turns.nth(0).getByText('Where is <b>my order</b>?').waitFor()
    await expectSoon(() => turns.nth(1).innerText()).not.toContain('my order')
    await turns.nth(1).getByText('2 earlier messages').click()
    await turns.nth(1).getByText('Where is <b>my order</b>?').waitFor()
    await turns.nth(2).getByText('close it').waitFor()
    await turns.nth(2).getByText('Error: no').waitFor()
    await turns.nth(0).getByRole('link', { name: 'Trace' }).click()
    await page.waitForURL((to) => to.pathname.endsWith(firstTrace))
  })

  it('lists its turns by what was asked in each, not by what was said before, or by their time', async () => {
    await go(`${home}/order%208812`)
    const list = here.page.getByRole('navigation', { name: 'Jump to a turn' })
    await expectSoon(() => list.locator('.turn-name').allInnerTexts()).toEqual([
      'Where is <b>my order</b>?',
      'And the refund?',
      expect.stringMatching(/^third turn · .*\d\d:\d\d/),
    ])
    expect(await list.getByRole('button').nth(1).getAttribute('title')).toMatch(/^second turn, /)
  })

  it('is read page by page and walked through by keys', async () => {
    const { page } = here
    await go(`${home}/long%2Fone`)
    await expectSoon(turnNames).toHaveLength(50)
    const focused = () => page.evaluate('document.activeElement?.id')
    for (const [key, id] of [
      ['j', 'turn-2'],
      ['k', 'turn-1'],
      ['End', 'turn-50'],
      ['Home', 'turn-1'],
    ] as const) {
      await page.keyboard.press(key)
      await expectSoon(focused).toBe(id)
    }
    const list = page.getByRole('navigation', { name: 'Jump to a turn' })
    await expectSoon(() => list.getByRole('button').count()).toBe(50)
    await list.getByRole('button', { name: '40. said 39' }).click()
    await expectSoon(focused).toBe('turn-40')
    await page.locator('#turn-40').getByText('said 39').waitFor()
    await expectSoon(() => list.locator('[aria-current=location]').innerText()).toContain('said 39')
    await page.keyboard.press('j')
    await expectSoon(focused).toBe('turn-41')
    await page.getByRole('button', { name: 'Later turns' }).click()
    await expectSoon(turnNames).toHaveLength(10)
    await expectSoon(() => list.getByRole('button').first().innerText()).toContain('51.')
    await expectSoon(async () => (await turnNames())[0]).toBe('51. turn 50')
    await page.locator('.turn').first().getByText('said 50').waitFor()
    await expectSoon(() => page.getByRole('button', { name: 'Later turns' }).isDisabled()).toBe(true)
    await page.getByText('Turns 51–60').waitFor()
    await go(`${home}/unknown`)
    await page.getByRole('heading', { name: 'This thread has no turns' }).waitFor()
  })
})

describe('a turn of a thread', () => {
  const panel = () => here.page.getByRole('complementary', { name: 'Turn' })

  it('opens beside the conversation with the spans of its trace, follows the keys, and the address shows the same', async () => {
    const { page } = here
    await go(`${home}/order%208812`)
    const turns = page.locator('.turn')
    await turns.nth(0).getByRole('button', { name: 'Details' }).click()
    await panel().getByRole('heading', { name: 'first turn' }).waitFor()
    await panel().getByRole('treegrid', { name: 'Spans' }).getByText('inner turn').click()
    await panel().getByRole('heading', { name: 'inner turn' }).waitFor()
    await panel().getByRole('tab', { name: 'Raw' }).click()
    await page.reload()
    await panel().getByRole('heading', { name: 'inner turn' }).waitFor()
    await panel().getByRole('tab', { name: 'Raw', selected: true }).waitFor()
    await turns.nth(0).focus()
    await page.keyboard.press('j')
    await panel().getByRole('heading', { name: 'second turn' }).waitFor()
    await expectSoon(() => page.locator('.turn[aria-current]').getAttribute('id')).toBe('turn-2')
    await panel().getByRole('button', { name: 'Close the turn' }).click()
    await panel().waitFor({ state: 'detached' })
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await panel().getByRole('heading', { name: 'third turn' }).waitFor()
    await page.setViewportSize({ width: 320, height: 800 })
    await turns.first().waitFor({ state: 'hidden' })
    await panel().getByRole('button', { name: 'Close the turn' }).click()
    await turns.first().waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('takes reactions and gives them back, and says what else was said of it', async () => {
    const { page } = here
    const [judge, judged] = ['op/judge:v1', `call/${firstId}`].map((one) => `weave:///${world.project}/${one}`)
    const said = (feedback_type: string, payload: object, more: object = {}) =>
      world.server.send('/feedback/create', {
        project_id: world.project,
        weave_ref: `weave:///${world.project}/call/${thirdId}`,
        feedback_type,
        payload,
        creator: 'somebody else',
        ...more,
      })
    await said('wandb.note.1', { note: '<b>late</b>' })
    await said('wandb.runnable.judge', { output: 'bad <i>' }, { runnable_ref: judge, call_ref: judged })
    await go(`${home}/order%208812`)
    const third = page.locator('#turn-3')
    await third.getByText('judge bad <i>').waitFor()
    await third.getByText('1 note', { exact: true }).waitFor()
    // Turns that are read later move what stands below them, also between a press and its release.
    for (const text of ['On its way.', 'Within two days.', 'Error: no']) await page.getByText(text).first().waitFor()
    await third.getByRole('button', { name: 'Bad' }).click()
    await third.getByRole('button', { name: 'Bad 1', pressed: true }).waitFor()
    await third.getByRole('button', { name: 'Feedback 3' }).click()
    await panel().getByText('<b>late</b>').waitFor()
    await panel().getByRole('button', { name: 'Bad 1', pressed: true }).click()
    await third.getByRole('button', { name: 'Bad', exact: true, pressed: false }).waitFor()
    await third.getByRole('button', { name: 'Feedback 2' }).waitFor()
  })
})

it('a turn below which a call failed is none that went well, also where it is not the root of its trace', async () => {
  const { page } = here
  const beganMs = Date.now() - 60_000
  const turn = (n: number, trace: string, parent?: string) => {
    const id = newId()
    return { ...call(world.project, { id, trace, parent, startMs: beganMs + n }), id, thread_id: 'failed', turn_id: id }
  }
  const failed = (parent: string, trace: string) =>
    call(world.project, { trace, parent, name: 'lookup', exception: 'Error: no stock' })
  const [own, shared, outer] = [newTrace(), newTrace(), newId()]
  const [root, inner, beside] = [turn(1, own), turn(2, shared, outer), turn(3, shared, outer)]
  const request = call(world.project, { id: outer, trace: shared, name: 'request' })
  await world.send([root, failed(root.id, own), request, inner, failed(inner.id, shared), beside])
  await go(`${home}/failed`)
  const marks = () =>
    page.locator('.turn h2 svg').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  await expectSoon(marks).toEqual(['1 error below', '1 error below', 'Success'])
  await page.locator('.turn').nth(1).getByText('1 error below', { exact: true }).waitFor()
  const list = page.getByRole('navigation', { name: 'Jump to a turn' })
  await expectSoon(() => list.getByRole('img', { name: '1 error below' }).count()).toBe(2)
})

it('calls of tools and their answers unfold when somebody wants to see them', async () => {
  const { page } = here
  const function_ = { name: 'search <b>', arguments: '{"order":8812}' }
  const messages = [
    user('Look it up'),
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: function_ }] },
    { role: 'tool', tool_call_id: 'c1', content: 'shipped on Monday' },
  ]
  const id = newId()
  const inputs = { messages }
  const output = { choices: [{ message: assistant('It is shipped.') }] }
  await world.send([{ ...call(world.project, { id, inputs, output }), thread_id: 'tools', turn_id: id }])
  await go(`${home}/tools`)
  const tools = page.locator('.turn details.tool-call')
  await expectSoon(() => tools.locator('summary').allInnerTexts()).toEqual([
    expect.stringContaining('search <b>'),
    expect.stringContaining('c1'),
  ])
  await expectSoon(() => page.getByText('shipped on Monday').isVisible()).toBe(false)
  await tools.nth(1).locator('summary').focus()
  await page.keyboard.press('Enter')
  await page.getByText('shipped on Monday').waitFor()
  await page.getByText('It is shipped.').waitFor()
})

it('feedback on a turn shows once the tables have it, also when an answer lacked it', async () => {
  const { page, context } = here
  let lags = true
  await context.route('**/feedback/query', async (route) => {
    if (!lags) return route.continue()
    await route.fulfill({ json: { result: [] }, headers: { 'x-callhouse-stale': '3000' } })
  })
  const id = newId()
  await world.send([{ ...call(world.project, { id, name: 'asked' }), thread_id: id, turn_id: id }])
  await Promise.all([page.waitForResponse('**/feedback/query'), go(`${home}/${id}`)])
  const good = page.locator('.turn').getByRole('button', { name: 'Good' })
  await Promise.all([page.waitForResponse('**/feedback/query'), good.click()])
  lags = false
  await page.locator('.turn').getByRole('button', { name: 'Good 1', pressed: true }).waitFor()
  await context.unroute('**/feedback/query')
})

describe('a thread that goes on', () => {
  const started = (n: number) => {
    const id = newId()
    const {
      ended_at: _,
      output: __,
      ...start
    } = call(world.project, {
      id,
      name: `live turn ${n}`,
      startMs: Date.now() - 60_000 + n * 1_000,
      inputs: { messages: [user(`live ${n}`)] },
    })
    return { ...start, id, thread_id: 'live', turn_id: id }
  }
  const start = (one: object) => world.server.send('/call/start', { start: one })
  const end = (id: string) =>
    world.server.send('/call/end', {
      end: {
        project_id: world.project,
        id,
        ended_at: new Date().toISOString(),
        summary: {},
        output: { choices: [{ message: assistant(`said of ${id}`) }] },
      },
    })

  it('shows new turns and how they end while it is live, without moving what is read', async () => {
    const { page } = here
    const [one, two] = [started(1), started(2)]
    await start(one)
    await go(`${home}/live`)
    await expectSoon(turnNames).toEqual(['1. live turn 1'])
    await page.locator('#turn-1').getByText('running', { exact: true }).waitFor()
    await page.keyboard.press('l')
    await page.getByRole('button', { name: 'Live', pressed: true }).waitFor()
    await page.waitForURL((to) => to.searchParams.get('live') === '1')
    await end(one.id)
    await page.locator('#turn-1').getByText(`said of ${one.id}`).waitFor()
    await start(two)
    await expectSoon(turnNames).toEqual(['1. live turn 1', '2. live turn 2'])
    await page.getByRole('button', { name: '1 new' }).click()
    expect(await page.evaluate('document.activeElement?.id')).toBe('turn-2')
    await page.getByRole('button', { name: '1 new' }).waitFor({ state: 'detached' })
  })
})

it('threads are for everybody: axe finds no fault in both themes, and 320 pixels are enough', async () => {
  const { page, context, faults } = await world.open()
  const found: string[] = []
  for (const [path, selector] of [
    [home, '.row'],
    [`${home}/order%208812`, '.payloads'],
    [`${home}/order%208812?turn=${firstId}&tab=feedback`, '.feedback'],
    [`${home}/order%208812?turn=${firstId}&call=${innerId}`, '.turn-tree .row'],
    ['/p/acme/no-threads/threads', 'pre'],
  ] as const) {
    await page.goto(world.url + path)
    await page.locator(selector).first().waitFor()
    found.push(...(await everybodysFaults(page, path)))
  }
  expect(found).toEqual([])
  expect(faults).toEqual([])
  await context.close()
})
