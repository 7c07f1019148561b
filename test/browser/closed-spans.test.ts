// tier: deep browser
// Spans of a trace that are closed, by their buttons and by keys, also where their lines move meanwhile.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { call, newId, newTrace, type Opened, startWorld, type World } from './world.ts'

const project = 'acme/closed-spans'
let world: World
let here: Opened

beforeAll(async () => {
  world = await startWorld(project)
  here = await world.open()
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

it('spans that are closed stay so while the trace grows above them, and open again', async () => {
  const { page } = here
  const [trace, root, first, second] = [newTrace(), newId(), newId(), newId()]
  const atMs = Date.now() - 300_000
  const started_at = new Date(atMs).toISOString()
  const start = {
    project_id: project,
    op_name: 'root',
    attributes: {},
    inputs: {},
    id: root,
    trace_id: trace,
    started_at,
  }
  await world.server.send('/call/start', { start })
  const below = (parent: string, name: string, id: string, afterMs: number) =>
    call(project, { id, trace, parent, name, startMs: atMs + afterMs, ms: 10 })
  await world.send([
    below(root, 'first', first, 2_000),
    below(first, 'in first', newId(), 2_001),
    below(root, 'second', second, 3_000),
    below(second, 'in second', newId(), 3_001),
  ])
  await page.goto(`${world.url}/p/${project}/traces/${trace}`)
  const names = () => page.locator('.span .label').allInnerTexts()
  await expectSoon(names).toEqual(['root', 'first', 'in first', 'second', 'in second'])
  const row = (name: string) => page.locator('.row.span', { has: page.getByText(name, { exact: true }) })
  await row('first').getByRole('button', { name: 'Close' }).click()
  await expectSoon(names).toEqual(['root', 'first', 'second', 'in second'])
  expect(await row('first').getAttribute('aria-expanded')).toBe('false')
  await world.send([below(root, 'earlier', newId(), 1_000)])
  await expectSoon(names).toEqual(['root', 'earlier', 'first', 'second', 'in second'])
  await row('first').getByRole('button', { name: 'Open' }).click()
  await expectSoon(names).toEqual(['root', 'earlier', 'first', 'in first', 'second', 'in second'])
  await page.getByRole('treegrid', { name: 'Spans' }).focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowLeft')
  await expectSoon(names).toEqual(['root'])
  await page.keyboard.press('ArrowRight')
  await expectSoon(names).toEqual(['root', 'earlier', 'first', 'in first', 'second', 'in second'])
})
