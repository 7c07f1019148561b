// tier: deep browser
// Objects and ops: the list, versions of one, by keys, by page, hostile names, for everybody.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, newId, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened
let home: string

const make = async (project_id: string, object_id: string, val: unknown) =>
  expect((await post(world.url, '/obj/create', { obj: { project_id, object_id, val } })).status).toBe(200)

beforeAll(async () => {
  world = await startWorld('acme/objects')
  home = `/p/${world.project}/objects`
  const hostile = '<img src=x onerror=alert(1)>\u202e'
  await make(world.project, 'prompt', { system: hostile, n: 0 })
  await make(world.project, 'prompt', { system: hostile, n: 1 })
  await make(world.project, 'settings', { _bases: [], _class_name: hostile, k: 1 })
  await make(world.project, 'answer', { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: {} })
  for (let n = 0; n < 101; n++) await make('acme/many-objects', `object-${n}`, { n })
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (path: string) => here.page.goto(world.url + path)
const rows = (name: string) => here.page.getByRole('table', { name }).locator('.row')

it('objects show by their latest version, lead to it by keys and to all versions, and ops stand apart', async () => {
  const { page } = here
  await go(home)
  await expectSoon(() => rows('Objects').allInnerTexts()).toEqual([
    expect.stringMatching(/settings[\s\S]*v0/),
    expect.stringMatching(/prompt[\s\S]*v1/),
  ])
  await page.getByRole('link', { name: 'v1', exact: true }).click()
  await expectSoon(() => rows('prompt').allInnerTexts()).toEqual([
    expect.stringMatching(/v1[\s\S]*latest/),
    expect.stringMatching(/v0/),
  ])
  await page.getByRole('table', { name: 'prompt' }).focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: 'Object' }).getByText('v0', { exact: true }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Objects' }).last().click()
  await page.getByRole('navigation', { name: 'Kinds of objects' }).getByRole('link', { name: 'Ops' }).click()
  await expectSoon(() => rows('Ops').allInnerTexts()).toEqual([expect.stringMatching(/answer[\s\S]*v0/)])
  await page.reload()
  await expectSoon(() => rows('Ops').count()).toBe(1)
  const kinds = page.getByRole('navigation', { name: 'Kinds of objects' })
  await kinds.getByRole('link', { name: 'Others' }).click()
  await expectSoon(() => rows('Others').count()).toBe(2)
  expect(await everybodysFaults(page, 'kinds of objects')).toEqual([])
  await kinds.getByRole('link', { name: 'Datasets' }).click()
  await page.getByRole('heading', { name: 'No objects of this kind yet' }).waitFor()
})

it('a version stands beside the others, takes tags and aliases, and shows what differs from another', async () => {
  const { page } = here
  await go(`${home}/prompt`)
  await page.getByRole('table', { name: 'prompt' }).locator('.row a').first().click()
  const versions = page.getByRole('navigation', { name: 'Versions' })
  await expectSoon(() => versions.locator('li b').allInnerTexts()).toEqual(['v1', 'v0'])
  const labels = page.getByRole('list', { name: 'Tags and aliases' })
  await expectSoon(() => labels.innerText()).toContain('latest')
  await expectSoon(() => labels.getByRole('button').count()).toBe(0)
  for (const [kind, label] of [
    ['tag', 'reviewed'],
    ['alias', 'production'],
  ] as const) {
    await page.getByRole('button', { name: `Add ${kind}…` }).click()
    await page.keyboard.type(label)
    await page.keyboard.press('Enter')
    await labels.getByText(label).waitFor()
    await versions.getByText(label).waitFor()
  }
  await page.getByRole('button', { name: 'Remove tag reviewed' }).click()
  await expectSoon(() => labels.innerText()).not.toContain('reviewed')
  await page.getByRole('button', { name: 'Copy ref' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.getByRole('link', { name: 'Compare v0 with v1' }).click()
  const differing = page.getByRole('table', { name: 'Differences of value' }).locator('tbody tr')
  await expectSoon(() => differing.allInnerTexts()).toEqual([expect.stringMatching(/^n\s+differs\s+0\s+1 \+1$/)])
  await page.getByText('1 difference, 1 equal').waitFor()
  await page.getByRole('button', { name: 'Swap' }).click()
  await expectSoon(() => differing.allInnerTexts()).toEqual([expect.stringContaining('−1')])
  expect(await page.evaluate('document.title')).toContain('Differences')
})

it('an op shows its code, and two versions of it, or two calls that ran them, are compared by lines', async () => {
  const { page } = here
  const code = (...lines: string[]) => `def ask(question):\n${lines.map((line) => `    ${line}\n`).join('')}`
  const steps = Array.from({ length: 12 }, (_, n) => `step_${n} = ${n}`)
  const project = 'acme/op-code'
  const refs: string[] = []
  for (const source_code of [code(...steps, 'return "<b>"'), code(...steps, 'x = 1', 'return "<i>"')]) {
    const asked = { name: 'ask', source_code }
    const { object_id, digest } = await world.server.send<Record<string, string>>(`/v2/${project}/ops`, asked)
    refs.push(`weave:///${project}/op/${object_id}:${digest}`)
  }
  await go(`/p/${project}/objects/ask/v1?op=1`)
  await expectSoon(() => page.getByRole('group', { name: 'Code of the op' }).innerText()).toContain('return "<i>"')
  await page.getByRole('link', { name: 'Compare v0 with v1' }).click()
  const lines = page.getByRole('table', { name: 'Differences of code' }).locator('tbody tr')
  const differing = [
    '10 equal lines',
    ...[9, 10, 11].map((n) => expect.stringMatching(new RegExp(`^${n + 2}\\s+${n + 2}\\s+step_${n} = ${n}$`))),
    expect.stringMatching(/^14\s+−\s*only in A\s+return "<b>"$/),
    expect.stringMatching(/^14\s+\+\s*only in B\s+x = 1$/),
    expect.stringMatching(/^15\s+\+\s*only in B\s+return "<i>"$/),
  ]
  const shown = async () => (await lines.allInnerTexts()).map((text) => text.trim())
  await expectSoon(shown).toEqual(differing)
  await page.getByText('1 line only in A, 2 only in B').waitFor()
  expect(await everybodysFaults(page, 'code beside code')).toEqual([])
  const calls = refs.map((op_name) => ({ ...call(project, { id: newId() }), op_name }))
  await world.server.send(`/v2/${project}/calls/complete`, { batch: calls })
  const ids = calls.map((one) => (one as { id?: string }).id)
  await go(`/p/${project}/diff?a=call/${ids[0]}&b=call/${ids[1]}`)
  await expectSoon(shown).toEqual(differing)
})

it('a version is the start of a new one, says which calls were given it, and is deleted', async () => {
  const { page } = here
  await make(world.project, 'edited', JSON.parse('{"system":"Be brief.","n":1}'))
  const asked = { project_id: world.project, object_id: 'edited' }
  const { obj } = await world.server.send<{ obj: { digest: string } }>('/obj/read', { ...asked, digest: 'v0' })
  const ref = `weave:///${world.project}/object/edited:${obj.digest}`
  await world.send([call(world.project, { inputs: { prompt: ref } })])
  await go(`${home}/edited/v0`)
  await page.getByRole('button', { name: 'Copy for Python' }).click()
  await expectSoon(() => page.evaluate('navigator.clipboard.readText()')).toContain(`weave.ref("${ref}").get()`)
  await page.getByRole('button', { name: 'New version…' }).click()
  const value = page.getByRole('textbox', { name: 'Value' })
  await expectSoon(() => value.inputValue()).toContain('"Be brief."')
  expect(await everybodysFaults(page, 'a new version')).toEqual([])
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await value.fill('{"system":')
  await expectSoon(() => save.isDisabled()).toBe(true)
  await value.fill('{"system":"Be kind.","n":1.0,"big":12345678901234567890}')
  await save.click()
  const versions = page.getByRole('navigation', { name: 'Versions' })
  await expectSoon(() => versions.locator('li b').allInnerTexts()).toEqual(['v1', 'v0'])
  await page.getByRole('tree', { name: 'Value' }).getByText('12345678901234567890').waitFor()
  await go(`${home}/edited/v0`)
  await page.getByRole('link', { name: 'Used by 1 call', exact: true }).click()
  await expectSoon(() => page.getByRole('table', { name: 'Calls' }).locator('.row').count()).toBe(1)
  await page.goBack()
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByText('Calls that used it: 1.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.waitForURL((to) => to.pathname === home)
  await expectSoon(() => rows('Objects').allInnerTexts()).toContainEqual(expect.stringMatching(/edited[\s\S]*v1/))
  await page.getByRole('link', { name: 'edited', exact: true }).click()
  await expectSoon(() => versions.locator('li b').allInnerTexts()).toEqual(['v1'])
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await expectSoon(() => rows('Objects').count()).toBe(2)
})

it('a version that is deleted says when, beside those that are left, also where it is named', async () => {
  const { page, faults } = here
  for (const n of [0, 1]) await make(world.project, 'gone', { n })
  const asked = { project_id: world.project, object_id: 'gone' }
  const { obj } = await world.server.send<{ obj: { digest: string } }>('/obj/read', { ...asked, digest: 'v0' })
  await world.server.send('/obj/delete', { ...asked, digests: [obj.digest] })
  const when = page.locator('time')
  const today = expect.stringContaining(new Date().toISOString().slice(0, 10))
  await go(`${home}/gone/${obj.digest}`)
  await page.getByRole('heading', { name: 'This version was deleted' }).waitFor()
  expect(await when.getAttribute('datetime')).toEqual(today)
  expect(await everybodysFaults(page, 'a deleted version')).toEqual([])
  await page.getByRole('navigation', { name: 'Versions' }).getByText('v1').waitFor()
  await go(`/p/${world.project}/datasets/gone/${obj.digest}`)
  await page.getByRole('heading', { name: `Object gone:${obj.digest} was deleted` }).waitFor()
  expect(await when.getAttribute('datetime')).toEqual(today)
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  await world.server.send('/obj/delete', asked)
  // The browser's own lines about answers that are no 200.
  expect(faults.splice(0).filter((fault) => !fault.includes('404'))).toEqual([])
})

it('a hundred objects stand on a page, and the page is in the address', async () => {
  const { page } = here
  await go('/p/acme/many-objects/objects')
  await page.getByText('1–100, ').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.waitForURL((to) => to.searchParams.get('page') === '2')
  await expectSoon(() => rows('Objects').allInnerTexts()).toEqual([expect.stringContaining('object-0')])
  await expectSoon(() => page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
})

it('the page says what an object is where there are none, what is not here, and what went wrong', async () => {
  const { page, context, faults } = here
  await go('/p/acme/no-objects/objects')
  await page.getByRole('heading', { name: 'No objects yet' }).waitFor()
  await go(`${home}/unknown`)
  await page
    .getByRole('heading', { name: 'This object has no versions: none was saved, or all were deleted' })
    .waitFor()
  await context.route('**/objs/query', (route) => route.fulfill({ status: 503, json: { detail: 'busy' } }))
  await go(home)
  await page.getByRole('alert').waitFor()
  await context.unroute('**/objs/query')
  await page.getByRole('button', { name: /again/i }).click()
  await expectSoon(() => rows('Objects').count()).toBe(2)
  faults.splice(0)
})

it('objects are for everybody: axe finds no fault in both themes, and 320 pixels are enough', async () => {
  const { page, context, faults } = await world.open()
  const found: string[] = []
  for (const [path, selector] of [
    [home, '.row'],
    [`${home}/prompt`, '.row'],
    [`${home}/prompt/v1`, '.labels .chip'],
    [`/p/${world.project}/diff?a=object/prompt/v0&b=object/prompt/v1`, '.differences section'],
    [`/p/${world.project}/diff`, 'main h1, .center, h2'],
    ['/p/acme/no-objects/objects', 'pre'],
  ] as const) {
    await page.goto(world.url + path)
    await page.locator(selector).first().waitFor()
    found.push(...(await everybodysFaults(page, path)))
  }
  expect(found).toEqual([])
  expect(faults).toEqual([])
  await context.close()
})
