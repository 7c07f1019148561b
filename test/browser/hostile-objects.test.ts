// tier: deep browser
// Hostile texts in what people save and set: objects, saved views, settings, and in conversations and feedback of a trace.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { afterEachIsFaultless } from './faultless.ts'
import { hugeValue, longWord, strangeElements, texts } from './hostile-texts.ts'
import { call, narrowFaults, newId, newTrace, type Opened, startWorld, type World } from './world.ts'

const project = 'acme/hostile-objects'
const everyText = [...texts, longWord]
const classes = ['Prompt', 'MessagesPrompt', 'Dataset', 'Scorer', 'Provider', 'Own']
const trace = newTrace()
const spoken = everyText.map(() => newId())

let world: World
let here: Opened
let page: Page

async function sendObjects(): Promise<void> {
  for (const [n, text] of everyText.entries()) {
    const name = classes[n % classes.length] as string
    const val = {
      _type: name,
      _class_name: name,
      _bases: ['Object', 'BaseModel'],
      name: text,
      description: text,
      [text]: text,
      list: [text, { [text]: text }],
      huge: text === longWord ? hugeValue() : 1,
      messages: [{ role: text.slice(0, 40), content: text }],
      base_url: text,
      api_key_name: text,
      extra_headers: {},
    }
    await world.server.send('/obj/create', { obj: { project_id: project, object_id: `hostile-${n}`, val } })
    const definition = { filter: { op_names: [text] }, query: null, columns: [text], sort_by: [], page_size: 7 }
    const view = { _type: 'SavedView', _class_name: 'SavedView', _bases: ['Object', 'BaseModel'] }
    const saved = { ...view, label: text, name: text, description: text, view_type: 'traces', definition }
    await world.server.send('/obj/create', { obj: { project_id: project, object_id: `view-${n}`, val: saved } })
  }
}

async function sendTrace(): Promise<void> {
  const calls = everyText.map((text, n) => {
    const message = { role: 'assistant', content: `# ${text}`, reasoning_content: text }
    const inputs = { messages: [{ role: 'user', name: text.slice(0, 60), content: text }], model: text }
    const usage = { [text.slice(0, 200)]: { prompt_tokens: 1, completion_tokens: 1, requests: 1 } }
    const name = text.slice(0, 120)
    const said = { inputs, output: { choices: [{ message }] }, usage, name }
    return call(project, { id: spoken[n] as string, trace, startMs: Date.now() - 90_000 + n, ...said })
  })
  await world.send(calls)
  const batch = everyText.flatMap((text, n) => {
    const about = {
      project_id: project,
      weave_ref: `weave:///${project}/call/${spoken[n]}`,
      creator: text.slice(0, 100),
    }
    return [
      { ...about, feedback_type: 'wandb.note.1', payload: { note: text.slice(0, 1_000) } },
      { ...about, feedback_type: `own ${text.slice(0, 60)}`, payload: { [text.slice(0, 900)]: text } },
    ]
  })
  await world.server.send('/feedback/batch/create', { batch })
}

beforeAll(async () => {
  world = await startWorld(project)
  await sendTrace()
  await sendObjects()
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

async function faultsOf(where: string): Promise<string[]> {
  const found = (await page.evaluate<string[]>(strangeElements)).map((one) => `${where}: ${one}`)
  return [...found, ...(await narrowFaults(page, where))]
}
const go = (path: string) => page.goto(world.url + path)

it('objects: their list, and each of their versions', async () => {
  await go(`/p/${project}/objects`)
  await page
    .getByText(/^hostile-\d+$/)
    .first()
    .waitFor()
  expect(await faultsOf('objects')).toEqual([])
  for (const n of everyText.keys()) {
    await go(`/p/${project}/objects/hostile-${n}/latest`)
    await page.locator('.object-version .json .node').first().waitFor()
    expect(await faultsOf(`object ${n}`)).toEqual([])
  }
})

it('prompts: their list, and the messages of each', async () => {
  await go(`/p/${project}/prompts`)
  await page.getByText('hostile-0', { exact: true }).waitFor()
  expect(await faultsOf('prompts')).toEqual([])
  for (const n of everyText.keys()) {
    if (!classes[n % classes.length]?.endsWith('Prompt')) continue
    await go(`/p/${project}/prompts/hostile-${n}/latest?against=latest`)
    await page.getByText('The messages are the same.').waitFor()
    expect(await faultsOf(`prompt ${n}`)).toEqual([])
  }
})

it('saved views: the menu that names them', async () => {
  await go(`/p/${project}/calls`)
  await page.locator('.row .name').first().waitFor()
  await page.getByRole('button', { name: /views/i }).first().click()
  await page.locator('.menu li').first().waitFor()
  expect(await faultsOf('saved views')).toEqual([])
})

it('settings: each section', async () => {
  for (const section of [
    'you',
    'keys',
    'users',
    'audit',
    'limits',
    'prices',
    'retention',
    'masking',
    'providers',
    'secrets',
  ]) {
    await go(`/settings/${section}?project=${encodeURIComponent(project)}`)
    await page.locator('h1').first().waitFor()
    await page.waitForLoadState('networkidle')
    expect(await faultsOf(section)).toEqual([])
  }
})

it('a trace: conversations, as they were sent and as Markdown, costs and feedback of each of its calls', async () => {
  for (const [n, id] of spoken.entries()) {
    await go(`/p/${project}/traces/${trace}?call=${id}`)
    await page.locator('.message').first().waitFor()
    expect(await faultsOf(`conversation ${n}`)).toEqual([])
    await page.keyboard.press('m')
    // A link leads there; nothing is loaded from there.
    const links = await page.evaluate<string[]>(strangeElements)
    expect(links.filter((one) => !one.startsWith('https://evil.example/'))).toEqual([])
    expect(await page.locator('.reader img').count()).toBe(0)
    await page.keyboard.press('m')
    await page.getByRole('tab', { name: 'Cost' }).click()
    await page.getByText('No price for this model').first().waitFor()
    expect(await faultsOf(`cost ${n}`)).toEqual([])
    await page.getByRole('tab', { name: 'Feedback' }).click()
    await page.locator('.feedback li').nth(1).waitFor()
    expect(await faultsOf(`feedback ${n}`)).toEqual([])
  }
})
