// The system page: how the server is, what it says when it is not well, who sees its figures, and for everybody.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { axeFaults, startWorld, type World } from './world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld('acme/system')
})
afterAll(() => world?.close())

it('shows checks, lag, topics and reads of the running server, and a report without keys', async () => {
  const { page, context, faults } = await world.open()
  await page.goto(`${world.url}/system`)
  await page.getByRole('list', { name: 'Checks' }).getByRole('listitem').filter({ hasText: 'Workers' }).waitFor()
  const topic = page.getByRole('table', { name: 'Topics' }).getByRole('row').filter({ hasText: 'audit' })
  // Signing in has written an audit event.
  expect(await topic.innerText()).toMatch(/audit[\s\S]*\d/)
  await page.getByRole('img', { name: /^Lag: now/ }).waitFor()
  await page.getByRole('button', { name: 'Copy for a report' }).click()
  const report = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(JSON.parse(report)).toMatchObject({ version: expect.any(String), health: { checks: { log: 'ok' } } })
  expect(report).not.toContain('test-key')
  const found: string[] = (await axeFaults(page)).map((line) => `light: ${line}`)
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await axeFaults(page, true)).map((line) => `dark: ${line}`))
  await page.setViewportSize({ width: 320, height: 800 })
  expect(found).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
  expect(faults).toEqual([])
  await context.close()
})

it('tells what is wrong with the reason, and goes on by itself; without figures it says who sees them', async () => {
  const { page, context } = await world.open()
  const checks = { log: 'ok', storage: 'down', workers: 'ok' }
  await context.route('**/health', (route) =>
    route.fulfill({
      ...{ status: 503 },
      json: { status: 'unavailable', checks, reasons: { storage: 'the disk is <b>full</b>' }, lag_ms: 4_000 },
    }),
  )
  await context.route('**/metrics', (route) => route.fulfill({ status: 403, json: { reason: 'no' } }))
  await page.clock.install()
  await page.goto(`${world.url}/system`)
  await page.getByText('the disk is <b>full</b>').waitFor()
  await page.getByText('Figures of the server show to owners of everything.').waitFor()
  await page.getByText('now 4.00 s, at most 4.00 s').waitFor()
  await context.unroute('**/health')
  await page.clock.runFor(5_000)
  await page.getByText('the disk is <b>full</b>').waitFor({ state: 'detached' })
  await context.close()
})

it('is not there for keys that administer nothing, and asks nothing for them', async () => {
  await world.server.send('/users', { id: 'system-reader' })
  const put = { method: 'PUT', headers: { authorization: 'Bearer test-key', 'content-type': 'application/json' } }
  const body = JSON.stringify({ user_id: 'system-reader', scope: 'acme/system', role: 'reader' })
  expect((await fetch(`${world.url}/grants`, { ...put, body })).status).toBe(200)
  const asked = { user_id: 'system-reader', name: '', actions: ['read'], scopes: ['acme/system'] }
  const { key } = await world.server.send<{ key: string }>('/keys', asked)
  const { page, context, faults } = await world.open({ key })
  await page.goto(`${world.url}/system`)
  await page.getByText('This key does not administer anything').waitFor()
  expect(await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'System' }).count()).toBe(0)
  expect(faults).toEqual([])
  await context.close()
})
