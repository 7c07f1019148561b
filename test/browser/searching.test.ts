// tier: deep browser
// A search that takes long: what it has found shows at once; it can be cancelled, it may fail, and it can go on.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { startForwarding } from './forwarding.ts'
import { axeFaults, call, newId, newTrace, type Opened, startWorld, type World } from './world.ts'

let world: World
let forwarding: Awaited<ReturnType<typeof startForwarding>>
let here: Opened
/** Of each answer to the search what became of its rest. */
let ends: PromiseWithResolvers<'rest' | 'failure'>[] = []
let givenUp = 0
/** What the page and its worker ask for. */
const asked: { path: string; body: string }[] = []

beforeAll(async () => {
  world = await startWorld('acme/searching')
  const at = Date.now() - 60_000
  const one = (n: number, question: string, more: object = {}) =>
    call(world.project, { name: `call ${n}`, startMs: at + n * 1_000, inputs: { question }, ...more })
  const [trace, id] = [newTrace(), newId()]
  await world.send([
    one(0, 'needle'),
    one(1, 'hay'),
    one(2, 'needle', { trace, id }),
    one(2.5, 'hay', { trace, parent: id, exception: 'Error: none' }),
    one(3, 'needle'),
    one(4, 'hay'),
  ])
  forwarding = await startForwarding(world.url, {
    passes: {
      '/calls/stream_query': async (body, answer, to) => {
        if (!body.includes('needle')) return void answer.pipe(to)
        const end = Promise.withResolvers<'rest' | 'failure'>()
        ends.push(end)
        to.on('close', () => {
          if (!to.writableFinished) givenUp++
        })
        const [first = '', ...rest] = Buffer.concat(await answer.toArray())
          .toString()
          .split(/(?<=\n)/)
        to.write(first)
        if ((await end.promise) === 'failure') to.destroy()
        else to.end(rest.join(''))
      },
    },
  })
  here = await world.open({ origin: forwarding.origin })
  here.page.on('request', (request) =>
    asked.push({ path: new URL(request.url()).pathname, body: request.postData() ?? '' }),
  )
})
afterAll(async () => {
  await forwarding?.close()
  await world?.close()
})
afterEachIsFaultless(() => here)

const names = () => here.page.locator('.rows .row .name').allInnerTexts()
const foot = () => here.page.locator('footer.foot').innerText()
const heading = (name: string | RegExp) => here.page.getByRole('heading', { name })
const all = ['call 3', 'call 2', 'call 0']
const home = '/p/acme/searching/calls?range=1d&q=needle'
const open = (search: string) => here.page.goto(forwarding.origin + home + search)
const pathsAsked = () => asked.map(({ path }) => path)

/** Opens the search, up to its first hit. */
beforeEach(async () => {
  ends = []
  givenUp = 0
  asked.length = 0
  await open('&view=all')
  await expectSoon(names).toEqual(['call 3'])
})

it('shows what it has found, says that it goes on, and counts when all is found', async () => {
  await heading(/^Searching the text of/).waitFor()
  await here.page.getByRole('button', { name: 'Cancel' }).waitFor()
  await here.page.locator('.row', { hasText: 'needle' }).waitFor()
  expect(await foot()).toContain('1–1 of …')
  // Questions that go through the same texts come after it.
  expect(pathsAsked().filter((path) => ['/calls/query_stats', '/calls/aggregate'].includes(path))).toEqual([])
  expect(await axeFaults(here.page)).toEqual([])
  ends[0]?.resolve('rest')
  await expectSoon(names).toEqual(all)
  await expectSoon(foot).toContain('1–3 of 3')
  expect(await heading(/^Searching/).count()).toBe(0)
  await here.page.getByText('3 calls, 0 with errors').waitFor()
})

it('goes through texts once: what stands beside its rows is asked for by their ids', async () => {
  ends[0]?.resolve('rest')
  await here.page.getByText('3 calls, 0 with errors').waitFor()
  await open('')
  await expectSoon(() => ends.length).toBe(2)
  ends[1]?.resolve('rest')
  await here.page.getByText('3 traces, 1 with errors').waitFor()
  await expectSoon(() => here.page.locator('.histogram .failed').getAttribute('d')).toMatch(/^M/)
  expect(pathsAsked()).not.toContain('/calls/query_stats')
  const searches = asked.filter(({ body }) => body.includes('needle'))
  expect(searches.map(({ path }) => path)).toEqual(['/calls/stream_query', '/calls/stream_query'])
})

it('keeps what it found when it is cancelled, says that there may be more, and can begin anew', async () => {
  await here.page.getByRole('button', { name: 'Cancel' }).click()
  await heading('The search was cancelled').waitFor()
  await here.page.getByText('There may be more matching calls').waitFor()
  await expectSoon(() => givenUp).toBe(1)
  expect(await names()).toEqual(['call 3'])
  // All rows are those that show.
  await here.page.keyboard.press('Control+a')
  await here.page.getByText('1 marked').waitFor()
  await here.page.getByRole('button', { name: 'Clear', exact: true }).click()
  await here.page.getByRole('button', { name: 'Search again' }).click()
  await expectSoon(() => ends.length).toBe(2)
  ends[1]?.resolve('rest')
  await expectSoon(names).toEqual(all)
  expect(await heading(/cancelled/).count()).toBe(0)
})

it('is not taken for the whole answer by who left it and comes back', async () => {
  await here.page.getByRole('button', { name: 'Remove needle' }).click()
  await expectSoon(() => givenUp).toBe(1)
  await expectSoon(names).toEqual(['call 4', 'call 3', 'call 2.5', 'call 2', 'call 1', 'call 0'])
  await here.page.goBack()
  await expectSoon(() => ends.length).toBe(2)
  ends[1]?.resolve('rest')
  await expectSoon(names).toEqual(all)
})

it('says that it failed beside what it found, and can begin anew', async () => {
  ends[0]?.resolve('failure')
  await heading(/^The search failed: /).waitFor()
  expect(await names()).toEqual(['call 3'])
  await here.page.getByRole('button', { name: 'Search again' }).click()
  await expectSoon(() => ends.length).toBe(2)
  ends[1]?.resolve('rest')
  await expectSoon(names).toEqual(all)
  expect(await heading(/failed/).count()).toBe(0)
  expect(here.faults.splice(0).filter((fault) => !/ERR_/.test(fault))).toEqual([])
})
