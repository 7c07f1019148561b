// tier: deep browser
// Answers that a question does not take: refused by the page, or by the server.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askServer, type DemoTarget } from '../../scripts/demo/server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { sendSmallQueue } from './small-queue.ts'
import { call, type Opened, startWorld, type World } from './world.ts'

let world: World
let here: Opened
let page: Page
let target: DemoTarget

beforeAll(async () => {
  world = await startWorld('acme/queue-refusals')
  target = { url: world.url, key: 'test-key', project: world.project }
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const title = (text: string) => page.getByText(text, { exact: true }).waitFor()

it('a refused answer says why at its question until another is given, and keeps the item open', async () => {
  const calls = ['aaaaaaaaaaaaaa05', 'aaaaaaaaaaaaaa06']
  await world.send(calls.map((id) => call(world.project, { id })))
  const queue = await sendSmallQueue(target, calls, { code: { type: 'string', pattern: '^[A-Z]+$' } })
  await page.goto(`${world.url}/p/${world.project}/queues/${queue}`)
  await page.getByRole('button', { name: 'Continue labeling' }).click()
  const code = page.getByRole('textbox', { name: 'code' })
  await title('Item 1 of 2')
  await code.fill('low')
  await code.press('Enter')
  const notice = page.getByRole('alert').getByText('Item 1 was not saved')
  await notice.waitFor()
  expect(await notice.innerText()).toMatch(/schema: [^.]+[^.]\.( |$)/)
  await title('Item 2 of 2')
  await page.getByRole('button', { name: 'Previous item' }).click()
  await title('Item 1 of 2')
  const reason = page.locator('.asked').getByText('does not fit')
  await reason.waitFor()
  await code.fill('HIGH')
  await expectSoon(() => reason.count()).toBe(0)
  await code.press('Enter')
  await title('Item 2 of 2')
  await expectSoon(() => notice.count()).toBe(0)
  await title('Saved')
  // The browser tells of the refusal.
  expect(here.faults.splice(0).filter((line) => !line.includes('400'))).toEqual([])
})

it('a number out of the bounds of its question is not taken, by a key or typed', async () => {
  const calls = ['aaaaaaaaaaaaaa03', 'aaaaaaaaaaaaaa04']
  await world.send(calls.map((id) => call(world.project, { id })))
  const queue = await sendSmallQueue(target, calls, { stars: { type: 'integer', minimum: 1, maximum: 5 } })
  const asked = { project_id: world.project }
  const [found] = await askServer<{ items: { id: string }[] }>(target, `/annotation_queues/${queue}/items/query`, asked)
  await page.goto(`${world.url}/p/${world.project}/queues/${queue}/items/${found?.items[0]?.id}`)
  const stars = page.getByRole('textbox', { name: 'stars' })
  await stars.waitFor()
  for (const [key, value] of [
    ['9', ''],
    ['3', '3'],
    ['6', '3'],
  ] as const) {
    await page.keyboard.press(key)
    await expectSoon(() => stars.inputValue()).toBe(value)
  }
  const wrong = page.getByText('Enter a whole number, at least 1 and at most 5')
  await stars.fill('9')
  await wrong.waitFor()
  await stars.press('Enter')
  await page.getByText('Answer stars first, or skip the item.').waitFor()
  await page.getByText('Item 1 of 2', { exact: true }).waitFor()
  await stars.fill('5')
  await expectSoon(() => page.locator('.s-error').count()).toBe(0)
  await stars.press('Enter')
  await page.getByText('Item 2 of 2', { exact: true }).waitFor()
  await title('Saved')
})
