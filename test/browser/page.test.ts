// tier: deep browser
// The main steps of a reader: signs in, finds a call, opens its trace, reads it; by mouse, and with the address alone.
import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { type Filled, startFilled } from './filled.ts'
import { axeFaults, call, hold, newTrace, type Opened } from './world.ts'

let world: Filled
let home: string
let trace: string
let failed: string
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ withBig: true })
  ;({ home, trace, failed } = world)
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const go = (path: string) => page.goto(world.url + path)
const rowNames = () => page.locator('.rows .row .name').allInnerTexts()

describe('signing in', () => {
  it('takes the key of the link out of the address and the history, and refuses a wrong one', async () => {
    const { page: fresh, faults, context } = await world.open({ key: '' })
    await fresh.goto(`${world.url}${home}`)
    await fresh.getByLabel('API key').fill('wrong')
    await fresh.keyboard.press('Enter')
    await fresh.getByRole('alert').getByText('Unknown API key. Check that you copied all of it').waitFor()
    // The browser tells of every 401 itself.
    expect(faults.splice(0).filter((line) => !line.includes('401'))).toEqual([])
    await fresh.getByLabel('API key').fill('test-key')
    await fresh.keyboard.press('Enter')
    await fresh.getByRole('table', { name: 'Calls' }).waitFor()
    expect(new URL(fresh.url()).pathname).toBe(home)
    expect(await fresh.evaluate('document.cookie')).toBe('')
    expect(await fresh.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
      'test-key',
    )
    expect(fresh.url()).not.toContain('key')
    await context.close()
    expect(faults).toEqual([])
  })

  it('takes the key of a link that is opened while the sign-in is shown', async () => {
    const { page: fresh, context } = await world.open({ key: '' })
    await fresh.goto(`${world.url}/sign-in`)
    await fresh.getByLabel('API key').waitFor()
    await fresh.goto(`${world.url}/sign-in#key=test-key`)
    await fresh.waitForURL((to) => !to.pathname.includes('sign-in') && to.hash === '')
    await context.close()
  })

  it('leads to no other site afterwards', async () => {
    const { page: fresh, context } = await world.open({ key: '' })
    for (const next of ['//evil.example/', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      await fresh.goto(`${world.url}/sign-in?next=${encodeURIComponent(next)}`)
      await fresh.getByLabel('API key').fill('test-key')
      await fresh.keyboard.press('Enter')
      await fresh.waitForURL((to) => !to.pathname.includes('sign-in'))
      expect(new URL(fresh.url()).origin).toBe(world.url)
    }
    await context.close()
  })

  it('is asked for over the page when the session ends, and what was typed stays', async () => {
    const { page: fresh, context, faults } = await world.open()
    await fresh.goto(`${world.url}${home}?view=all`)
    await fresh.getByText('support_agent').first().waitFor()
    await context.clearCookies()
    await fresh.getByLabel('Filter calls').fill('status:error')
    await fresh.keyboard.press('Enter')
    await fresh.getByRole('heading', { name: 'You were signed out' }).waitFor()
    // Whoever is typing when it opens does not close it by Enter.
    expect(await fresh.getByLabel('API key').evaluate((field) => field.ownerDocument.activeElement === field)).toBe(
      true,
    )
    await fresh.getByLabel('API key').fill('test-key')
    await fresh.keyboard.press('Enter')
    await fresh.locator('.row .name', { hasText: 'fetch' }).waitFor()
    // Also when it is found out by a write.
    await fresh.goto(`${world.url}/p/acme/browser/traces/${trace}?call=${world.answered}&tab=feedback`)
    const note = fresh.getByRole('textbox', { name: 'Note' })
    await note.fill('kept')
    await fresh.route('**/feedback/create', (route) => route.fulfill({ status: 401, json: { detail: 'no session' } }))
    await fresh.getByRole('button', { name: 'Good' }).click()
    await fresh.getByRole('heading', { name: 'You were signed out' }).waitFor()
    await fresh.getByLabel('API key').fill('test-key')
    await fresh.keyboard.press('Enter')
    await fresh.getByRole('heading', { name: 'You were signed out' }).waitFor({ state: 'detached' })
    expect(await note.inputValue()).toBe('kept')
    expect(faults.filter((line) => !line.includes('401'))).toEqual([])
    await context.close()
  })

  it('says so where a key may not read', async () => {
    const keys = openKeys({ dataDir: world.server.dataDir, configured: [] })
    const { text } = keys.create({ userId: 'sender', role: 'ingest' })
    const { page: fresh, context } = await world.open({ key: text })
    await fresh.getByText('This key can send calls but not read them').waitFor()
    await context.close()
  })
})

describe('calls', () => {
  it('are what the address says, also after a reload and back', async () => {
    await go(home)
    await page.getByText('support_agent').first().waitFor()
    expect((await rowNames()).some((name) => name.includes('fetch'))).toBe(false)
    await page.getByLabel('Filter calls').fill('status:error')
    await page.keyboard.press('Enter')
    await page.getByText('No calls match').waitFor()
    await page.getByRole('button', { name: /Search all calls/ }).click()
    await page.locator('.row .name', { hasText: 'fetch' }).waitFor()
    expect(page.url()).toContain('q=status:error')
    await page.reload()
    await page.locator('.row .name', { hasText: 'fetch' }).waitFor()
    await expectSoon(rowNames).toHaveLength(1)
    await page.goBack()
    await page.getByText('No calls match').waitFor()
    await page.getByRole('button', { name: 'Remove status:error' }).click()
    await page.getByText('support_agent').first().waitFor()
  })

  it.each([
    ['the list', () => home, '**/calls/stream_query', '.row .name'],
    ['a trace', () => `/p/acme/browser/traces/${trace}`, '**/trace/tree', '.span .label'],
  ])('%s is asked for before it is known who is signed in', async (_, path, asked, shown) => {
    const { page: fresh, context, faults } = await world.open()
    const session = await hold(fresh, '**/auth/session')
    await Promise.all([fresh.waitForRequest(asked), fresh.goto(world.url + path())])
    session()
    await fresh.locator(shown).first().waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  it('come page by page as they are scrolled to, each counted', async () => {
    await go(home)
    const table = page.getByRole('table', { name: 'Calls' })
    await expectSoon(() => table.getAttribute('aria-rowcount')).toBe('254')
    await page.getByText('253', { exact: false }).first().waitFor()
    await table.focus()
    await page.keyboard.press('End')
    await page.locator('[role=row][aria-rowindex="254"] .name', { hasText: 'many' }).waitFor()
    await expectSoon(() => page.locator('.rows .row').count()).toBeLessThan(80)
    await page.keyboard.press('Home')
    await page.locator('[role=row][aria-rowindex="2"].at').waitFor()
  })

  it('are sorted, filtered by latency and words, and a filter that cannot be read is told with its place', async () => {
    await go(`${home}?q=latency>3s`)
    await page.locator('.row .name', { hasText: 'support_agent' }).waitFor()
    await expectSoon(rowNames).toHaveLength(1)
    await go(`${home}?sort=latency:desc`)
    await page.locator('[role=row][aria-rowindex="2"] .name', { hasText: 'support_agent' }).waitFor()
    await go(`${home}?q=op:(other,%20support_agent)`)
    await expectSoon(async () => (await rowNames()).length).toBe(2)
    await go(`${home}?q=inputs.order:8812`)
    await page.locator('.row .name', { hasText: 'support_agent' }).waitFor()
    await go(`${home}?q=(`)
    await page.getByText('Missing ), at character 1').waitFor()
    await go(`${home}?range=15m&q=support_agent`)
    await page.getByText('No calls match').waitFor()
  })

  it('of a name that no project has: other pages say so as well', async () => {
    for (const part of ['threads', 'dashboard', 'prompts']) {
      await go(`/p/acme/fresh/${part}`)
      await page.getByText('There is no project acme/fresh').waitFor()
      await page.getByRole('link', { name: 'All projects' }).waitFor()
    }
  })

  it('of a new project show how to begin, and the first one by itself', async () => {
    await go('/p/acme/fresh/calls')
    await page.getByRole('heading', { name: 'No project of this name' }).waitFor()
    await page.getByRole('link', { name: 'All projects' }).waitFor()
    await page.getByRole('tab', { name: 'curl' }).click()
    await expectSoon(() => page.getByRole('tabpanel').innerText()).toContain(
      `${world.url}/v2/acme/fresh/calls/complete`,
    )
    await world.server.send('/v2/acme/fresh/calls/complete', { batch: [call('acme/fresh', { name: 'first' })] })
    await page.locator('.row .name', { hasText: 'first' }).waitFor()
  })

  it('come by themselves while the list is live, and wait while some are marked', async () => {
    const project = 'acme/live'
    const send = (name: string) =>
      world.server.send(`/v2/${project}/calls/complete`, { batch: [call(project, { name, startMs: Date.now() })] })
    await send('first')
    await go(`/p/${project}/calls`)
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('button', { name: 'Live' }).click()
    await send('second')
    await page.locator('.row .name', { hasText: 'second' }).waitFor()
    await page.getByLabel('Mark second').check()
    await send('third')
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await expectSoon(rowNames).toHaveLength(2)
    await page.getByRole('button', { name: '1 new' }).click()
    await page.locator('.row .name', { hasText: 'third' }).waitFor()
    await expectSoon(() => page.getByLabel('Mark second').isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Live' }).click()
    await page.getByRole('button', { name: 'Live', pressed: false }).waitFor()
  })

  it('ask nothing more while nobody does anything', async () => {
    const { page: fresh, context, faults } = await world.open()
    await fresh.clock.install()
    await fresh.goto(world.url + home)
    await fresh.getByText('of 253').waitFor()
    await fresh.waitForLoadState('networkidle')
    let asked = 0
    fresh.on('request', () => asked++)
    await fresh.clock.fastForward(120_000)
    await fresh.evaluate('fetch("assets/none.js")')
    expect([asked, faults.filter((line) => !line.includes('404'))]).toEqual([1, []])
    await context.close()
  })

  it('are exported and deleted when they are marked, with what lies below them', async () => {
    const project = 'acme/gone'
    const roots = Array.from({ length: 130 }, (_, n) => call(project, { name: `root ${n}` }))
    const [first] = roots as [{ id: string; trace_id: string }]
    const child = call(project, { name: 'child', parent: first.id, trace: first.trace_id })
    await world.server.send(`/v2/${project}/calls/complete`, { batch: [...roots, child] })
    await go(`/p/${project}/calls`)
    await page.getByText('of 130').waitFor()
    await page.getByRole('checkbox').first().check()
    await page.getByRole('button', { name: 'Mark all 130 that match' }).click()
    await page.getByText('130 marked').waitFor()
    await page.getByRole('button', { name: 'Export…' }).click()
    const exporting = page.getByRole('dialog', { name: 'Export 130 calls' })
    await page.route('**/calls/stream_query', (route) => route.fulfill({ status: 503, body: '{"reason":"Busy"}' }))
    await exporting.getByRole('button', { name: 'Export' }).click()
    await exporting.getByText('Nothing was saved: Busy').waitFor()
    await page.unroute('**/calls/stream_query')
    here.faults.splice(0)
    await exporting.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Export…' }).click()
    const exported = exporting.getByRole('button', { name: 'Export' })
    const [download] = await Promise.all([page.waitForEvent('download'), exported.click()])
    const lines = (await text(await download.createReadStream())).trim().split('\n')
    const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id)
    expect(ids.sort()).toEqual(roots.map(({ id }) => String(id)).sort())
    expect(lines[0]).toContain('Because.')
    await exporting.getByText('130 of 130 calls saved.').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await exporting.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Delete…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 130 calls' })
    await dialog.getByText('130 calls matching the filter.').waitFor()
    await expectSoon(() => dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Type 130 to confirm').fill('130')
    await page.keyboard.press('Enter')
    await dialog.getByText('131 deleted').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'No calls yet' }).waitFor()
  })

  it('are told why they cannot be shown, with what to do', async () => {
    await page.route('**/calls/stream_query', (route) =>
      route.fulfill({ status: 504, body: '{"reason":"Query took too long"}' }),
    )
    await go(`${home}?q=name:x`)
    await page.getByRole('alert').getByText('Query took too long').waitFor()
    await page.unroute('**/calls/stream_query')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No calls match').waitFor()
    here.faults.splice(0)
  })
})

describe('a trace', () => {
  it('stands as tree and bars; the reader shows what went in and out as it was stored', async () => {
    await go(`/p/acme/browser/traces/${trace}`)
    await page.locator('.span .label', { hasText: 'chat second' }).waitFor()
    await expectSoon(() => page.locator('.span .label').count()).toBe(5)
    await expectSoon(() => page.getByRole('treegrid', { name: 'Spans' }).getAttribute('aria-rowcount')).toBe('6')
    await page.locator('.json .node', { hasText: '8812' }).waitFor()
    const painted = `(() => {
      const canvas = document.querySelector('canvas.bars')
      return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0)
    })()`
    expect(await page.evaluate(painted)).toBe(true)
    await page.locator('.span', { hasText: 'fetch' }).click()
    await page.getByRole('group', { name: 'Exception' }).getByText('Error: timeout').waitFor()
    expect(page.url()).toContain(`call=${failed}`)
    await page.reload()
    await page.getByRole('group', { name: 'Exception' }).waitFor()
  })

  it('is found by a link to one of its calls, as SDKs print it', async () => {
    await go(`/acme/browser/r/call/${failed}`)
    await page.getByRole('group', { name: 'Exception' }).waitFor()
    expect(page.url()).toContain(trace)
    await go('/acme/browser/r/call/0000000000000001')
    await page.getByText('This call has not arrived yet').waitFor()
  })

  it('opens JSON of many megabytes line by line, searches it, and spells numbers as they were sent', async () => {
    await go(`/p/acme/browser/calls/${world.bigId}`)
    const input = page.getByRole('tree', { name: 'Input' })
    await input.getByText('100000').or(input.getByText('MiB')).first().waitFor()
    await input.getByRole('button', { name: 'Open' }).first().click()
    await expectSoon(() => input.locator('.node').count()).toBeGreaterThan(10)
    await expectSoon(() => page.locator('.json .node').count()).toBeLessThan(200)
    await page.getByLabel('Find in Input').fill('"n":99999')
    await page.keyboard.press('Enter')
    await page.getByText('none').waitFor()
    await page.getByLabel('Find in Input').fill('found')
    await page.keyboard.press('Enter')
    await page.getByText('1 / 1').waitFor()
    await input.focus()
    await page.keyboard.press('Home')
    await input.getByRole('button', { name: /read/ }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('a long line').first().waitFor()
    await expectSoon(() => dialog.locator('.text-line').count()).toBeLessThan(100)
    await page.keyboard.press('Escape')
    await page.getByRole('tree', { name: 'Output' }).getByText('12345678901234567890').waitFor()
  })

  it('shows its tree in a narrow window until a span is chosen, and again when that is closed', async () => {
    const { page } = here
    await page.setViewportSize({ width: 320, height: 800 })
    await go(`/p/acme/browser/traces/${trace}`)
    const tree = page.getByRole('treegrid', { name: 'Spans' })
    await tree.getByText('execute_tool search').click()
    await page.getByRole('tab', { name: 'Raw' }).waitFor()
    await expectSoon(() => tree.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Back to the tree' }).click()
    await tree.waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('shows what was said to a model, and takes and removes feedback', async () => {
    const { answered } = world
    await go(`/p/acme/browser/traces/${trace}?call=${answered}`)
    const messages = page.getByRole('list', { name: 'Messages' })
    await messages.waitFor()
    await expectSoon(() => messages.locator('h3').allInnerTexts()).toEqual([
      'System',
      'User',
      'Assistant',
      'Tool',
      'Assistant',
    ])
    await expectSoon(() => messages.locator('.said').nth(1).textContent()).toBe('Where is my order?\n\n  8812')
    await expectSoon(() => messages.locator('.tool-call').first().innerText()).toContain('{"order":8812}')
    await expectSoon(() => messages.getByText('Rule 19').isVisible()).toBe(false)
    await messages.getByText('Prompt').click()
    await messages.getByText('Rule 19: <b>be kind</b>').waitFor()
    await page.getByRole('tab', { name: 'Input / Output' }).click()
    await page.getByRole('tree', { name: 'Input' }).waitFor()
    await page.getByRole('tab', { name: 'Feedback' }).click()
    const feedback = page.getByRole('group', { name: 'Feedback of this call' })
    await feedback.getByText('No feedback on this call yet').waitFor()
    await feedback.getByRole('button', { name: 'Good' }).click()
    await feedback.getByRole('heading', { name: 'Reaction' }).waitFor()
    await feedback.getByLabel('Note').fill('<i>late</i> again')
    await page.keyboard.press('Enter')
    await feedback.getByText('<i>late</i> again').waitFor()
    await page.reload()
    await feedback.getByRole('button', { name: 'Remove Reaction' }).click()
    await feedback.getByRole('heading', { name: 'Reaction' }).waitFor({ state: 'detached' })
    await feedback.getByText('<i>late</i> again').waitFor()
  })

  it('says when it is not there', async () => {
    await go(`/p/acme/browser/traces/${newTrace()}`)
    await page.getByText('This trace has not arrived yet').waitFor()
  })
})

describe('an object', () => {
  it('is where the link of an SDK leads, with its value as it was stored', async () => {
    const project_id = 'acme/browser'
    const obj = { project_id, object_id: 'my-prompt', val: { text: '<b>Answer</b>' } }
    const { digest } = await world.server.send<{ digest: string }>('/obj/create', { obj })
    await go(`/acme/browser/weave/objects/my-prompt/versions/${digest}`)
    await page.getByRole('heading', { name: 'my-prompt' }).waitFor()
    await page.getByRole('tree', { name: 'Value' }).getByText('<b>Answer</b>').waitFor()
    await page.getByText('v0, the latest').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/p/${project_id}/objects/my-prompt/${digest}`)
    await go('/acme/browser/weave/objects/nobody/versions/v0')
    await page.getByRole('heading', { name: 'Version not found' }).waitFor()
    here.faults.splice(0)
  })
})
