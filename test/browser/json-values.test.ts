// tier: deep browser
// Values of recorded JSON: what can be done with each, and refs in them as ways to what they name.
import type { Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, newId, newTrace, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened
let version: string
const [trace, id] = [newTrace(), newId()]

beforeAll(async () => {
  world = await startWorld('acme/json')
  const { project } = world
  const val = { system: 'Be brief.' }
  const { digest } = await world.server.send<{ digest: string }>('/obj/create', {
    obj: { project_id: project, object_id: 'brief', val },
  })
  version = digest
  const prompt = `weave:///${project}/object/brief:${digest}`
  const inputs = { model: 'model-x', prompt, nested: { 'a.b': 2, text: '{"deep":{"n":1}}' }, order: 7 }
  await world.send([
    call(project, { id, trace, name: 'asked', inputs, output: { used: [prompt], ok: true } }),
    call(project, { name: 'other', inputs: { model: 'model-y', order: 8 } }),
  ])
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (path: string) => here.page.goto(world.url + path)
const object = () => `/p/acme/json/objects/brief/${version}`

it('refs in previews of the list and in JSON lead to their objects', async () => {
  const { page } = here
  await go('/p/acme/json/calls?q=op:asked')
  const row = page.locator('.rows .row', { hasText: 'asked' })
  await row.getByText('model: model-x').waitFor()
  await row.getByRole('link', { name: /brief/ }).first().click()
  await page.waitForURL((to) => to.pathname === object())
  await go(`/p/acme/json/traces/${trace}`)
  const input = page.getByRole('tree', { name: 'Input' })
  await input.getByRole('link', { name: /brief/ }).click()
  await page.waitForURL((to) => to.pathname === object())
})

/**
 * Opens the menu by the button that a line has while the pointer is over it; the other button of the mouse is the
 * browser's.
 */
async function actsOf(tree: Locator, text: string): Promise<void> {
  const line = tree.locator('.node', { hasText: text }).last()
  await line.hover()
  await line.getByRole('button', { name: 'Actions of the value' }).click()
}

it('a value becomes a condition of the list, by keys alone, also against it', async () => {
  const { page } = here
  await go('/p/acme/json/calls?q=op:(asked,other)&cols=inputs.model')
  await page.locator('.rows .row', { hasText: 'asked' }).first().click()
  const input = page.getByRole('tree', { name: 'Input' })
  await input.getByText('model-x').waitFor()
  await input.focus()
  for (const key of ['Home', '.']) await page.keyboard.press(key)
  const dialog = page.getByRole('dialog', { name: 'inputs.model' })
  await dialog.getByRole('button', { name: 'Only calls with this value' }).waitFor()
  expect(await everybodysFaults(page, 'value of JSON')).toEqual([])
  await dialog.getByRole('button', { name: 'Without this value' }).focus()
  await page.keyboard.press('Enter')
  // The list from which the trace was opened, with one condition more.
  await page.waitForURL((to) => to.searchParams.get('q') === 'op:(asked,other) -inputs.model:model-x')
  await expectSoon(() => page.locator('.rows .row .name').allInnerTexts()).toEqual(['other'])
  await page.goBack()
  await actsOf(input, 'order')
  await page.getByRole('dialog', { name: 'inputs.order' }).getByRole('button', { name: 'Add column' }).click()
  await page.waitForURL((to) => to.searchParams.get('cols') === 'inputs.model,inputs.order')
})

it('values, their JSON and their paths are copied; what lies in a text has no path', async () => {
  const { page } = here
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await go(`/p/acme/json/traces/${trace}?tab=raw`)
  const record = page.getByRole('tree', { name: 'Record' })
  await actsOf(record, 'a.b')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'inputs.nested.a\\.b' }).waitFor()
  await dialog.getByRole('button', { name: 'Copy path' }).click()
  await expectSoon(copied).toBe('inputs.nested.a\\.b')
  await page.keyboard.press('Escape')
  const text = record.locator('.node', { hasText: 'text' })
  await actsOf(record, 'text')
  await dialog.getByRole('button', { name: 'Copy as JSON' }).click()
  await expectSoon(copied).toBe('"{\\"deep\\":{\\"n\\":1}}"')
  await page.keyboard.press('Escape')
  await text.getByRole('button', { name: 'Open' }).click()
  await actsOf(record, 'deep')
  await dialog.getByRole('button', { name: 'Copy value' }).click()
  await expectSoon(copied).toBe('{"n":1}')
  expect(await dialog.getByRole('button', { name: /path|Only/ }).count()).toBe(0)
})
