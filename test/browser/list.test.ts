// tier: deep browser
// The list of calls as a reader shapes it: columns, calls over time, what sets some apart.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { type Filled, startFilled } from './filled.ts'
import { call, everybodysFaults, type Opened } from './world.ts'

let world: Filled
let home: string
let trace: string
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project: 'acme/list' })
  ;({ home, trace } = world)
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const go = (path: string) => page.goto(world.url + path)
const rowNames = () => page.locator('.rows .row .name').allInnerTexts()

describe('calls', () => {
  it('show the columns that are chosen, in that order, also after a reload', async () => {
    await go(`${home}?q=op:support_agent`)
    await page.locator('.row .name').first().waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    const chooser = page.getByRole('dialog', { name: 'Columns' })
    await chooser.getByLabel('Trace', { exact: true }).check()
    await chooser.getByRole('button', { name: 'Remove output' }).click()
    await chooser.getByRole('button', { name: 'Move trace_id left' }).click()
    await page.keyboard.press('Escape')
    await page.waitForURL((to) => to.searchParams.get('cols') === 'trace_id,inputs')
    await page.getByRole('button', { name: 'Columns' }).click()
    const chosen = chooser.getByRole('list', { name: 'Chosen columns' }).getByRole('listitem')
    await chosen.filter({ hasText: 'Inputs' }).dragTo(chosen.filter({ hasText: 'Trace' }))
    await page.waitForURL((to) => to.searchParams.get('cols') === 'inputs,trace_id')
    await chosen.filter({ hasText: 'Inputs' }).dragTo(chosen.filter({ hasText: 'Trace' }))
    await page.waitForURL((to) => to.searchParams.get('cols') === 'trace_id,inputs')
    await page.keyboard.press('Escape')
    await page.reload()
    await page.locator('.row').getByText(trace).waitFor()
    await expectSoon(() => page.getByRole('columnheader').allInnerTexts()).toEqual(
      expect.arrayContaining(['Trace', 'Inputs']),
    )
    await expectSoon(() => page.getByRole('columnheader', { name: 'Output' }).count()).toBe(0)
    // A path of a payload, whatever it holds.
    await go(`${home}?q=op:support_agent&cols=inputs.order,inputs`)
    await page.locator('.row').getByText('8812', { exact: true }).first().waitFor()
  })

  it('show their size and what was said of them', async () => {
    const weave_ref = `weave:///acme/list/call/${world.root}`
    const item = { project_id: 'acme/list', weave_ref }
    const batch = [
      { ...item, feedback_type: 'wandb.reaction.1', payload: { emoji: '👍' } },
      { ...item, feedback_type: 'wandb.note.1', payload: { note: 'late' } },
      { ...item, feedback_type: 'quality', payload: { said: '<b>' } },
    ]
    await world.server.send('/feedback/batch/create', { batch })
    await go(`${home}?q=op:support_agent`)
    await page.getByRole('button', { name: 'Columns' }).click()
    const chooser = page.getByRole('dialog', { name: 'Columns' })
    await chooser.getByLabel('Feedback', { exact: true }).check()
    await chooser.getByLabel('Size', { exact: true }).check()
    await page.keyboard.press('Escape')
    await page.waitForURL((to) => to.searchParams.get('cols') === 'inputs,output,feedback,size')
    await page.locator('.row').getByText('👍 1 · 1 note · quality: {"said":"<b>"}').waitFor()
    await page
      .locator('.row')
      .getByTitle(/^\d+ bytes$/)
      .waitFor()
  })

  it('are chosen from in a dialog that stays where it is when its fields arrive', async () => {
    let answer = (): void => undefined
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/calls/fields', async (route) => {
      await held
      await route.continue()
    })
    await go(`${home}?view=all`)
    await page.locator('.rows .row .name').first().waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    const chooser = page.getByRole('dialog', { name: 'Columns' })
    const search = chooser.getByRole('searchbox', { name: 'Find a field' })
    const before = [await search.boundingBox(), await chooser.boundingBox()]
    answer()
    await chooser.getByText(/^From the latest/).waitFor()
    expect([await search.boundingBox(), await chooser.boundingBox()]).toEqual(before)
    await page.unroute('**/calls/fields')
    await page.keyboard.press('Escape')
  })

  it('have names that end in dots where they are longer than their column', async () => {
    await world.send([call(world.project, { name: 'invoke_agent_concierge_of_the_whole_shop_and_its_branches' })])
    await go(`${home}?view=all&q=name:invoke_agent_concierge_of_the_whole_shop_and_its_branches`)
    await page.locator('.rows .row .name > a').first().waitFor()
    const cut = await page.evaluate<unknown[]>(`(() => {
      const a = document.querySelector('.rows .row .name > a')
      const { right } = a.parentElement.getBoundingClientRect()
      return [getComputedStyle(a).textOverflow, a.scrollWidth > a.clientWidth, a.getBoundingClientRect().right <= right]
    })()`)
    expect(cut).toEqual(['ellipsis', true, true])
  })

  it('keep pinned columns in view, as wide as a reader made them, also after a reload', async () => {
    await go(`${home}?q=op:support_agent&cols=inputs.order,inputs,output,id,trace_id&right=output`)
    await page.locator('.row').getByText('8812', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    const chooser = page.getByRole('dialog', { name: 'Columns' })
    await chooser.getByLabel('Pin inputs.order').selectOption('Left')
    await chooser.getByLabel('Width of inputs.order').selectOption('Narrow')
    await chooser.getByLabel('Width of inputs', { exact: true }).selectOption('Widest')
    expect(await everybodysFaults(page, 'columns')).toEqual([])
    await page.keyboard.press('Escape')
    await page.waitForURL((to) => to.searchParams.get('left') === 'inputs.order')
    await page.reload()
    const places = () =>
      page.evaluate<Record<string, number[]>>(`Object.fromEntries(
        [...document.querySelectorAll('[role=columnheader]')].map((cell) => {
          const { left, right, width } = cell.getBoundingClientRect()
          return [cell.textContent, [left, right, width].map(Math.round)]
        }))`)
    await page.locator('.row').getByText('8812', { exact: true }).first().waitFor()
    const before = await places()
    expect([before['inputs.order']?.[2], before.Inputs?.[2]]).toEqual([80, 640])
    await page.getByRole('table', { name: 'Calls' }).evaluate((box) => box.scrollBy(900, 0))
    await expectSoon(async () => (await places()).Started?.[1]).toBeLessThan(0)
    const after = await places()
    expect(after.Name?.[0]).toBeLessThanOrEqual(before.Name?.[0] ?? 0)
    expect(after['inputs.order']?.[0]).toBeGreaterThan(after.Name?.[1] ?? 0)
    expect(after.Output).toEqual(before.Output)
    expect(after.Output?.[1]).toBeLessThanOrEqual(1280)
    expect(await everybodysFaults(page, 'pinned')).toEqual([])
  })

  it('use the whole width of a wide window, however short their texts are', async () => {
    await page.setViewportSize({ width: 2400, height: 800 })
    await go(`${home}?view=all&cols=-`)
    await page.locator('.rows .row .name').first().waitFor()
    const narrower = await page.evaluate<number[]>(`[...document.querySelectorAll('.rows [role=row]')].map((row) =>
      row.closest('.rows').clientWidth - row.getBoundingClientRect().width)`)
    expect(narrower.length).toBeGreaterThan(1)
    expect(narrower.filter((pixels) => Math.abs(pixels) > 1)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('are drawn over time; keys and the mouse choose a range', async () => {
    await go(`${home}?view=all&range=1h`)
    const chart = page.getByRole('slider', { name: /Calls over time/ })
    await expectSoon(() => chart.getAttribute('aria-valuetext')).toContain('1 with errors')
    await chart.focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => (to.searchParams.get('range') ?? '').includes('~'))
    const [from = '', to = ''] = (new URL(page.url()).searchParams.get('range') ?? '').split('~')
    expect(Date.parse(to) - Date.parse(from)).toBeLessThanOrEqual(60_000)
    await go(`${home}?view=all&range=1h`)
    await expectSoon(() => chart.getAttribute('aria-valuetext')).toContain('1 with errors')
    const box = await chart.boundingBox()
    if (!box) throw new Error('no chart')
    await page.mouse.move(box.x + 10, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width / 3, box.y + 10, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL((now) => (now.searchParams.get('range') ?? '').includes('~'))
  })

  it('of a range, or marked, say what sets them apart from the others', async () => {
    const startMs = Date.now() - 2 * 86_400_000
    const inputs = { question: 'Why?', tone: 'rude words' }
    await world.send(
      Array.from({ length: 4 }, (_, n) =>
        call(world.project, { name: 'earlier', startMs: startMs + n * 1_000, inputs }),
      ),
    )
    // Values are counted in an index that follows the calls.
    const asked = { project_id: world.project, fields: ['inputs.tone'] }
    type Values = { fields: Record<string, { values: { calls: number }[] }> }
    const counted = () => world.server.send<Values>('/calls/values', asked)
    await expectSoon(async () => (await counted()).fields['inputs.tone']?.values[0]?.calls, { withinMs: 90_000 }).toBe(
      4,
    )
    const range = [-60_000, 60_000].map((ms) => new Date(startMs + ms).toISOString()).join('~')
    await go(`${home}?view=all&range=${range}`)
    await page.locator('.rows .row .name').first().waitFor()
    await page.getByRole('button', { name: 'Compare with the rest' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: /Compare with the rest/ })
    const rude = dialog.getByRole('listitem').filter({ hasText: 'inputs.tone' })
    await expectSoon(() => rude.innerText()).toMatch(/rude words\s+100 % here\s+0 % elsewhere/)
    await dialog.getByText(/the latest 4 calls in this time range, and of the latest \d{3} others/).waitFor()
    await page.reload()
    await rude.waitFor()
    expect(await everybodysFaults(page, 'what is different')).toEqual([])
    await rude.getByRole('button', { name: 'Only inputs.tone rude words' }).click()
    await page.waitForURL(
      (to) => to.searchParams.get('q') === 'inputs.tone:"rude words"' && !to.searchParams.has('differs'),
    )
    await go(`${home}?view=all&q=op:(earlier,support_agent)`)
    await expectSoon(rowNames).toHaveLength(5)
    await page.getByRole('table', { name: 'Calls' }).focus()
    for (const key of ['End', 'x', 'ArrowUp', 'x']) await page.keyboard.press(key)
    await page.getByRole('button', { name: 'Compare with the rest' }).click()
    await dialog.getByText(/the latest 2 calls that are marked, and of the latest 3 others/).waitFor()
    // Two of the others have it, one has not.
    await expectSoon(() => rude.innerText()).toMatch(/100 % here\s+67 % elsewhere/)
    await page.keyboard.press('Escape')
    await expectSoon(() => dialog.count()).toBe(0)
    // All calls of the filter are marked: the rest has others.
    await go(`${home}?view=all&q=op:earlier`)
    await expectSoon(rowNames).toHaveLength(4)
    await page.getByRole('table', { name: 'Calls' }).focus()
    await page.keyboard.press('Control+a')
    await page.getByRole('button', { name: 'Compare with the rest' }).click()
    await dialog
      .getByText(/without it\. Shares of the latest 4 calls that are marked, and of the latest \d{3} others/)
      .waitFor()
    await expectSoon(() => rude.innerText()).toMatch(/100 % here\s+0 % elsewhere/)
  })

  it('have the values beside them once they come by themselves, and keep them while the server cannot answer', async () => {
    const project = 'acme/live-values'
    const send = (name: string) =>
      world.server.send(`/v2/${project}/calls/complete`, { batch: [call(project, { name, startMs: Date.now() })] })
    const valuesOf = (name: string) => page.locator('.rows .row', { hasText: name }).innerText()
    const all = /100\s+ms\s+0\s+1\s+Why\?\s+Because\.|Why\?\s+Because\.\s+.*100\s+ms\s+0\s+1/s
    // More than a page: a shorter list is as long as its rows, whatever their count says.
    const older = Array.from({ length: 110 }, () => call(project, { name: 'older', startMs: Date.now() - 3_600_000 }))
    await world.server.send(`/v2/${project}/calls/complete`, { batch: older })
    await send('first')
    await go(`/p/${project}/calls?live=1`)
    await expectSoon(() => valuesOf('first')).toMatch(all)
    // Rows come after they were counted.
    await page.context().route('**/calls/stream_query', async (route) => {
      if (!(route.request().postData() ?? '').includes('call_ids')) await new Promise((go) => setTimeout(go, 700))
      await route.continue()
    })
    await send('second')
    await expectSoon(() => valuesOf('second')).toMatch(all)
    await page
      .context()
      .route(/traces\/query|stream_query/, async (route) =>
        /call_ids|trace_ids/.test(route.request().postData() ?? '')
          ? route.fulfill({ status: 500, json: { reason: 'Busy' } })
          : route.fallback(),
      )
    await send('third')
    await expectSoon(() => valuesOf('third')).toMatch(/\?/)
    for (const name of ['first', 'second']) expect(await valuesOf(name)).toMatch(all)
    here.faults.splice(0)
    await page.context().unroute(/traces\/query|stream_query/)
    await expectSoon(() => valuesOf('third')).toMatch(all)
    await page.context().unroute('**/calls/stream_query')
    await go(home)
    here.faults.splice(0)
  })
})
