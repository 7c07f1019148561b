// Saved views of the list of calls: named, shared by their address, changed, deleted, and objects that the SDK reads.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { axeFaults, call, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened
let home: string

beforeAll(async () => {
  world = await startWorld('acme/views')
  home = `/p/${world.project}/calls`
  await world.send([
    call(world.project, { name: 'fails', exception: 'Error: no' }),
    call(world.project, { name: 'works' }),
    call(world.project, { name: 'works too' }),
  ])
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const rowNames = () => here.page.locator('.rows .row .name').allInnerTexts()
const openMenu = () => here.page.getByRole('button', { name: 'Saved views' }).click()
const stored = async () => {
  const filter = { base_object_classes: ['SavedView'], latest_only: true }
  type Answer = { objs: { object_id: string; val: { label: string; definition: Record<string, unknown> } }[] }
  return (await world.server.send<Answer>('/objs/query', { project_id: world.project, filter })).objs
}

it('a list is saved by name as a SavedView, and opened from another address', async () => {
  const { page } = here
  await page.goto(`${world.url}${home}?q=status:error&range=24h&sort=op_name:asc&cols=inputs.question`)
  await expect.poll(rowNames).toEqual(['fails'])
  await openMenu()
  await page.getByText('No views yet').waitFor()
  await page.getByLabel('Name of a new view').fill('Errors <b>today</b>')
  await page.keyboard.press('Enter')
  await page.waitForURL((to) => to.searchParams.get('saved') === 'view-Errors-b-today-b')
  const [object] = await stored()
  expect(object?.val).toMatchObject({
    ...{ view_type: 'traces', label: 'Errors <b>today</b>' },
    definition: {
      filter: { trace_roots_only: true },
      query: { $expr: expect.anything() },
      columns: [{ path: ['inputs', 'question'], label: 'inputs.question' }],
      sort_by: [{ field: 'op_name', direction: 'asc' }],
    },
  })
  await page.goto(world.url + home)
  await expect.poll(rowNames).toHaveLength(3)
  await openMenu()
  await page.getByRole('button', { name: 'Errors <b>today</b>', exact: true }).click()
  await expect.poll(rowNames).toEqual(['fails'])
  const asked = Object.fromEntries(new URL(page.url()).searchParams)
  expect(asked).toEqual({
    ...{ q: 'status:error', range: '24h', sort: 'op_name:asc', cols: 'inputs.question' },
    saved: 'view-Errors-b-today-b',
  })
})

it('the address of an opened view shows the same to somebody else', async () => {
  const { page, context, faults } = await world.open()
  await page.goto(here.page.url())
  await expect.poll(() => page.locator('.rows .row .name').allInnerTexts()).toEqual(['fails'])
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('button', { name: 'Errors <b>today</b>', exact: true, pressed: true }).waitFor()
  await page.getByLabel('Name of a new view').fill('Errors <b>today</b>')
  await page.getByText('There is a view of this name').waitFor()
  const found = await axeFaults(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await axeFaults(page, true)))
  await page.setViewportSize({ width: 320, height: 800 })
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
  expect(found).toEqual([])
  expect(faults).toEqual([])
  await context.close()
})

it('what is changed is saved under the same name, and a view is deleted once that is confirmed', async () => {
  const { page } = here
  await page.goto(`${world.url}${home}?q=op:works&saved=view-Errors-b-today-b`)
  await expect.poll(rowNames).toEqual(['works'])
  await openMenu()
  await page.getByRole('button', { name: /^Save changes/ }).click()
  await expect.poll(async () => (await stored())[0]?.val.definition.filter).toHaveProperty('op_names')
  await page.getByText('changed', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Delete Errors' }).click()
  await page.getByRole('button', { name: 'Keep' }).click()
  await page.getByRole('button', { name: 'Delete Errors' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No views yet').waitFor()
  await page.waitForURL((to) => !to.searchParams.has('saved'))
  expect(await stored()).toEqual([])
})

it('views that were made elsewhere are named, but not opened', async () => {
  const { page } = here
  const val = {
    view_type: 'traces',
    label: 'by the SDK',
    definition: { query: { $expr: { $not: [{ $literal: 1 }] } } },
  }
  const obj = { project_id: world.project, object_id: 'other', builtin_object_class: 'SavedView', val }
  expect((await post(world.url, '/obj/create', { obj })).status).toBe(200)
  await page.goto(world.url + home)
  await openMenu()
  const item = page.getByRole('button', { name: 'by the SDK', exact: true })
  await item.waitFor()
  expect(await item.isDisabled()).toBe(true)
})
