// tier: deep browser
// Further actions on evaluations, queues and the playground: new runs and their progress, queues that change and become
// datasets, rows of a dataset run by models, images, costs, code and schemas.
import type { Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import { post } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, newId, newTrace, type Opened, picture, startWorld, type World } from './world.ts'

const calls = [newId(), newId()] as const
const running = newId()
const hostile = '<img src=x onerror=alert(1)>'

let world: World
let here: Opened
let queue: string
let refs: string[]
let sent: Record<string, unknown>[] = []

const made = async (object_id: string, val: object, more: object = {}) => {
  const obj = { project_id: world.project, object_id, val, ...more }
  const { digest } = await world.server.send<{ digest: string }>('/obj/create', { obj })
  return `weave:///${world.project}/object/${object_id}:${digest}`
}

/** Stands for the provider. */
async function answer(route: Route): Promise<void> {
  const body = route.request().postDataJSON() as { template_vars?: { question?: string } } & Record<string, unknown>
  sent.push(body)
  const content = body.response_format ? '{"name":1}' : `About ${body.template_vars?.question}`
  const url_citation = { url: 'https://a.example/page', title: '<b>Where</b>' }
  const tokens = [content.slice(0, 5), content.slice(5)].map((token, n) => ({ token, logprob: -2 * n }))
  const grounds = body.logprobs === true && {
    delta: { content, annotations: [{ type: 'url_citation', url_citation }] },
    logprobs: { content: tokens },
  }
  const lines = [
    {
      choices: [{ delta: { content }, finish_reason: 'stop', ...grounds }],
      ...(grounds && { citations: ['javascript:alert(1)'] }),
    },
    { choices: [], usage: { prompt_tokens: 7 } },
  ]
  await route.fulfill({
    headers: { 'content-type': 'text/event-stream', 'x-call-id': calls[0] },
    body: lines.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''),
  })
}

beforeAll(async () => {
  world = await startWorld('acme/judging-acts')
  const { project } = world
  const usage = { 'priced-model': { prompt_tokens: 1_500, completion_tokens: 20, requests: 1 } }
  await world.send(
    calls.map((id, n) => call(project, { id, inputs: { question: `What is ${n}?` }, output: 'It.', usage })),
  )
  const cost = { prompt_token_cost: 0.000002, completion_token_cost: 0.00001, effective_date: '2020-01-01T00:00:00Z' }
  await world.server.send('/cost/create', { project_id: project, costs: { 'priced-model': cost } })
  refs = [
    await made('sure', { name: 'sure', field_schema: { type: 'boolean' } }, { builtin_object_class: 'AnnotationSpec' }),
    await made(
      'tone',
      { name: 'tone', field_schema: { enum: ['warm', 'cold'] } },
      { builtin_object_class: 'AnnotationSpec' },
    ),
  ]
  const asked = { project_id: project, name: 'Before', scorer_refs: refs }
  queue = (await world.server.send<{ id: string }>('/annotation_queues', asked)).id
  await world.server.send(`/annotation_queues/${queue}/items`, {
    project_id: project,
    call_ids: calls,
    display_fields: [],
  })
  for (const [by, value] of [
    ['ann', true],
    ['bob', false],
    ['cyd', true],
  ] as const)
    await world.server.send('/feedback/create', {
      project_id: project,
      weave_ref: `weave:///${project}/call/${calls[0]}`,
      creator: by,
      queue_id: queue,
      feedback_type: 'wandb.annotation.sure',
      annotation_ref: refs[0],
      payload: { value },
    })
  const rows = [`{"question":"${hostile}"}`, '{"question":"two"}', '{"question":"three"}']
  const table = await post(world.url, '/table/create', `{"table":{"project_id":"${project}","rows":[${rows}]}}`)
  const { digest } = JSON.parse(table.text) as { digest: string }
  const rowsRef = `weave:///${project}/table/${digest}`
  const dataset = await made('asked', {
    _type: 'Dataset',
    _class_name: 'Dataset',
    _bases: ['Object', 'BaseModel'],
    rows: rowsRef,
  })
  const base = { _bases: ['Object', 'BaseModel'] }
  await made('quality', { ...base, _class_name: 'Evaluation', dataset, scorers: [] })
  await made('answerer', {
    _bases: ['Model', 'Object', 'BaseModel'],
    _class_name: 'LLMStructuredCompletionModel',
    llm_model_id: 'x',
  })
  const start = { project_id: project, id: running, trace_id: newTrace(), op_name: 'Evaluation.evaluate' }
  const inputs = { self: `weave:///${project}/object/quality:v0`, model: `weave:///${project}/object/answerer:v0` }
  await world.server.send('/call/start', {
    start: { ...start, started_at: new Date().toISOString(), attributes: {}, inputs },
  })
  here = await world.open()
  await here.page.route('**/inference/v1/chat/completions', answer)
  await here.page.route('**/evaluations/status', (route) =>
    route.fulfill({ json: { status: { code: 'running', completed_rows: 3, total_rows: 8 } } }),
  )
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
  sent = []
})

const go = (path: string) => here.page.goto(`${world.url}/p/${world.project}${path}`)
const button = (name: string | RegExp) => here.page.getByRole('button', { name, exact: true })

it('a run that goes on says how far it is, and a new one is asked for', async () => {
  const { page } = here
  await go('/evaluations')
  await page.getByRole('table', { name: 'Evaluation runs' }).getByText('3 of 8').waitFor()
  const bodies: Record<string, string>[] = []
  await page.route('**/evaluations/evaluate_model', (route) => {
    bodies.push(route.request().postDataJSON() as Record<string, string>)
    return route.fulfill({ json: { call_id: running } })
  })
  await button('New run…').click()
  const dialog = page.getByRole('dialog', { name: 'New run' })
  await expectSoon(() =>
    dialog.getByRole('combobox', { name: 'Evaluation' }).locator('option').first().innerText(),
  ).toBe('quality v0')
  await expectSoon(() => dialog.getByRole('combobox', { name: 'Model' }).locator('option').first().innerText()).toBe(
    'answerer v0',
  )
  expect(await everybodysFaults(page, 'new run')).toEqual([])
  await dialog.getByRole('button', { name: 'Run', exact: true }).click()
  await page.waitForURL((to) => to.pathname.endsWith(`/evaluations/${running}`))
  expect(bodies[0]?.evaluation_ref).toMatch(/object\/quality:\w{20,}$/)
  expect(bodies[0]?.model_ref).toMatch(/object\/answerer:\w{20,}$/)
  await page.getByRole('progressbar', { name: '3 of 8 rows done' }).waitFor()
  expect(await everybodysFaults(page, 'running')).toEqual([])
})

it('an annotator does not see what others answered before the own answer', async () => {
  const { page } = here
  const asked = { project_id: world.project, limit: null }
  const { items } = await world.server.send<{ items: { id: string; call_id: string }[] }>(
    `/annotation_queues/${queue}/items/query`,
    asked,
  )
  await go(`/queues/${queue}/items/${items.find(({ call_id }) => call_id === calls[0])?.id}`)
  await page.getByText('3 answers by others are hidden until you save yours.').waitFor()
  expect(await page.locator('.asked').allInnerTexts()).not.toContainEqual(expect.stringMatching(/ann|bob|cyd/))
})

it('a second annotator is led to the items that the first one finished, and answers them beside', async () => {
  const asked = { project_id: world.project, name: 'By two', scorer_refs: refs.slice(0, 1) }
  const { id } = await world.server.send<{ id: string }>('/annotation_queues', asked)
  const item = { project_id: world.project, call_ids: calls.slice(1), display_fields: [] }
  await world.server.send(`/annotation_queues/${id}/items`, item)
  const keys = openKeys({ dataDir: world.server.dataDir, configured: [] })
  const opened = async (userId: string) => {
    const { text: key } = keys.create({ userId, role: 'annotator', grants: [world.project] })
    const one = await world.open({ key })
    await one.page.goto(`${world.url}/p/${world.project}/queues/${id}`)
    const start = one.page.locator('.bar button.first')
    return { ...one, start }
  }
  const first = await opened('first-annotator')
  await expectSoon(() => first.start.innerText()).toBe('Continue labeling')
  await first.start.click()
  await first.page.locator('.asked.at', { hasText: 'sure' }).waitFor()
  for (const key of ['y', 'Enter']) await first.page.keyboard.press(key)
  // Nothing is left to this person.
  await expectSoon(() => first.start.innerText()).toBe('Review answers')
  await first.page.getByText('1 of 1').waitFor()

  const second = await opened('second-annotator')
  await expectSoon(() => second.start.innerText()).toBe('Add your answers')
  await second.start.click()
  await second.page.getByText('1 answer by others is hidden until you save yours.').waitFor()
  expect(await second.page.getByRole('button', { name: 'Yes', pressed: true }).count()).toBe(0)
  for (const key of ['n', 'Enter']) await second.page.keyboard.press(key)
  await expectSoon(() => second.start.innerText()).toBe('Review answers')
  const row = second.page.getByRole('table', { name: 'Items' }).locator('.row')
  await expectSoon(() => row.innerText()).toMatch(/first-annotator, second-annotator[\s\S]*sure/)
  for (const { faults, context } of [first, second]) {
    expect(faults).toEqual([])
    await context.close()
  }
})

it('a queue changes its name and questions, and becomes a dataset with what most people answered', async () => {
  const { page } = here
  await go(`/queues/${queue}`)
  await button('Add to dataset…').click()
  const dialog = page.getByRole('dialog', { name: 'Add 2 calls to dataset' })
  await dialog.getByRole('combobox', { name: 'Dataset' }).selectOption('')
  await dialog.getByLabel('Name', { exact: true }).fill('labelled')
  await expectSoon(() => dialog.getByLabel('Column name of label: sure').inputValue()).toBe('sure')
  expect(await everybodysFaults(page, 'to dataset')).toEqual([])
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('2 rows added from 2 calls').waitFor()
  const { obj } = await world.server.send<{ obj: { val: { rows: string } } }>('/obj/read', {
    project_id: world.project,
    object_id: 'labelled',
    digest: 'latest',
  })
  const digest = obj.val.rows.split('/').at(-1)
  const { rows } = await world.server.send<{ rows: { val: object }[] }>('/table/query', {
    project_id: world.project,
    digest,
  })
  const vals = rows.map(({ val }) => val).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
  expect(vals).toEqual([
    { inputs: { question: 'What is 0?' }, output: 'It.', sure: true },
    { inputs: { question: 'What is 1?' }, output: 'It.' },
  ])
  await page.keyboard.press('Escape')
  await button('Edit…').click()
  const edit = page.getByRole('dialog', { name: 'Edit queue' })
  await expectSoon(() => edit.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await edit.getByLabel('Name').fill('After')
  await edit.getByRole('checkbox', { name: 'tone' }).uncheck()
  await edit.getByRole('button', { name: 'Add question' }).click()
  await edit.getByRole('textbox', { name: 'Question 1' }).fill('sure')
  await expectSoon(() => edit.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await edit.getByRole('textbox', { name: 'Question 1' }).fill('stars')
  await edit.getByLabel('Answer 1').selectOption('number')
  expect(await everybodysFaults(page, 'edit a queue')).toEqual([])
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('region', { name: 'Answers' }).getByText('stars').waitFor()
  const authorization = `Basic ${Buffer.from('api:test-key').toString('base64')}`
  const read = await fetch(`${world.url}/annotation_queues/${queue}?project_id=${world.project}`, {
    headers: { authorization },
  })
  const found = (await read.json()) as { queue: { name: string; scorer_refs: string[] } }
  expect(found.queue.name).toBe('After')
  expect(found.queue.scorer_refs).toEqual([refs[0], expect.stringContaining('/object/stars:')])
})

it('rows of a dataset fill the variables or are run by each model, and are kept with their answers', async () => {
  const { page } = here
  await go('/playground')
  await page.getByLabel('Message 2', { exact: true }).fill('Say {question}')
  await page.getByLabel('Name of model 1').fill('model-a')
  await button('Run on dataset…').click()
  const dialog = page.getByRole('dialog', { name: 'Run on dataset' })
  await dialog.getByRole('combobox', { name: 'Dataset' }).selectOption('asked')
  await dialog.getByRole('button', { name: 'Use row 2' }).click()
  await expectSoon(() => page.getByLabel('question').inputValue()).toBe('two')
  await button('Run on dataset…').click()
  await dialog.getByRole('combobox', { name: 'Dataset' }).selectOption('asked')
  await dialog.getByRole('button', { name: 'Run 3 rows' }).click()
  await dialog.getByText('3 of 3 answers').waitFor()
  await dialog.getByText('About three').waitFor()
  await expectSoon(() => dialog.getByRole('list', { name: 'Totals by model' }).innerText()).toMatch(
    /model-a average .*tokens/,
  )
  await dialog.getByText(`About ${hostile}`).waitFor()
  await expectSoon(() => page.locator('img[src=x]').count()).toBe(0)
  expect(sent.map(({ template_vars }) => (template_vars as { question: string }).question).sort()).toEqual([
    hostile,
    'three',
    'two',
  ])
  expect(await everybodysFaults(page, 'run on dataset')).toEqual([])
  await dialog.getByLabel('Dataset name').fill('kept')
  await dialog.getByRole('button', { name: 'Save rows and answers' }).click()
  await dialog.getByText('Saved as').waitFor()
  await dialog.getByRole('link', { name: 'kept' }).click()
  await page.getByText('3 rows', { exact: true }).waitFor()
  await page.getByText('About two').waitFor()
})

it('a message takes images and PDFs, an answer says what it cost and whether it keeps to the schema, and the request is code', async () => {
  const { page } = here
  await go('/playground')
  await button('Clear').click()
  await page.getByLabel('Message 2', { exact: true }).fill('What is it?')
  await page.getByLabel('Name of model 1').fill('model-a')
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const files = page.getByLabel('Images and PDFs of message 2')
  await files.setInputFiles({ name: 'x.svg', mimeType: 'image/svg+xml', buffer: png })
  await page.getByText('Only images (PNG, JPEG, GIF, WebP) and PDFs can be attached').waitFor()
  await files.setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: png })
  const pdf = Buffer.from('%PDF-1.4 ')
  await files.setInputFiles({ name: `${hostile}.pdf`, mimeType: 'application/pdf', buffer: pdf })
  await page.getByText(`${hostile}.pdf`).waitFor()
  await page.getByRole('checkbox', { name: 'Log probabilities' }).check()
  await page.getByRole('img', { name: '1 of message 2' }).waitFor()
  await page.getByRole('combobox', { name: 'Response format' }).selectOption('JSON Schema')
  await page
    .getByRole('textbox', { name: 'JSON Schema' })
    .fill('{"type":"object","properties":{"name":{"type":"string"}}}')
  await page.keyboard.press('Control+Enter')
  await page.getByText('name is integer, not string').waitFor()
  // Cost of the recorded call.
  await page.getByRole('group', { name: 'Answer' }).getByText('$0.0032').waitFor()
  expect(sent[0]?.messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
        {
          type: 'file',
          file: { filename: `${hostile}.pdf`, file_data: `data:application/pdf;base64,${pdf.toString('base64')}` },
        },
      ],
    },
  ])
  const citations = page.getByRole('region', { name: 'Citations' })
  await citations.getByRole('link', { name: '<b>Where</b>' }).waitFor()
  expect(await citations.getByRole('link').count()).toBe(1)
  await citations.getByText('javascript:alert(1)').waitFor()
  await button('Log probabilities').click()
  await page.getByRole('group', { name: 'Probability of each token' }).getByTitle('14 %').waitFor()
  expect(await everybodysFaults(page, 'grounds of an answer')).toEqual([])
  await button('Copy as… for model 1').click()
  await button('As Python').click()
  await page.getByText('Copied', { exact: true }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
    'api_key=os.environ["KEY"], project="acme/judging-acts"',
  )
  expect(await everybodysFaults(page, 'playground')).toEqual([])
})
