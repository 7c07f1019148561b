// tier: deep browser
// A key that only reads: every page shows what there is, and nothing on it changes anything.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import { call, newId, newTrace, type Opened, startWorld, type World } from './world.ts'

const project = 'acme/read-only'
const [id, trace] = [newId(), newTrace()]
let world: World
let here: Opened
const asked: string[] = []

beforeAll(async () => {
  world = await startWorld(project)
  const messages = [{ role: 'user', content: 'Hello {name}' }]
  const spoken = { ...call(project, { id, trace, inputs: { messages }, output: 'Hi' }), thread_id: 'talk', turn_id: id }
  await world.send([spoken])
  const obj = (object_id: string, type: string, more: object) => ({
    obj: {
      project_id: project,
      object_id,
      val: { _type: type, _class_name: type, _bases: ['Object', 'BaseModel'], ...more },
    },
  })
  const definition = { filter: {}, query: null, columns: ['inputs'], sort_by: [], page_size: 50 }
  for (const one of [
    obj('prompt', 'MessagesPrompt', { messages }),
    obj('view', 'SavedView', { label: 'A view', view_type: 'traces', definition }),
    obj('dashboard-own', 'CallhouseDashboard', { label: 'Our own', charts: [] }),
  ])
    await world.server.send('/obj/create', one)
  const keys = openKeys({ dataDir: world.server.dataDir, configured: [] })
  const { text: key } = keys.create({ userId: 'reader', role: 'read', grants: ['acme'] })
  here = await world.open({ key })
  here.page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    const changes = /\/(?:create|update|delete|purge|replace|complete|start|end|tags|aliases)$|chat\/completions/
    if (['PUT', 'DELETE'].includes(request.method()) || changes.test(pathname)) asked.push(pathname)
  })
})
afterAll(() => world?.close())

/** Names of buttons that are on and say that they change something. */
const changing = () =>
  here.page.evaluate<string[]>(`[...document.querySelectorAll('button, [role=menuitem]')]
    .filter((one) => !one.disabled && one.checkVisibility())
    .map((one) => (one.getAttribute('aria-label') || one.textContent).trim())
    .filter((name) => /^(delete|rename|remove|save( |$)|new version|make|add to|good|bad|copy to edit)/i.test(name))`)

it.each([
  ['objects', '/objects/prompt/latest', 'Delete…'],
  ['a prompt', '/prompts/prompt/latest', 'Delete…'],
  ['charts', '/dashboard?range=all', 'Save Latency as chart'],
  ['a trace', `/traces/${trace}`, 'Add to dataset…'],
  ['the thread', '/threads/talk', 'Good'],
])('%s: what changes it is off, with the reason', async (_, path, name) => {
  const { page } = here
  await page.goto(`${world.url}/p/${project}${path}`)
  const button = page.getByRole('button', { name }).first()
  await button.waitFor()
  expect(await button.isDisabled()).toBe(true)
  expect(await button.getAttribute('title')).toMatch(/^You (don’t have|have read-only access)/)
  expect(await changing()).toEqual([])
})

it('lists, dashboards, views and the playground open, and nothing is changed', async () => {
  const { page, faults } = here
  const shows: [path: string, text: string | RegExp][] = [
    ['/calls', 'answer'],
    ['/calls?saved=view', 'answer'],
    ['/threads', 'talk'],
    ['/dashboard?board=dashboard-own', 'Our own'],
    ['/queues', /queue/i],
  ]
  for (const [path, text] of shows) {
    await page.goto(`${world.url}/p/${project}${path}`)
    await page.getByText(text).first().waitFor()
    await page.waitForLoadState('networkidle')
    expect([path, await changing()]).toEqual([path, []])
  }
  await page.goto(`${world.url}/p/${project}/playground`)
  await page.getByLabel('Name of model 1').waitFor()
  // Remove buttons change the draft alone.
  expect((await changing()).filter((name) => !name.startsWith('Remove'))).toEqual([])
  expect(asked).toEqual([])
  expect(faults).toEqual([])
})
