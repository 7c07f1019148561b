// Threads: the list with its order, one thread as a conversation of turns, by keys, for everybody.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { call, everybodysFaults, newId, newTrace, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let home: string
let here: Opened
const firstTrace = newTrace()

const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })

beforeAll(async () => {
  world = await startWorld('acme/threads')
  home = `/p/${world.project}/threads`
  const at = Date.now() - 600_000
  const turn = (thread_id: string, n: number, more: Parameters<typeof call>[1]) => {
    const id = newId()
    const trace = newTrace()
    return { ...call(world.project, { id, trace, startMs: at + n * 1_000, ...more }), id, thread_id, turn_id: id }
  }
  const first = user('Where is <b>my order</b>?')
  const second = user('And the refund?')
  const outer = turn('order 8812', 1, {
    ...{ trace: firstTrace, name: 'first turn', ms: 300 },
    inputs: { messages: [first] },
    output: { choices: [{ message: assistant('On its way.') }] },
  })
  // A turn inside a turn is part of it.
  const inner = turn('order 8812', 1.1, { trace: firstTrace, parent: outer.id, name: 'inner turn' })
  const long = Array.from({ length: 60 }, (_, n) =>
    turn('long/one', 10 + n, { name: `turn ${n}`, inputs: { messages: [user(`said ${n}`)] } }),
  )
  await world.send([
    ...[outer, inner],
    turn('order 8812', 2, {
      ...{ name: 'second turn', ms: 500 },
      inputs: { messages: [first, assistant('On its way.'), second] },
      output: { choices: [{ message: assistant('Within two days.') }] },
    }),
    turn('order 8812', 3, {
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
    await expect
      .poll(() => rows.allInnerTexts())
      .toEqual([
        expect.stringMatching(/long\/one[\s\S]*said 0[\s\S]*\b60\b/),
        expect.stringMatching(/order 8812[\s\S]*my order[\s\S]*\b3\b/),
      ])
    await page.getByRole('button', { name: 'p99 turn' }).click()
    await page.waitForURL((to) => to.searchParams.get('sort') === 'p99_turn_duration_ms')
    await expect.poll(() => rows.first().innerText()).toContain('order 8812')
    expect(await page.getByRole('columnheader', { name: 'p99 turn' }).getAttribute('aria-sort')).toBe('descending')
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
    await expect.poll(began).toEqual(['plain', 'said c', 'said b', 'said a'])
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
    await page.getByRole('button', { name: /again/i }).click()
    await page.getByRole('table', { name: 'Threads' }).waitFor()
    faults.splice(0)
  })
})

describe('a thread', () => {
  it('is a conversation: each turn shows what is new in it and leads to its trace', async () => {
    const { page } = here
    await go(`${home}/order%208812`)
    await expect.poll(turnNames).toEqual(['1. first turn', '2. second turn', '3. third turn'])
    const turns = page.locator('.turn')
    await turns.nth(1).getByText('Within two days.').waitFor()
    await turns.nth(1).getByText('2 earlier messages').waitFor()
    await turns.nth(0).getByText('Where is <b>my order</b>?').waitFor()
    expect(await turns.nth(1).innerText()).not.toContain('my order')
    await turns.nth(1).getByText('2 earlier messages').click()
    await turns.nth(1).getByText('Where is <b>my order</b>?').waitFor()
    await turns.nth(2).getByText('close it').waitFor()
    await turns.nth(2).getByText('Error: no').waitFor()
    await turns.nth(0).getByRole('link', { name: 'Trace' }).click()
    await page.waitForURL((to) => to.pathname.endsWith(firstTrace))
  })

  it('is read page by page and walked through by keys', async () => {
    const { page } = here
    await go(`${home}/long%2Fone`)
    await expect.poll(turnNames).toHaveLength(50)
    const focused = () => page.evaluate('document.activeElement?.id')
    for (const [key, id] of [
      ['j', 'turn-2'],
      ['k', 'turn-1'],
      ['End', 'turn-50'],
      ['Home', 'turn-1'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(focused).toBe(id)
    }
    const list = page.getByRole('navigation', { name: 'Jump to a turn' })
    expect(await list.getByRole('button').count()).toBe(50)
    await list.getByRole('button', { name: '40. turn 39' }).click()
    await expect.poll(focused).toBe('turn-40')
    await page.locator('#turn-40').getByText('said 39').waitFor()
    expect(await list.locator('[aria-current=location]').innerText()).toContain('turn 39')
    await page.keyboard.press('j')
    await expect.poll(focused).toBe('turn-41')
    await page.getByRole('button', { name: 'Later turns' }).click()
    await expect.poll(turnNames).toHaveLength(10)
    expect((await list.getByRole('button').allInnerTexts())[0]).toContain('51.')
    expect((await turnNames())[0]).toBe('51. turn 50')
    await page.locator('.turn').first().getByText('said 50').waitFor()
    expect(await page.getByRole('button', { name: 'Later turns' }).isDisabled()).toBe(true)
    await page.getByText('Turns 51–60').waitFor()
    await go(`${home}/unknown`)
    await page.getByRole('heading', { name: 'This thread has no turns here' }).waitFor()
  })
})

it('threads are for everybody: axe finds no fault in both themes, and 320 pixels are enough', async () => {
  const { page, context, faults } = await world.open()
  const found: string[] = []
  for (const [path, selector] of [
    [home, '.row'],
    [`${home}/order%208812`, '.payloads'],
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
