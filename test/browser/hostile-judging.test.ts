// tier: deep browser
// Hostile texts where people judge: evaluations, queues, the playground and threads run, load and break nothing, and
// windows of 320 pixels hold them.
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { hugeValue, longWord, strangeElements, texts } from './hostile-texts.ts'
import { call, narrowFaults, newId, newTrace, type Opened, startWorld, type World } from './world.ts'

const project = 'acme/hostile-judging'
const everyText = [...texts, longWord]
const [runA, runB, spoken, threadId] = [newId(), newId(), newId(), 'thread <b>\u202e\u0007']

let world: World
let here: Opened
let page: Page
let queueId: string
let itemId: string

/** A text in every place of a call. */
const every = (text: string) => ({
  [text]: text,
  list: [text, { [text]: text }],
  huge: text === longWord ? hugeValue() : 1,
})

/** A run whose rows, scores, models and names are hostile, with its rows. */
function evaluationRun(id: string, startMs: number): object[] {
  const trace = newTrace()
  const run = {
    ...call(project, { id, trace, name: 'Evaluation.evaluate', startMs, ms: 9_000 }),
    display_name: everyText[id === runA ? 0 : 10]?.slice(0, 900),
    inputs: { self: texts[5], model: texts[3] },
    output: { correct: { true_fraction: 0.5 }, [texts[1] as string]: { mean: 0.5 }, [longWord]: { mean: 1 } },
  }
  const rows = everyText.map((text, n) =>
    call(project, {
      trace,
      parent: id,
      name: 'Evaluation.predict_and_score',
      startMs: startMs + n,
      ms: 50,
      inputs: { self: texts[5], model: text, example: every(text) },
      output: {
        output: n % 2 === 0 ? text : every(text),
        scores: { correct: (n + (id === runA ? 0 : 1)) % 2 === 0, [text.slice(0, 300)]: n, judge: { reason: text } },
      },
      ...(n % 5 === 4 && { exception: text }),
    }),
  )
  return [run, ...rows]
}

/** A turn whose roles, names, tools and contents are hostile. */
function turnOf(text: string, n: number): object {
  const id = n === 0 ? spoken : newId()
  const said = everyText.slice(0, 6).map((one) => ({ role: text.slice(0, 50), name: one.slice(0, 90), content: text }))
  const tool_calls = [
    { id: text.slice(0, 40), type: 'function', function: { name: text.slice(0, 99), arguments: text } },
  ]
  const messages = [{ role: 'user', content: text }, ...said, { role: 'assistant', content: null, tool_calls }]
  const usage = { [text.slice(0, 200)]: { prompt_tokens: 1, completion_tokens: 1, requests: 1 } }
  const answer = {
    role: 'assistant',
    content: `# ${text}\n\n[x](javascript:alert(1)) ${text}`,
    reasoning_content: text,
  }
  const contents = { inputs: { messages, model: text }, output: { choices: [{ message: answer }] }, usage }
  const one = call(project, {
    id,
    name: text.slice(0, 120),
    startMs: Date.now() - 90_000 + n,
    exception: text,
    ...contents,
  })
  return { ...one, display_name: text.slice(0, 900), thread_id: threadId, turn_id: id }
}

async function sendFeedback(): Promise<void> {
  const about = { project_id: project, weave_ref: `weave:///${project}/call/${spoken}` }
  for (const text of everyText) {
    const creator = text.slice(0, 100)
    const batch = [
      { ...about, creator, feedback_type: 'wandb.note.1', payload: { note: text.slice(0, 1_000) } },
      { ...about, creator, feedback_type: `own ${text.slice(0, 60)}`, payload: { [text.slice(0, 900)]: text } },
    ]
    await world.server.send('/feedback/batch/create', { batch })
  }
}

/** A queue whose name, questions and choices are hostile. */
async function makeQueue(call_ids: string[]): Promise<void> {
  const schemas = [
    { type: 'boolean' },
    { type: 'string', enum: [...texts, longWord].map((text) => text.slice(0, 5_000)) },
    { type: 'string' },
  ]
  const scorer_refs: string[] = []
  for (const [n, field_schema] of schemas.entries()) {
    const val = { name: everyText[n * 5 + 6]?.slice(0, 900), description: texts[n * 4], field_schema }
    const obj = { project_id: project, object_id: `spec${n}`, builtin_object_class: 'AnnotationSpec', val }
    const { digest } = await world.server.send<{ digest: string }>('/obj/create', { obj })
    scorer_refs.push(`weave:///${project}/object/spec${n}:${digest}`)
  }
  const asked = {
    project_id: project,
    name: `${texts[5]} ${longWord}`.slice(0, 250),
    description: texts[1],
    scorer_refs,
  }
  queueId = (await world.server.send<{ id: string }>('/annotation_queues', asked)).id
  const items = `/annotation_queues/${queueId}/items`
  await world.server.send(items, { project_id: project, call_ids, display_fields: ['inputs', 'output', texts[0]] })
  const listed = await world.server.send<{ items: { id: string }[] }>(`${items}/query`, { project_id: project })
  itemId = listed.items[0]?.id ?? ''
  const annotation = (text: string) => ({
    project_id: project,
    weave_ref: `weave:///${project}/call/${call_ids[0]}`,
    creator: text.slice(0, 100),
    queue_id: queueId,
    feedback_type: 'wandb.annotation.spec2',
    annotation_ref: scorer_refs[2],
    payload: { value: text },
  })
  await world.server.send('/feedback/batch/create', { batch: everyText.map(annotation) })
}

beforeAll(async () => {
  world = await startWorld(project)
  const turns = everyText.map(turnOf)
  await world.send([...evaluationRun(runA, Date.now() - 80_000), ...evaluationRun(runB, Date.now() - 40_000), ...turns])
  await sendFeedback()
  await makeQueue(turns.map((one) => (one as { id: string }).id))
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

/** Faults of the current page: elements and addresses that came from data, then 320 pixels that do not hold it. */
async function faultsOf(where: string): Promise<string[]> {
  const found = (await page.evaluate<string[]>(strangeElements)).map((one) => `${where}: ${one}`)
  return [...found, ...(await narrowFaults(page, where))]
}

const open = async (path: string, selector: string) => {
  await page.goto(`${world.url}/p/${project}${path}`)
  await page.locator(selector).first().waitFor()
}

it('evaluations: lists, distributions, rows and comparisons', async () => {
  await open('/evaluations', '.row')
  expect(await faultsOf('runs')).toEqual([])
  await open(`/evaluations/${runA}`, '[role=row]')
  await page.getByText('alert(1)').first().waitFor()
  expect(await faultsOf('a run')).toEqual([])
  await open(`/evaluations/compare?runs=${runA},${runB}&show=all`, '.rows .row')
  expect(await faultsOf('a comparison')).toEqual([])
  await page.getByRole('table', { name: 'Rows of the runs' }).focus()
  for (let n = 0; n < everyText.length; n++) {
    await page.keyboard.press(' ')
    await page.getByRole('dialog').getByRole('region', { name: 'Run B' }).waitFor()
    expect(await faultsOf(`row ${n}`)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('j')
  }
})

it('queues: their names, questions, choices, items and what others have said', async () => {
  await open('/queues', '[role=row], .row')
  expect(await faultsOf('queues')).toEqual([])
  await open(`/queues/${queueId}`, '[role=row], .row')
  await page.locator('.answers figcaption').getByText('alert(1)').first().waitFor()
  expect(await faultsOf('a queue')).toEqual([])
  await open(`/queues/${queueId}/items/${itemId}`, '.message')
  expect(await faultsOf('an item')).toEqual([])
  for (let n = 0; n < everyText.length; n++) {
    await page.keyboard.press('ArrowRight')
    await page.locator('.shown').waitFor()
  }
  expect(await faultsOf('the last item')).toEqual([])
})

it('the playground: a recorded call, answers, calls of tools and refusals', async () => {
  const [script = '', image = ''] = texts
  const answer = (route: Route) => {
    const { model } = route.request().postDataJSON() as { model: string }
    if (model === 'refuses') return route.fulfill({ status: 400, json: { error: { message: everyText.join(' ') } } })
    const tool = { index: 0, id: script, function: { name: image, arguments: everyText.join(' ') } }
    const deltas = [{ content: everyText.join(' ') }, { content: longWord }, { tool_calls: [tool] }]
    const lines = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`).join('')
    const headers = { 'content-type': 'text/event-stream', 'x-call-id': script.replaceAll(/[^\x20-\x7e]/g, '') }
    return route.fulfill({ headers, body: `${lines}data: [DONE]\n\n` })
  }
  await page.route('**/inference/v1/chat/completions', answer)
  await open(`/playground?call=${spoken}`, 'textarea')
  await expectSoon(() => page.getByLabel('Message 1', { exact: true }).inputValue()).toBe(script)
  await expectSoon(() => page.getByLabel('Name of model 1').inputValue()).toBe(script)
  expect(await faultsOf('a recorded call')).toEqual([])
  await page.keyboard.press('Control+Enter')
  await page.getByRole('region', { name: 'Answer of model 1' }).getByText('alert(1)').first().waitFor()
  expect(await faultsOf('an answer')).toEqual([])
  await page.getByLabel('Name of model 1').fill('refuses')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').getByText('alert(1)').first().waitFor()
  expect(await faultsOf('a refusal')).toEqual([])
  // Refusals are 400, and the header names no call, so its cost is 404.
  const others = here.faults.filter((line) => !/status of 40[04]/.test(line))
  here.faults.splice(0, Number.POSITIVE_INFINITY, ...others)
  await page.unroute('**/inference/v1/chat/completions')
})

it('threads: messages, roles, tools, reactions and a turn beside them', async () => {
  await open('/threads', '.row')
  expect(await faultsOf('threads')).toEqual([])
  const thread = `/threads/${encodeURIComponent(threadId)}`
  await open(thread, '.turn .message')
  await page.locator('#turn-1 .chip').first().waitFor()
  for (let n = 0; n < everyText.length; n++) {
    await page.keyboard.press('j')
    expect(await page.evaluate(strangeElements)).toEqual([])
  }
  expect(await faultsOf('a thread')).toEqual([])
  await page.keyboard.press('m')
  await page.locator('.turn .markdown').first().waitFor()
  // Links lead there, and nothing is loaded from there.
  const links = ['Markdown: https://evil.example/pixel.png', 'Markdown: https://evil.example/a']
  expect((await faultsOf('Markdown')).filter((line) => !links.includes(line))).toEqual([])
  await expectSoon(() => page.locator('.turn a[href^="https://evil"]:not([rel~=noopener]), .turn img').count()).toBe(0)
  await page.keyboard.press('m')
  await open(`${thread}?turn=${spoken}&tab=feedback`, '.feedback li')
  await expectSoon(() => page.locator('.feedback li').count()).toBe(everyText.length * 3)
  expect(await faultsOf('feedback')).toEqual([])
})

it('dashboards: names, titles and groups of a project’s own, in every form', async () => {
  const types = ['lines', 'bars', 'stack', 'table', 'number', 'heat']
  const charts = everyText.map((text, n) => ({
    title: text,
    type: types[n % types.length],
    measure: n % 2 === 0 ? 'calls' : 'tokens',
    group_by: [['model', 'exception', 'op_name'][n % 3]],
    filter: '',
    size: n % 2 === 0 ? 12 : 6,
  }))
  const val = {
    _type: 'CallhouseDashboard',
    _class_name: 'CallhouseDashboard',
    _bases: ['Object', 'BaseModel'],
    label: everyText.join(' '),
    charts: [...charts, { title: texts[0], type: texts[1], measure: texts[2] }],
  }
  const obj = { project_id: project, object_id: 'dashboard-hostile', val }
  await world.server.send('/obj/create', { obj })
  await open('/dashboard?board=dashboard-hostile', '.charts section')
  await page.getByText('1 chart not shown').waitFor()
  expect(await faultsOf('a dashboard')).toEqual([])
  await page.getByRole('button', { name: 'Custom dashboards' }).click()
  await page.locator('.menu .item').first().waitFor()
  expect(await faultsOf('the menu of dashboards')).toEqual([])
})

it('differences of two traces, span by span', async () => {
  await open(`/diff?a=call/${runA}&b=call/${runB}`, 'section[aria-label=Spans] tbody tr')
  expect(await faultsOf('differences')).toEqual([])
  await page.getByRole('button', { name: 'Largest first' }).click()
  expect(await faultsOf('the largest differences')).toEqual([])
})
