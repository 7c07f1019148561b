// tier: deep browser
// The page of a trace beyond what its tree and reader show: its place in the list, its zoom, what runs, what is asked again.
import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { type Filled, startFilled } from './filled.ts'
import { call, everybodysFaults, hold, newId, newTrace, type Opened } from './world.ts'

const project = 'acme/trace'
let world: Filled
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project })
  const make = (object_id: string, name: string, field_schema: object) =>
    world.server.send('/obj/create', {
      obj: { project_id: project, object_id, builtin_object_class: 'AnnotationSpec', val: { name, field_schema } },
    })
  await make('tone', 'Tone', { type: 'string', enum: ['kind', 'rude'] })
  await make('score', 'Score', { type: 'integer', minimum: 0, maximum: 10 })
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const go = (path: string) => page.goto(world.url + path)
const traceHref = (id: string, more = '') => `/p/${project}/traces/${id}${more}`

describe('a trace', () => {
  it('knows its place in all of the list that was loaded, also after a reload', async () => {
    const { home, close } = await startFilled({ project: 'acme/trace-places' })
    await go(home)
    await page.getByText(/of 25\d/).waitFor()
    const table = page.getByRole('table', { name: 'Calls' })
    await table.focus()
    for (let n = 0; n < 6; n++) await page.keyboard.press('PageDown')
    await page.locator('.rows .row.at .name', { hasText: 'many' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/traces/)
    const place = page.getByText(/^Trace \d+ of \d+$/)
    const [at = 0, of = 0] = (await place.innerText()).match(/\d+/g)?.map(Number) ?? []
    expect(of).toBeGreaterThanOrEqual(200)
    expect(at).toBeGreaterThan(60)
    await page.reload()
    await page.getByText(`Trace ${at} of ${of}`).waitFor()
    await page.keyboard.press('[')
    await page.getByText(`Trace ${at - 1} of ${of}`).waitFor()
    await page.getByRole('link', { name: 'Calls', exact: true }).last().click()
    await page.waitForURL((to) => to.pathname === home)
    await close()
  })

  it('leaves room for names beside the reader in a small window, and cuts no costs off', async () => {
    const trace = newTrace()
    const usageOf = (prompt_tokens: number) => ({ 'gpt-4o-mini': { prompt_tokens, completion_tokens: 1, requests: 1 } })
    const spans = [1, 1_481].map((tokens) =>
      call(project, { trace, name: `asked ${tokens}`, startMs: Date.now() - 60_000 + tokens, usage: usageOf(tokens) }),
    )
    await world.send(spans)
    await page.setViewportSize({ width: 1100, height: 800 })
    await go(traceHref(trace))
    const named = page.locator('.span', { hasText: 'asked 1481' })
    await named.locator('.label').click()
    await page.locator('.reader').waitFor()
    const name = await named.locator('.name').boundingBox()
    expect(name?.width).toBeGreaterThan(160)
    expect(await named.locator('.tokens').isVisible()).toBe(false)
    const costs = page.locator('.span .cells > .cost')
    expect(await costs.allTextContents()).toEqual(['<$0.00001', '$0.000223'])
    expect(await costs.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth))).toEqual([])
    await page.setViewportSize({ width: 1600, height: 800 })
    await named.locator('.tokens').waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('keeps what its timeline shows in the address', async () => {
    await go(traceHref(world.trace))
    await page.locator('.span .label', { hasText: 'fetch' }).waitFor()
    await page.keyboard.press('+')
    await page.waitForURL((to) => /zoom=\d+-\d+/.test(to.search))
    await page.locator('.minimap .window').waitFor()
    const { search } = new URL(page.url())
    await page.reload()
    await page.locator('.minimap .window').waitFor()
    expect(new URL(page.url()).search).toBe(search)
    await page.keyboard.press('0')
    await page.waitForURL((to) => !to.search.includes('zoom'))
  })

  it('that runs says since when nothing came, and its bars grow while the server cannot be asked', async () => {
    const trace = newTrace()
    const started = { project_id: project, op_name: 'slow', attributes: {}, inputs: {} }
    const start = { ...started, id: newId(), trace_id: trace, started_at: new Date(Date.now() - 300_000).toISOString() }
    await world.server.send('/call/start', { start })
    await go(traceHref(trace))
    await page.getByText(/running; no updates since/).waitFor()
    const took = () => page.locator('.spans .span').nth(1).innerText()
    await page.route('**/trace/tree', (route) => route.abort())
    const before = await page.locator('.foot').innerText()
    await expectSoon(() => page.locator('.foot').innerText()).not.toBe(before)
    expect(await took()).toContain('slow')
    await page.unroute('**/trace/tree')
    here.faults.splice(0, Number.POSITIVE_INFINITY, ...here.faults.filter((line) => !line.includes('ERR_FAILED')))
  })

  it('that may lack spans says so, and is read again until it lacks none', async () => {
    await page.route('**/trace/tree', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, headers: { ...response.headers(), 'x-callhouse-stale': '3000' } })
    })
    const trace = newTrace()
    await world.send([{ ...call(project, { id: newId(), name: 'just written' }), trace_id: trace }])
    await go(traceHref(trace))
    await page.getByText('Data from the last 3 s').waitFor()
    await page.unroute('**/trace/tree')
    await page.getByText('may be missing').waitFor({ state: 'hidden', timeout: 15_000 })
  })

  it('stands in the order of starts, as calls of models alone, and by the path of its names', async () => {
    await go(traceHref(world.trace, '?mode=start'))
    const labels = page.locator('.span .label')
    const names = () => labels.allInnerTexts().then((texts) => texts.map((text) => text.split(' Error')[0]))
    const all = ['support_agent', 'chat first', 'execute_tool search', 'fetch', 'chat second']
    await expectSoon(names).toEqual(all)
    await page.getByRole('button', { name: 'View: Timeline order' }).click()
    await expectSoon(names).toEqual(['chat first', 'chat second'])
    await page.getByPlaceholder('Find in 2 LLM calls').waitFor()
    expect(await everybodysFaults(page, 'View: LLM calls')).toEqual([])
    await page.getByRole('button', { name: 'View: LLM calls' }).click()
    const paths = page.getByRole('table', { name: 'Spans grouped by path' })
    await expectSoon(() => paths.getByRole('row').count()).toBe(6)
    expect(await everybodysFaults(page, 'by path')).toEqual([])
    await paths.focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => to.searchParams.has('call') && !to.searchParams.has('mode'))
  })

  it('is a flame graph by time or by names, in which arrows choose the span that the reader shows', async () => {
    await go(traceHref(world.trace, '?mode=flame'))
    const flame = page.getByRole('group', { name: 'Flame graph' })
    await flame.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.getByRole('status').getByText('chat first 900 ms, success').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('status').getByText('fetch 300 ms, error').waitFor()
    await page.waitForURL((to) => to.searchParams.get('call') === world.failed)
    expect(await everybodysFaults(page, 'flame')).toEqual([])
    const painted = () =>
      page.evaluate<boolean>(`(() => {
        const canvas = document.querySelector('.flame canvas')
        // Too narrow for both, it was hidden until now.
        if (canvas.width === 0) return false
        return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0)
      })()`)
    await expectSoon(painted).toBe(true)
    // The whole width of the first level is the root.
    await flame.click({ position: { x: 10, y: 8 } })
    await page.waitForURL((to) => to.searchParams.get('call') === world.root)
    await page.getByRole('button', { name: 'View: Flame graph' }).click()
    await page.waitForURL((to) => to.searchParams.get('mode') === 'flame-paths')
    await flame.click({ position: { x: 10, y: 8 } })
    await page.getByRole('status').getByText('support_agent 4.00 s in all').waitFor()
  })

  it('is a flame graph that follows what is looked for: the rest is pale, n and p go from match to match', async () => {
    await go(traceHref(world.trace, '?mode=flame'))
    const says = (text: RegExp) => expectSoon(() => page.locator('.flame-said').innerText()).toMatch(text)
    await says(/success$/)
    /** Pixels of the canvas, summed. */
    const ink = () =>
      page.evaluate<number>(`(() => {
        const canvas = document.querySelector('.flame canvas')
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        let sum = 0
        for (let n = 0; n < data.length; n += 4) if (data[n + 3] > 0) sum += 765 - data[n] - data[n + 1] - data[n + 2]
        return sum
      })()`)
    const before = await ink()
    await page.keyboard.press('/')
    await page.keyboard.type('fetch')
    await says(/^.*, success \d+ of \d+ match, this one does not$/)
    await expectSoon(ink).toBeLessThan(before * 0.8)
    await page.keyboard.press('Enter')
    await says(/fetch 300 ms, error/)
    await page.waitForURL((to) => to.searchParams.get('call') === world.failed)
    // The hidden part of the zoom comes into view.
    await go(traceHref(world.trace, '?mode=flame&find=fetch&zoom=3500000-3800000'))
    await says(/1 of 5 match/)
    await page.getByRole('searchbox').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => to.searchParams.get('call') === world.failed)
    expect(new URL(page.url()).searchParams.get('zoom')).toBe('1100000-1400000')
    await page.keyboard.press('Escape')
    await go(traceHref(world.trace, `?mode=flame&find=fetch&call=${world.failed}`))
    await page.getByRole('group', { name: 'Flame graph' }).focus()
    await page.keyboard.press('p')
    await says(/ of \d+ match$/)
    expect(await everybodysFaults(page, 'found in the flame')).toEqual([])
    await go(traceHref(world.trace, '?mode=flame-paths&find=chat'))
    await says(/^Arrow keys move between boxes. 2 of 5 match$/)
    await page.keyboard.press('n')
    await says(/^chat \S+ .*in all.* match$/)
  })

  it('is filtered by status and model, and searched in payloads', async () => {
    await go(traceHref(world.trace))
    const labels = page.locator('.span .label')
    await expectSoon(() => labels.count()).toBe(5)
    await page.getByLabel('Status of span').selectOption({ label: 'Error' })
    await expectSoon(() => labels.count()).toBe(2)
    await page.getByRole('search').getByText('1 of 5 spans').waitFor()
    await page.getByLabel('Status of span').selectOption('')
    await page.getByLabel('Model of span').selectOption('model-a')
    await expectSoon(() => labels.count()).toBe(3)
    await page.getByLabel('Model of span').selectOption('')
    await page.getByLabel('Find in this trace').fill('ON ITS WAY')
    await expectSoon(() => labels.count()).toBe(0)
    await page.getByRole('button', { name: 'Search inputs and outputs' }).click()
    await page.getByText('1 by input or output').waitFor()
    await expectSoon(() => labels.allInnerTexts()).toEqual(['support_agent', 'chat second'])
    await page.reload()
    await page.getByText('1 by input or output').waitFor()
    await expectSoon(() => labels.count()).toBe(2)
  })

  it('has acts of a call: another name, a queue, copies, a file, a comparison, deletion', async () => {
    const trace = newTrace()
    const [root, one, other] = [newId(), newId(), newId()]
    await world.send([
      call(project, { id: root, trace, name: 'acts', startMs: Date.now() - 50_000 }),
      call(project, {
        id: one,
        trace,
        parent: root,
        name: 'same',
        startMs: Date.now() - 49_000,
        inputs: { it: "s's" },
      }),
      call(project, { id: other, trace, parent: root, name: 'same', startMs: Date.now() - 48_000 }),
    ])
    await go(traceHref(trace, `?call=${one}`))
    const act = async (name: string) => {
      await page.getByRole('button', { name: 'Actions of the call' }).click()
      await page.getByRole('button', { name, exact: true }).click()
    }
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
    await page.getByRole('button', { name: 'Actions of the call' }).click()
    await page.getByRole('button', { name: 'Rename…' }).waitFor()
    expect(await everybodysFaults(page, 'acts')).toEqual([])
    await page.keyboard.press('Escape')
    await act('Copy as curl')
    await page.getByText('Command copied').waitFor()
    expect(await clipboard()).toBe(
      `curl -sS -X POST '${world.url}/call/read' -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${JSON.stringify({ project_id: project, id: one })}'`,
    )
    await act('Copy as JSON line')
    await page.getByText('Record copied').waitFor()
    expect(JSON.parse(await clipboard())).toMatchObject({ id: one, inputs: { it: "s's" } })
    const [download] = await Promise.all([page.waitForEvent('download'), act('Save trace as JSON Lines')])
    const lines = (await text(await download.createReadStream())).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id).sort()).toEqual([root, one, other].sort())
    await act('Rename…')
    await page.getByLabel('Name', { exact: true }).fill('<b>renamed</b>')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: '<b>renamed</b>' }).waitFor()
    await page.locator('.span .label', { hasText: '<b>renamed</b>' }).waitFor()
    await act('Add to queue…')
    await page.getByRole('dialog', { name: 'Add 1 call to queue' }).waitFor()
    await page.keyboard.press('Escape')
    await act('Compare with…')
    const letLoad = await hold(page, '**/assets/lazy-routes-*')
    await page.getByRole('dialog').getByRole('list').getByRole('button', { name: /same/ }).first().click()
    await page.waitForURL(
      (to) => to.searchParams.get('a') === `call/${one}` && to.searchParams.get('b') === `call/${other}`,
    )
    expect(await page.getByRole('dialog').count()).toBe(0)
    letLoad()
    await page.goBack()
    await act('Delete…')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByText('1 deleted').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
    await expectSoon(() => page.locator('.span .label').allInnerTexts()).toEqual(['acts', 'same'])
  })

  it('takes answers to questions of the project, one of each, in the words of its schema when they are refused', async () => {
    await go(traceHref(world.trace, `?call=${world.answered}&tab=feedback`))
    const form = page.getByRole('form', { name: 'Answer a question' })
    await form.getByRole('combobox', { name: 'Question' }).selectOption('Score')
    const save = form.getByRole('button', { name: 'Save answer' })
    await form.getByRole('textbox', { name: 'Score' }).fill('42')
    await page.keyboard.press('Enter')
    await form.getByRole('alert').waitFor()
    here.faults.splice(0)
    await form.getByRole('textbox', { name: 'Score' }).fill('7')
    await page.keyboard.press('Enter')
    const said = page.locator('.feedback li')
    await expectSoon(() => said.allInnerTexts()).toEqual([expect.stringMatching(/^score[\s\S]*7$/)])
    await form.getByRole('textbox', { name: 'Score' }).fill('8')
    await save.click()
    await expectSoon(() => said.allInnerTexts()).toEqual([expect.stringMatching(/^score[\s\S]*8$/)])
    await form.getByRole('combobox', { name: 'Question' }).selectOption('Tone')
    await form.getByRole('button', { name: 'rude' }).click()
    await save.click()
    await expectSoon(() => said.count()).toBe(2)
    expect(await everybodysFaults(page, 'answers in the reader')).toEqual([])
    await page.reload()
    await expectSoon(() => form.getByRole('textbox', { name: 'Score' }).inputValue()).toBe('8')
  })

  it('changes nothing for a key that reads only', async () => {
    const keys = openKeys({ dataDir: world.server.dataDir, configured: [] })
    const { text: key } = keys.create({ userId: 'reader', role: 'read', grants: ['acme'] })
    const { page: fresh, context, faults } = await world.open({ key })
    await fresh.goto(world.url + traceHref(world.trace))
    await fresh.getByRole('button', { name: 'Actions of the call' }).click()
    for (const name of ['Rename…', 'Add to queue…', 'Delete…'])
      expect(await fresh.getByRole('button', { name }).isDisabled(), name).toBe(true)
    expect(await fresh.getByRole('button', { name: 'Copy as curl' }).isDisabled()).toBe(false)
    await fresh.goto(world.url + traceHref(world.trace, `?call=${world.answered}&tab=feedback`))
    await fresh.getByRole('combobox', { name: 'Question' }).waitFor()
    expect(await fresh.getByRole('textbox', { name: 'Score' }).isDisabled()).toBe(true)
    expect(faults).toEqual([])
    await context.close()
  })

  it('leads from a call of a tool in a conversation to the span of the tool', async () => {
    await go(traceHref(world.trace, `?call=${world.answered}`))
    await page.getByRole('list', { name: 'Messages' }).getByRole('link', { name: 'search' }).click()
    await page.getByRole('heading', { name: 'execute_tool search' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'chat second' }).waitFor()
  })

  it('tells what a call cost and shows the code of its op', async () => {
    const [priced, trace] = [newId(), newTrace()]
    const { send } = world.server
    const code = 'def ask(question):\n    return "<b>" + question\n'
    const { object_id, digest } = await send<{ object_id: string; digest: string }>(`/v2/${project}/ops`, {
      name: 'ask',
      source_code: code,
    })
    const cost = { prompt_token_cost: 0.000002, completion_token_cost: 0.00001, effective_date: '2020-01-01T00:00:00Z' }
    await send('/cost/create', { project_id: project, costs: { 'priced-model': cost } })
    const usage = {
      'priced-model': { prompt_tokens: 1_500, completion_tokens: 20, requests: 1 },
      'free <b>model': { prompt_tokens: 1, requests: 1 },
    }
    await world.send([
      { ...call(project, { id: priced, trace, usage }), op_name: `weave:///${project}/op/${object_id}:${digest}` },
    ])
    await go(traceHref(trace))
    await page.getByRole('tab', { name: 'Cost' }).click()
    const bill = page.getByRole('group', { name: 'Cost of this call' })
    await expectSoon(() => bill.getByRole('row', { name: 'uncached input' }).innerText()).toMatch(
      /1500 input\s+1,500\s+\$2\.00\s+\$0\.003/,
    )
    await bill.getByText('Price of the project, provider default, effective 2020-01-01.').waitFor()
    await bill.getByText('Cached tokens: nothing was cached.').waitFor()
    await bill.getByRole('heading', { name: 'free <b>model' }).waitFor()
    await bill.getByText('No price for this model, so no cost.').waitFor()
    expect(await everybodysFaults(page, 'cost')).toEqual([])
    await page.getByRole('tab', { name: 'Code' }).click()
    const shown = page.getByRole('group', { name: 'Code of the op' })
    await expectSoon(() => shown.locator('pre').textContent()).toBe(code)
    expect(await everybodysFaults(page, 'code')).toEqual([])
    await page.reload()
    await shown.getByRole('link', { name: object_id }).click()
    await page.waitForURL(/objects/)
  })

  it('asks again each time that the server is too busy, not once', async () => {
    // The second read, which follows from the click, is refused.
    const href = traceHref(world.trace, `?call=${world.failed}&tab=feedback`)
    await Promise.all([page.waitForResponse('**/feedback/query'), go(href)])
    let refused = 0
    await page.route('**/feedback/query', (route) => {
      if (refused >= 3) return route.continue()
      refused++
      return route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { reason: 'busy' } })
    })
    await page.getByRole('button', { name: 'Good' }).click()
    await page.getByRole('alert').getByText('busy').waitFor()
    await expectSoon(() => refused).toBe(3)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.unroute('**/feedback/query')
    here.faults.splice(0, Number.POSITIVE_INFINITY, ...here.faults.filter((line) => !line.includes('503')))
  })
})
