// tier: deep browser
// The system page: how the server is, what it says when it is not well, who sees its figures, and for everybody.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { longWord, strangeElements } from './hostile-texts.ts'
import { everybodysFaults, startWorld, type World } from './world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld('acme/system')
})
afterAll(() => world?.close())

it('the system page shows checks, lag, topics and reads of the running server, and a report without keys', async () => {
  const { page, context, faults } = await world.open()
  await page.goto(`${world.url}/system`)
  await page.getByRole('list', { name: 'Checks' }).getByRole('listitem').filter({ hasText: 'Workers' }).waitFor()
  const topic = page.getByRole('table', { name: 'Topics' }).getByRole('row').filter({ hasText: 'audit' })
  // Signing in has written an audit event.
  await expectSoon(() => topic.innerText()).toMatch(/audit[\s\S]*\d/)
  const read = page.getByRole('table', { name: 'Reads' }).getByRole('row').nth(1)
  await expectSoon(() => read.innerText()).toMatch(/\w+[.\w-]* \([\w ]+\)\s+\d/)
  await page.getByText(/free of .*; writes stop at /).waitFor()
  await page.getByText(/^ClickHouse [\d.]+, embedded$/).waitFor()
  await page.getByRole('img', { name: /^Lag: now/ }).waitFor()
  await page.getByRole('button', { name: 'Copy for a report' }).click()
  const report = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(JSON.parse(report)).toMatchObject({
    version: expect.any(String),
    health: { checks: { log: 'ok' } },
    status: { role: 'serve' },
  })
  expect(report).not.toContain('test-key')
  expect(await everybodysFaults(page, 'system')).toEqual([])
  expect(faults).toEqual([])
  await context.close()
})

it('the system page shows the settings with their help, those that were given first, and never a secret', async () => {
  const { page, context, faults } = await world.open()
  await page.goto(`${world.url}/system`)
  const rows = page.getByRole('table', { name: 'Settings' }).getByRole('row')
  await rows.filter({ hasText: 'CALLHOUSE_PORT' }).waitFor()
  await expectSoon(() => rows.nth(1).innerText()).toContain('given')
  await page.getByLabel('Find a setting').fill('trust')
  await rows.filter({ hasText: 'CALLHOUSE_TRUST_PROXY' }).getByText('127.0.0.1').waitFor()
  await expectSoon(() => rows.filter({ hasText: 'CALLHOUSE_PORT' }).count()).toBe(0)
  await page.getByLabel('Find a setting').fill('CALLHOUSE_KEYS')
  await rows.filter({ hasText: 'CALLHOUSE_KEYS' }).getByText('secret', { exact: true }).waitFor()
  await expectSoon(() => page.locator('body').innerText()).not.toContain('test-key')
  await page.getByText('No dead letters.').waitFor()
  expect(faults).toEqual([])
  await context.close()
})

it('the system page shows refused rows with their reason, their place and what they hold, which is harmless', async () => {
  const { page, context, faults } = await world.open()
  const letter = (n: number) => ({
    id: `letter-${n}`,
    topic: 'calls',
    partition: 0,
    offset: n,
    row_index: 7,
    at: new Date().toISOString(),
    reason: `<img src=x onerror=alert(${n})> ${longWord}`,
    replayed_at: null,
    size_bytes: 40,
  })
  await context.route('**/server/deadletters/query', (route) => {
    const { offset = 0 } = route.request().postDataJSON() as { offset?: number }
    const all = Array.from({ length: 51 }, (_, n) => letter(n))
    return route.fulfill({ json: { dead_letters: all.slice(offset, offset + 50), total: 51 } })
  })
  await context.route('**/server/deadletters/letter-50', (route) =>
    route.fulfill({ json: { ...letter(50), row: `{"a":"<script>alert(1)</script>\u202e","b":"${longWord}"}` } }),
  )
  await page.goto(`${world.url}/system`)
  const rows = page.getByRole('table', { name: 'Dead letters' }).getByRole('row')
  await expectSoon(() => rows.count()).toBe(51)
  await page.getByText('51 rows, newest first.').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await expectSoon(() => rows.count()).toBe(2)
  expect(await page.evaluate(strangeElements)).toEqual([])
  expect(await everybodysFaults(page, 'dead letters')).toEqual([])
  await page.getByRole('button', { name: 'Row letter-50' }).click()
  const dialog = page.getByRole('dialog', { name: 'Dead letter of calls' })
  await dialog.getByText('<script>alert(1)</script>').waitFor()
  expect(await page.evaluate(strangeElements)).toEqual([])
  await dialog.getByRole('button', { name: 'Copy row' }).click()
  await dialog.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('\u202e')
  expect(await everybodysFaults(page, 'a dead letter')).toEqual([])
  const sent: string[] = []
  await context.route('**/server/deadletters/*/replay', (route) => {
    sent.push(new URL(route.request().url()).pathname.split('/').at(-2) ?? '')
    return route.fulfill({ json: { replayed: 50, remaining: 1 } })
  })
  await page.getByRole('button', { name: 'Retry', exact: true }).click()
  await page.getByRole('button', { name: 'Retried' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Retry all…' }).click()
  await page.getByRole('button', { name: 'Retry all', exact: true }).click()
  await page.getByText('50 retried, 1 remain').waitFor()
  expect(sent).toEqual(['letter-50', 'all'])
  expect(faults).toEqual([])
  await context.close()
})

it('the system page tells what is wrong with the reason, and goes on by itself; without figures it says who sees them', async () => {
  const { page, context } = await world.open()
  const checks = { log: 'ok', storage: 'down', workers: 'ok' }
  await context.route('**/health', (route) =>
    route.fulfill({
      status: 503,
      json: { status: 'unavailable', checks, reasons: { storage: 'the disk is <b>full</b>' }, lag_ms: 4_000 },
    }),
  )
  await context.route('**/server/status', (route) => route.fulfill({ status: 503, json: { reason: 'no' } }))
  await page.clock.install()
  await page.goto(`${world.url}/system`)
  await page.getByText('the disk is <b>full</b>').waitFor()
  await page.getByText('Figures are not available now.').waitFor()
  await page.getByText('now 4.00 s, at most 4.00 s').waitFor()
  await context.unroute('**/health')
  await page.clock.runFor(5_000)
  await page.getByText('the disk is <b>full</b>').waitFor({ state: 'detached' })
  await context.close()
})

it('the system page is not there for keys that administer nothing, and asks nothing for them', async () => {
  await world.server.send('/users', { id: 'system-reader' })
  const put = { method: 'PUT', headers: { authorization: 'Bearer test-key', 'content-type': 'application/json' } }
  const body = JSON.stringify({ user_id: 'system-reader', scope: 'acme/system', role: 'reader' })
  expect((await fetch(`${world.url}/grants`, { ...put, body })).status).toBe(200)
  const asked = { user_id: 'system-reader', name: '', actions: ['read'], scopes: ['acme/system'] }
  const { key } = await world.server.send<{ key: string }>('/keys', asked)
  const { page, context, faults } = await world.open({ key })
  await page.goto(`${world.url}/system`)
  await page.getByText('You need admin rights to change this').waitFor()
  await expectSoon(() =>
    page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'System' }).count(),
  ).toBe(0)
  expect(faults).toEqual([])
  await context.close()
})
