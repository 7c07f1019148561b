// tier: deep browser
// The filter line of the list of calls: what it suggests, takes, refuses and searches for.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { type Filled, startFilled } from './filled.ts'
import { axeFaults, call, everybodysFaults, hold, newId, type Opened } from './world.ts'

let world: Filled
let home: string
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project: 'acme/list-filter' })
  home = world.home
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const go = (path: string) => page.goto(world.url + path)
const rowNames = () => page.locator('.rows .row .name').allInnerTexts()

describe('calls by their filter', () => {
  it('are filtered by what the line suggests: fields, then values with their counts', async () => {
    await go(`${home}?view=all`)
    await page.locator('.row .name').first().waitFor()
    const line = page.getByRole('combobox', { name: 'Filter calls' })
    await line.fill('stat')
    await page.getByRole('option', { name: 'status:' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expectSoon(() => line.inputValue()).toBe('status:')
    await page.getByRole('option', { name: /^error/ }).click()
    await expectSoon(() => line.inputValue()).toBe('status:error ')
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => to.searchParams.get('q') === 'status:error')
    await expectSoon(rowNames).toEqual(['fetch'])
  })

  it('are filtered and shown by metadata under the name that was sent, as soon as the server knows it', async () => {
    let asked = 0
    const ofSpan = (name: string) => `attributes.otel_span.attributes.${name}`
    const id = newId()
    const otel_dump = { attributes: { metadata: { tenant: 'of-a-span' }, shard: 'seven' } }
    await world.send([{ ...call('acme/list-filter', { id }), otel_dump }])
    await page.route('**/calls/fields', async (route) => {
      const path = 'attributes.metadata.tenant'
      const fields = [{ path, types: { string: 3 }, calls: 3 }]
      // The index of names follows the calls.
      const ofSpans = ['metadata.tenant', 'shard'].map((name) => ({
        path: ofSpan(name),
        types: { string: 2 },
        calls: 2,
      }))
      const span_attributes = { fields: ofSpans, sampled_calls: 2 }
      await route.fulfill({ json: { fields: asked++ === 0 ? [] : fields, sampled_calls: 3, span_attributes } })
    })
    await go(`${home}?view=all`)
    await page.locator('.row .name').first().waitFor()
    const line = page.getByRole('combobox', { name: 'Filter calls' })
    await line.fill('ten')
    await page.getByRole('option', { name: /^metadata\.tenant/, selected: true }).waitFor()
    await page.getByText('Counts of the latest 3 calls').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await line.press('Tab')
    await expectSoon(() => line.inputValue()).toBe('metadata.tenant:')
    await line.fill('tena')
    await page.getByRole('option', { name: 'Search for "tena"' }).click()
    await page.waitForURL((to) => to.searchParams.get('q') === 'tena')
    await line.fill('tena:bl')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Did you mean metadata.tenant:bl?' }).click()
    await page.waitForURL((to) => to.searchParams.get('q') === 'metadata.tenant:bl')
    await go(`${home}?view=all`)
    await page.locator('.row .name').first().waitFor()
    await line.fill('metadata.')
    await page.getByRole('option', { name: /^metadata\.tenant/ }).click()
    await expectSoon(() => line.inputValue()).toBe('metadata.tenant:')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Columns' }).click()
    const chooser = page.getByRole('dialog', { name: 'Columns' })
    await chooser.getByRole('searchbox').fill('metadata.t')
    await chooser.getByRole('checkbox', { name: /^metadata\.tenant/ }).check()
    await page.waitForURL((to) => to.searchParams.get('cols')?.endsWith('attributes.metadata.tenant') === true)
    await chooser.getByRole('searchbox').fill('metadata.region')
    await chooser.getByRole('checkbox', { name: /^metadata\.region/ }).check()
    await page.waitForURL((to) => to.searchParams.get('cols')?.endsWith('attributes.metadata.region') === true)
    await chooser.getByText('From the latest 3 calls and 2 spans.').waitFor()
    await chooser.getByRole('searchbox').fill('shard')
    await chooser.getByRole('checkbox', { name: 'shard' }).check()
    await page.waitForURL((to) => to.searchParams.get('cols')?.endsWith(ofSpan('shard')) === true)
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'metadata.tenant' }).waitFor()
    await page.getByRole('columnheader', { name: 'shard' }).waitFor()
    // The column of a name has the values of spans, too.
    const row = page.locator('.row', { hasText: 'seven' })
    await row.getByText('of-a-span').waitFor()
    await world.server.send('/calls/delete', { project_id: 'acme/list-filter', call_ids: [id] })
    await page.unroute('**/calls/fields')
  })

  it('take nothing from an address that is none of what they know', async () => {
    await go(`${home}?view=evil&range=all&sort=evil`)
    await page.getByRole('button', { name: 'Time range: all time, UTC' }).waitFor()
    expect(await page.getByRole('button', { name: 'Compare with the rest' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Traces' }).getAttribute('aria-pressed')).toBe('true')
  })

  it('are searched for after Escape, or the line is left with what was asked for', async () => {
    await go(`${home}?view=all`)
    await page.locator('.row .name').first().waitFor()
    const line = page.getByRole('combobox', { name: 'Filter calls' })
    await line.fill('nowhere-at-all')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => to.searchParams.get('q') === 'nowhere-at-all')
    await page.getByRole('button', { name: 'Search names' }).waitFor()
    await line.fill('nowhere-else')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expectSoon(() => line.inputValue()).toBe('nowhere-at-all')
    expect(await page.evaluate(`document.activeElement?.getAttribute('role')`)).not.toBe('combobox')
  })

  it('of a day are those of the zone that the page shows times in, in the line and in the range menu', async () => {
    const day = Date.parse('2026-01-04T15:00Z')
    const listed = here.context.waitForEvent('request', (request) => request.url().endsWith('/calls/stream_query'))
    await go(`${home}?view=all&tz=Asia/Tokyo&q=started%3E%3D2026-01-05`)
    expect((await listed).postDataJSON().query).toEqual({
      $expr: { $gte: [{ $getField: 'started_at' }, { $literal: day / 1000 }] },
    })
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByRole('textbox', { name: 'Custom range' }).fill('2026-01-05')
    await page.keyboard.press('Enter')
    const range = [day, day + 86_400_000].map((ms) => new Date(ms).toISOString()).join('~')
    await page.waitForURL((to) => to.searchParams.get('range') === range)
  })

  it('are not searched for what says nothing: it is marked, with what is meant, and a press asks for that', async () => {
    await go(`${home}?view=all`)
    await page.locator('.row .name').first().waitFor()
    const line = page.getByRole('combobox', { name: 'Filter calls' })
    await line.fill('statsu:failed')
    await page.keyboard.press('Enter')
    await page.locator('.chip.wrong', { hasText: 'statsu:failed' }).waitFor()
    expect(await line.getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator('.rows .row').count()).toBe(0)
    await line.fill('status:err')
    // A value that shows as taken is taken, and requested: it ends its condition.
    await page.getByRole('option', { name: /^error/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => to.searchParams.get('q') === 'status:error')
    await expectSoon(rowNames).toEqual(['fetch'])
    await go(`${home}?view=all&q=status:failed`)
    await page.getByRole('button', { name: 'Did you mean status:error?' }).click()
    await expectSoon(rowNames).toEqual(['fetch'])
  })

  it('that are searched for long say what is searched, show no others, and can be cancelled', async () => {
    await go(`${home}?view=all`)
    await page.locator('.row .name').first().waitFor()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const isText = (body: string | null) => body?.includes('needle-nowhere') === true
    // The list is read by the worker of the page.
    await page.context().route('**/calls/stream_query', async (route) => {
      if (isText(route.request().postData())) await held
      await route.continue().catch(() => undefined)
    })
    await page.getByRole('combobox', { name: 'Filter calls' }).fill('needle-nowhere')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Searching the text of all calls…' }).waitFor()
    expect(await page.locator('.rows .row').count()).toBe(0)
    const givenUp = page.context().waitForEvent('requestfailed', (request) => isText(request.postData()))
    await page.getByRole('button', { name: 'Cancel' }).click()
    await givenUp
    await page.getByRole('heading', { name: 'The search was cancelled' }).waitFor()
    release()
    await page.getByRole('button', { name: 'Search again' }).click()
    await page.getByText('No calls match').waitFor()
    await page.context().unroute('**/calls/stream_query')
    // Where nothing was found before, rows that are asked for show as such.
    const letGo = await hold(page.context(), '**/calls/stream_query')
    await page.getByRole('combobox', { name: 'Filter calls' }).fill('op:nowhere')
    await page.keyboard.press('Enter')
    await page.locator('.rows .ghost').first().waitFor()
    letGo()
    await page.getByText('No calls match').waitFor()
    await page.context().unroute('**/calls/stream_query')
  })

  it('mark the term of a filter that the server refuses, with its reason', async () => {
    await go(`${home}?view=all&q=${encodeURIComponent('status:error has:summary.weave.strange')}`)
    await page.getByRole('heading', { name: /strange.* is not allowed/ }).waitFor()
    const wrong = page.locator('.chip.wrong')
    await expectSoon(() => wrong.allInnerTexts()).toEqual([
      expect.stringMatching(/^has:summary\.weave\.strange\s+not accepted: .*is not allowed/),
    ])
    const line = page.getByRole('combobox', { name: 'Filter calls' })
    expect(await line.getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator(`#${await line.getAttribute('aria-describedby')}`).innerText()).toContain(
      'is not allowed',
    )
    expect(await everybodysFaults(page, 'a refused term')).toEqual([])
    await page.keyboard.press('f')
    await expectSoon(() => page.evaluate('String(getSelection())')).toBe('has:summary.weave.strange')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove has:summary.weave.strange' }).click()
    await expectSoon(rowNames).toEqual(['fetch'])
    expect(await wrong.count()).toBe(0)
    // The browser's own lines about an answer that is no 200.
    expect(here.faults.splice(0).filter((fault) => !fault.includes('422'))).toEqual([])
  })

  it('are said to be slow to find by words before anybody asks, where the server has no index of words', async () => {
    await go(`${home}?view=all`)
    await page.locator('.row .name').first().waitFor()
    const line = page.getByRole('combobox', { name: 'Filter calls' })
    await line.fill('status:error')
    const slow = page.getByText('Full-text search: may be slow')
    expect(await slow.count()).toBe(0)
    await line.fill('status:error refund')
    await slow.waitFor()
    expect(new URL(page.url()).searchParams.has('q')).toBe(false)
    expect(await everybodysFaults(page, 'a slow filter')).toEqual([])
  })
})
