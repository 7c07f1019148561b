// tier: deep browser
// Saved views of the list of calls: named, shared by their address, changed, deleted, and objects that the SDK reads.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, newId, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened
let home: string
const threaded = 'acme/views-of-threads'

beforeAll(async () => {
  world = await startWorld('acme/views')
  home = `/p/${world.project}/calls`
  await world.send([
    call(world.project, { name: 'fails', exception: 'Error: no' }),
    call(world.project, { name: 'works' }),
    call(world.project, { name: 'works too' }),
  ])
  const turn = (thread_id: string, startMs: number) => {
    const id = newId()
    return { ...call(threaded, { id, startMs }), id, thread_id, turn_id: id }
  }
  const batch = [turn('young', Date.now() - 60_000), turn('old', Date.now() - 10 * 86_400_000)]
  await world.server.send(`/v2/${threaded}/calls/complete`, { batch })
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const rowNames = () => here.page.locator('.rows .row .name').allInnerTexts()
const openMenu = () => here.page.getByRole('button', { name: 'Saved views' }).click()
const stored = async (project_id = world.project) => {
  const filter = { base_object_classes: ['SavedView'], latest_only: true }
  type Answer = {
    objs: { object_id: string; val: { label: string; definition: Record<string, unknown> } }[]
  }
  return (await world.server.send<Answer>('/objs/query', { project_id, filter })).objs
}

/** As a SavedView; opened from another address. */
async function saveByName(): Promise<void> {
  const { page } = here
  await page.goto(`${world.url}${home}?q=status:error&range=24h&sort=op_name:asc&cols=inputs.question`)
  await expectSoon(rowNames).toEqual(['fails'])
  await openMenu()
  await page.getByText('No views yet').waitFor()
  await page.getByLabel('Name of a new view').fill('Errors <b>today</b>')
  await page.keyboard.press('Enter')
  await page.waitForURL((to) => to.searchParams.get('saved') === 'view-Errors-b-today-b')
  const [object] = await stored()
  expect(object?.val).toMatchObject({
    view_type: 'traces',
    label: 'Errors <b>today</b>',
    definition: {
      filter: { trace_roots_only: true },
      query: { $expr: expect.anything() },
      columns: [{ path: ['inputs', 'question'], label: 'inputs.question' }],
      sort_by: [{ field: 'op_name', direction: 'asc' }],
    },
  })
  await page.goto(world.url + home)
  await expectSoon(rowNames).toHaveLength(3)
  await openMenu()
  await page.getByRole('button', { name: 'Errors <b>today</b>', exact: true }).click()
  await expectSoon(rowNames).toEqual(['fails'])
  const asked = Object.fromEntries(new URL(page.url()).searchParams)
  expect(asked).toEqual({
    q: 'status:error',
    range: '24h',
    sort: 'op_name:asc',
    cols: 'inputs.question',
    saved: 'view-Errors-b-today-b',
  })
}

/** The address of an opened view shows the same to somebody else. */
async function openElsewhere(): Promise<void> {
  const { page, context, faults } = await world.open()
  await page.goto(here.page.url())
  await expectSoon(() => page.locator('.rows .row .name').allInnerTexts()).toEqual(['fails'])
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('button', { name: 'Errors <b>today</b>', exact: true, pressed: true }).waitFor()
  await page.getByLabel('Name of a new view').fill('Errors <b>today</b>')
  await page.getByText('A view with this name already exists').waitFor()
  await page.getByLabel('Name of a new view').fill('')
  await page.getByRole('button', { name: 'Actions of Errors' }).click()
  await page.getByRole('button', { name: 'Copy link' }).waitFor()
  expect(await everybodysFaults(page, 'views')).toEqual([])
  expect(faults).toEqual([])
  await context.close()
}

/** It gives a link, and opens first in this browser where nothing else is asked for. */
async function rename(): Promise<void> {
  const { page } = here
  await page.goto(world.url + home)
  await openMenu()
  const view = (name: string) => page.getByRole('button', { name, exact: true })
  await page.getByRole('button', { name: 'Actions of Errors' }).click()
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const link = await page.evaluate<string>('navigator.clipboard.readText()')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('New name of Errors').fill('Faults')
  await page.keyboard.press('Enter')
  await view('Faults').waitFor()
  expect((await stored()).map(({ object_id, val }) => [object_id, val.label])).toEqual([
    ['view-Errors-b-today-b', 'Faults'],
  ])
  await page.getByRole('button', { name: 'Actions of Faults' }).click()
  await page.getByRole('button', { name: 'Set as default' }).click()
  await page.getByRole('button', { name: 'Set as default', pressed: true }).waitFor()
  await page.goto(link)
  await expectSoon(rowNames).toEqual(['fails'])
  await page.goto(world.url + home)
  await page.waitForURL((to) => to.searchParams.get('saved') === 'view-Errors-b-today-b')
  await expectSoon(rowNames).toEqual(['fails'])
  await openMenu()
  await page.getByRole('button', { name: 'Faults default' }).waitFor()
  await view('No view').click()
  await expectSoon(rowNames).toHaveLength(3)
  await page.reload()
  await expectSoon(rowNames).toHaveLength(3)
}

/** A changed view is saved under the same name, and a view is deleted once that is confirmed. */
async function changeAndDelete(): Promise<void> {
  const { page } = here
  await page.goto(`${world.url}${home}?q=op:works&saved=view-Errors-b-today-b`)
  await expectSoon(rowNames).toEqual(['works'])
  await openMenu()
  await page.getByRole('button', { name: /^Save changes/ }).click()
  await expectSoon(async () => (await stored())[0]?.val.definition.filter).toHaveProperty('op_names')
  await page.getByText('changed', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Actions of Faults' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No views yet').waitFor()
  await page.waitForURL((to) => to.searchParams.get('saved') === '-')
  expect(await stored()).toEqual([])
}

it('a list is saved by name, opened by somebody else, renamed, opened first, changed and deleted', async () => {
  await saveByName()
  await openElsewhere()
  await rename()
  await changeAndDelete()
})

it('views that were made elsewhere are named, but not opened', async () => {
  const { page } = here
  const val = {
    view_type: 'traces',
    label: 'by the SDK',
    definition: { query: { $expr: { $not: [{ $literal: 1 }] } } },
  }
  const own = 'acme/views-elsewhere'
  await world.server.send(`/v2/${own}/calls/complete`, { batch: [call(own)] })
  const obj = { project_id: own, object_id: 'other', builtin_object_class: 'SavedView', val }
  expect((await post(world.url, '/obj/create', { obj })).status).toBe(200)
  await page.goto(`${world.url}/p/${own}/calls`)
  await openMenu()
  const item = page.getByRole('button', { name: 'by the SDK', exact: true })
  await item.waitFor()
  await expectSoon(() => item.isDisabled()).toBe(true)
})

it('lists of threads have a range and views of their own', async () => {
  const { page } = here
  const threads = `/p/${threaded}/threads`
  const rows = page.getByRole('table', { name: 'Threads' }).locator('.row')
  await page.goto(`${world.url}${threads}?sort=turn_count`)
  await expectSoon(() => rows.count()).toBe(2)
  await page.getByRole('button', { name: /all time/ }).click()
  await page.getByRole('button', { name: 'last 24 hours' }).click()
  await expectSoon(() => rows.allInnerTexts()).toEqual([expect.stringContaining('young')])
  await openMenu()
  await page.getByLabel('Name of a new view').fill('Today')
  await page.keyboard.press('Enter')
  await page.waitForURL((to) => to.searchParams.get('saved') === 'view-Today')
  expect((await stored(threaded)).map(({ val }) => val)).toMatchObject([
    { view_type: 'threads', label: 'Today', definition: { sort_by: [{ field: 'turn_count', direction: 'desc' }] } },
  ])
  await page.getByRole('button', { name: 'Actions of Today' }).click()
  await page.getByRole('button', { name: 'Set as default' }).click()
  await page.goto(world.url + threads)
  await page.waitForURL((to) => to.searchParams.get('range') === '24h' && to.searchParams.get('sort') === 'turn_count')
  await expectSoon(() => rows.count()).toBe(1)
  // A list of calls has its own.
  await page.goto(`${world.url}/p/${threaded}/calls`)
  await openMenu()
  await page.getByText('No views yet').waitFor()
})
