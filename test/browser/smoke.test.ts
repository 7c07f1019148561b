// smoke: page
// The first steps of a reader: signs in with a key, narrows the list of calls, opens a trace, reads its inputs and
// output.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { call, newId, newTrace, type Opened, startWorld, type World } from './world.ts'

const project = 'acme/smoke'

let world: World
let here: Opened

beforeAll(async () => {
  world = await startWorld(project)
  here = await world.open({ key: '' })
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

it('a call is found and its trace is read by whoever has a key', async () => {
  const { page } = here
  const [trace, root] = [newTrace(), newId()]
  // Text as any other: a page that took it for HTML would not show it.
  const hostile = 'search<b>all</b>'
  const inputs = { question: 'Where is my order?' }
  await world.send([
    call(project, { id: root, trace, name: 'support_agent', inputs, output: { answer: 'On its way' } }),
    call(project, { trace, parent: root, name: hostile, exception: 'Error: timeout' }),
    call(project, { name: 'other' }),
  ])
  await page.goto(`${world.url}/p/${project}/calls`)
  await page.getByLabel('API key').fill('test-key')
  await page.keyboard.press('Enter')
  const names = () => page.locator('.row .name').allInnerTexts()
  await expectSoon(names).toHaveLength(2)
  await page.getByLabel('Filter calls').fill('op:support_agent')
  await page.keyboard.press('Enter')
  await expectSoon(names).toHaveLength(1)
  await page.locator('.row .name', { hasText: 'support_agent' }).click()
  const spans = page.getByRole('treegrid', { name: 'Spans' })
  await spans.getByText(hostile).waitFor()
  await page.getByRole('tree', { name: 'Input' }).getByText('Where is my order?').waitFor()
  await page.getByRole('tree', { name: 'Output' }).getByText('On its way').waitFor()
  await spans.getByText(hostile).click()
  await page.getByRole('group', { name: 'Exception' }).getByText('Error: timeout').waitFor()
  expect(new URL(page.url()).pathname).toBe(`/p/${project}/traces/${trace}`)
})
