// tier: deep browser
// Feedback of a call in the page: while the trace comes, before it is known, and by whom it may not be given.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { type Filled, startFilled } from './filled.ts'
import { hold, type Opened } from './world.ts'

let world: Filled
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project: 'acme/feedback' })
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

it('is written on while the tree of the trace comes', async () => {
  const { page: fresh, context, faults } = await world.open()
  const trace = await hold(fresh, '**/calls/stream_query')
  await fresh.goto(`${world.url}/p/acme/feedback/traces/${world.trace}?call=${world.answered}&tab=feedback`)
  const note = fresh.getByLabel('Note')
  await note.fill('sooner than')
  trace()
  await fresh.getByRole('treegrid', { name: 'Spans' }).getByText('fetch').waitFor()
  await fresh.keyboard.type(' the tree')
  expect(await note.inputValue()).toBe('sooner than the tree')
  expect(faults).toEqual([])
  await context.close()
})

it('that is given before the first answer about it has come is shown', async () => {
  const held = Promise.withResolvers<void>()
  const isAsked = Promise.withResolvers<void>()
  await page.route(
    '**/feedback/query',
    async (route) => {
      const answer = await route.fetch()
      isAsked.resolve()
      await held.promise
      await route.fulfill({ response: answer }).catch(() => undefined)
    },
    { times: 1 },
  )
  await page.goto(`${world.url}/p/acme/feedback/traces/${world.trace}?call=${world.failed}&tab=feedback`)
  const feedback = page.getByRole('group', { name: 'Feedback of this call' })
  await isAsked.promise
  await expectSoon(() => feedback.getByRole('button', { name: 'Good' }).isDisabled()).toBe(true)
  await feedback.getByLabel('Note').fill('sooner than the answer')
  await Promise.all([
    page.waitForResponse('**/feedback/create'),
    page.waitForRequest('**/feedback/query'),
    page.keyboard.press('Enter'),
  ])
  held.resolve()
  await feedback.getByText('sooner than the answer').waitFor()
  await feedback.getByRole('button', { name: 'Remove Note' }).click()
  await feedback.getByText('No feedback on this call yet').waitFor()
})

it('is not taken from a key that reads only, and the page says why', async () => {
  const keys = openKeys({ dataDir: world.server.dataDir, configured: [] })
  const { text } = keys.create({ userId: 'reader', role: 'read', grants: ['acme'] })
  const { page: fresh, context, faults } = await world.open({ key: text })
  await fresh.goto(`${world.url}/p/acme/feedback/traces/${world.trace}?call=${world.answered}&tab=feedback`)
  await fresh.getByPlaceholder('You have read-only access').waitFor()
  await expectSoon(() => fresh.getByRole('button', { name: 'Good' }).isDisabled()).toBe(true)
  expect(faults).toEqual([])
  await context.close()
})
