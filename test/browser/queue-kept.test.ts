// tier: deep browser
// Answers of annotators are kept until they are stored, whatever happens to the tab.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sendQueue } from '../../scripts/demo/queue.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, newId, startWorld, type World } from './world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld('acme/queue-kept')
  const messages = [{ role: 'user', content: 'Is anybody there?' }]
  const startMs = Date.now() - 3_600_000
  const agent = (n: number) =>
    call(world.project, { id: newId(), name: 'invoke_agent support', startMs: startMs + n, inputs: { messages } })
  await world.send(Array.from({ length: 16 }, (_, n) => agent(n)))
  // Eight of the items are answered.
  await sendQueue({ url: world.url, key: 'test-key', project: world.project })
})
afterAll(() => world?.close())

/** Values by question of the user of the key. */
async function answers(): Promise<Record<string, unknown>> {
  const asked = { project_id: world.project }
  const { result } = await world.server.send<{ result: Record<string, unknown>[] }>('/feedback/query', asked)
  const own = result.filter((row) => (row.platform_user_id ?? row.wb_user_id) === 'tester' && !row.creator)
  return Object.fromEntries(
    own.map((row) => [String(row.feedback_type).split('.').at(-1), (row.payload as { value: unknown }).value]),
  )
}

it('answers are not lost when the tab closes, and no item comes again while its answer is on its way', async () => {
  const { page: tab, faults } = await world.open()
  const tabTitle = (name: string) => tab.getByText(name, { exact: true }).waitFor()
  await tab.goto(`${world.url}/p/${world.project}/queues`)
  await tab.getByRole('table', { name: 'Annotation queues' }).locator('.row').first().getByRole('link').click()
  await tab.getByRole('button', { name: 'Continue labeling' }).click()
  await tabTitle('Item 9 of 16')
  await tab.locator('.asked.at', { hasText: 'helpful' }).waitFor()
  await tab.route('**/feedback/create', (route) => route.abort())
  for (const key of ['y', '2', '4', 'Enter']) await tab.keyboard.press(key)
  await tabTitle('Item 10 of 16')
  await tab.getByText('Saving 1…').waitFor()
  // Moves from the item before to the next open one: not to the one whose answer is on its way.
  await tab.keyboard.press('ArrowLeft')
  await tabTitle('Item 9 of 16')
  await tab.keyboard.press('ArrowLeft')
  await tabTitle('Item 8 of 16')
  await tab.keyboard.press('u')
  await tabTitle('Item 10 of 16')
  tab.removeAllListeners('dialog')
  const asked = tab.waitForEvent('dialog')
  const closed = tab.close({ runBeforeUnload: true })
  const dialog = await asked
  expect(dialog.type()).toBe('beforeunload')
  await dialog.accept()
  await closed
  faults.length = 0
  expect(await answers()).toEqual({})
  // Whichever page is opened next sends what was kept.
  const context = tab.context()
  const next = await context.newPage()
  await next.goto(`${world.url}/`)
  await expectSoon(() => answers()).toEqual({ helpful: true, tone: 'plain', stars: 4 })
  await expectSoon(() =>
    next.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('answers'))),
  ).toEqual([])
  await context.close()
})
