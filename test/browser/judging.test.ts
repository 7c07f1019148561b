// tier: deep browser
// Pages for judging: evaluation runs and their comparison, annotation queues; from the data of the demo.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendEvaluations } from '../../scripts/demo/evaluations.ts'
import { sendQueue } from '../../scripts/demo/queue.ts'
import { askServer, type DemoTarget } from '../../scripts/demo/server.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { type KeyName, keyTable } from '../../services/web/page/key-table.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { sendSmallQueue } from './small-queue.ts'
import { call, everybodysFaults, newId, type Opened, startWorld, type World } from './world.ts'

const project = 'acme/judging-demo'
const home = `/p/${project}`

let world: World
let here: Opened
let page: Page
let runs: string[]
let target: DemoTarget

/** The queue of the demo with its 16 calls, of which 8 are answered. */
async function fillQueue(of: string): Promise<void> {
  const messages = [{ role: 'user', content: 'Is anybody there?' }]
  const agent = (n: number) =>
    call(of, { id: newId(), name: 'invoke_agent support', startMs: Date.now() - 60_000 * n, inputs: { messages } })
  await world.server.send(`/v2/${of}/calls/complete`, { batch: Array.from({ length: 16 }, (_, n) => agent(n)) })
  await sendQueue({ ...target, project: of })
}

beforeAll(async () => {
  world = await startWorld('acme/judging')
  target = { url: world.url, key: 'test-key', project }
  await sendEvaluations(target)
  await fillQueue(project)
  const asked = { project_id: project, filter: { op_names: ['Evaluation.evaluate'] }, columns: ['id'] }
  const listed = await askServer<{ id: string }>(target, '/calls/stream_query', {
    ...asked,
    sort_by: [{ field: 'started_at', direction: 'asc' }],
  })
  runs = listed.map(({ id }) => id)
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const go = (path: string) => page.goto(world.url + home + path)
const rows = (table: string) => page.getByRole('table', { name: table }).locator('.row')

describe('evaluations', () => {
  it('are listed with their scores, rows and the change since the run before; keys mark and compare them', async () => {
    await go('/evaluations')
    const listed = rows('Evaluation runs').filter({ hasNot: page.locator('[role=columnheader]') })
    await page.getByText('support-large on support questions').waitFor()
    await expectSoon(() => listed.nth(0).innerText()).toMatch(/support-quality[\s\S]*support-large[\s\S]*40[\s\S]*▲ \+/)
    await page.getByRole('table', { name: 'Evaluation runs' }).focus()
    for (const key of ['x', 'j', 'x', 'c']) await page.keyboard.press(key)
    await page.waitForURL((to) => to.pathname.endsWith('/evaluations/compare'))
    // The older run is the baseline.
    expect(new URL(page.url()).searchParams.get('runs')).toBe(runs.join(','))
    await page.goBack()
    await listed.nth(1).waitFor()
  })

  it('one run shows distributions, which filter its rows, and rows lead to their traces', async () => {
    await go(`/evaluations/${runs[0]}`)
    await page.getByRole('group', { name: 'Distribution of correct' }).waitFor()
    const all = rows('Rows of the run')
    const wrong = page.getByRole('button', { name: /^false: \d+ rows$/ })
    const count = Number(/\d+/.exec((await wrong.getAttribute('aria-label')) ?? '')?.[0])
    await wrong.click()
    await expectSoon(() => all.count()).toBe(count)
    await expectSoon(() => page.getByText('✓ true').count()).toBe(0)
    await page.reload()
    await expectSoon(() => all.count()).toBe(count)
    const question = await all.first().getByRole('link').innerText()
    await page.getByRole('table', { name: 'Rows of the run' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => to.pathname.includes('/traces/') && to.search.includes('call='))
    await page.getByRole('tabpanel').getByText(question).first().waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Remove the filter by correct' }).click()
    await page.getByRole('button', { name: /^Errors 1/ }).click()
    await page.getByText('TimeoutError').waitFor()
    await expectSoon(() => all.count()).toBe(1)
  })

  it('are compared: the worst change first, by the chosen score, side by side', async () => {
    await go(`/evaluations/compare?runs=${runs.join()}`)
    const all = rows('Rows of the runs')
    await all.first().getByText('worse').waitFor()
    const heads = page.getByRole('group', { name: 'Scores by run' })
    const rowOf = (name: string) => heads.getByRole('row', { name: new RegExp(`^${name}`) })
    const cells = (name: string) => rowOf(name).getByRole('cell').allInnerTexts()
    await expectSoon(() => cells('Tokens')).toEqual([expect.stringMatching(/\d/), expect.stringMatching(/\d/)])
    await expectSoon(() => cells('Cost')).toEqual([expect.stringMatching(/^\$/), expect.stringMatching(/^\$/)])
    await page.getByRole('button', { name: /^Regressed \d/ }).click()
    await expectSoon(async () => [...new Set(await all.locator('.verdict').allInnerTexts())]).toEqual(['worse'])
    await page.getByRole('button', { name: /^Improved \d/ }).click()
    await all.first().getByText('better').waitFor()
    await page.getByRole('button', { name: /^All 40/ }).click()
    await page.getByRole('button', { name: 'judge.helpfulness', exact: true }).click()
    await page.waitForURL((to) => to.searchParams.get('metrics') === 'judge.helpfulness')
    await page.getByRole('table', { name: 'Rows of the runs' }).focus()
    // Rows that come meanwhile begin at the first one.
    const next = async () => {
      await page.keyboard.press('Home')
      await page.keyboard.press('n')
      return page.locator('.rows .row.at').getAttribute('aria-rowindex')
    }
    await expectSoon(next).toBe('3')
    await page.keyboard.press(' ')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('region', { name: 'Run B' }).getByText('judge.reason').waitFor()
    await page.keyboard.press('Escape')
    const chips = page.locator('.chip.run')
    const second = await chips.nth(1).locator('a').innerText()
    await page.getByRole('button', { name: 'Use B as baseline' }).click()
    await page.waitForURL((to) => to.searchParams.get('runs') === runs.toReversed().join(','))
    await expectSoon(() => chips.nth(0).locator('a').innerText()).toBe(second)
    await chips.nth(1).locator('b').dragTo(chips.nth(0).locator('b'), { steps: 6 })
    await page.waitForURL((to) => to.searchParams.get('runs') === runs.join(','))
    await page.reload()
    await all.first().waitFor()
  })

  it('comparisons are saved as objects and opened from the list', async () => {
    await go(`/evaluations/compare?runs=${runs.join()}`)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByLabel('Name').fill('small against large')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await go('/evaluations')
    await page.getByRole('button', { name: 'Saved comparisons' }).click()
    await page.getByRole('button', { name: 'small against large' }).click()
    await page.waitForURL((to) => to.searchParams.get('runs') === runs.join(','))
  })

  it('say what to do where there is none, and that a run has not arrived', async () => {
    await page.goto(`${world.url}/p/acme/nothing/evaluations`)
    await page.getByRole('heading', { name: 'No evaluation runs yet' }).waitFor()
    await go('/evaluations/01999999-9999-7999-8999-999999999999')
    await page.getByRole('heading', { name: 'This evaluation run has not arrived yet' }).waitFor()
    await go('/evaluations/compare')
    await page.getByRole('heading', { name: 'Choose runs to compare' }).waitFor()
  })

  it('rows from an SDK, whose examples are refs into a dataset, show what these say', async () => {
    const { project: other } = world
    const [entity, name] = other.split('/')
    const rowsOf = [{ question: 'From a dataset?', expected: 'yes' }]
    const path = `/v2/${entity}/${name}`
    const dataset = { name: 'refs', rows: rowsOf }
    const made = await world.server.send<{ object_id: string; digest: string }>(`${path}/datasets`, dataset)
    const [at] = await askServer<{ rows: { digest: string }[] }>(target, '/table/query', {
      project_id: other,
      digest: await tableDigest(made),
    })
    const example = `weave:///${other}/object/${made.object_id}:${made.digest}/attr/rows/id/${at?.rows[0]?.digest}`
    const trace_id = '0123456789abcdef0123456789abcdef'
    const times = { started_at: '2026-01-05T12:00:00Z', ended_at: '2026-01-05T12:00:01Z' }
    const shared = { project_id: other, trace_id, ...times, attributes: {}, summary: {} }
    const output = { output: 'yes', scores: { ok: true }, model_latency: 0.1 }
    const row = { op_name: `weave:///${other}/op/Evaluation.predict_and_score:abc`, inputs: { example }, output }
    await world.server.send(`${path}/calls/complete`, {
      batch: [
        {
          ...shared,
          id: 'aaaaaaaaaaaaaaaa',
          parent_id: null,
          op_name: `weave:///${other}/op/Evaluation.evaluate:abc`,
          inputs: {},
          output: {},
        },
        { ...shared, ...row, id: 'bbbbbbbbbbbbbbbb', parent_id: 'aaaaaaaaaaaaaaaa' },
      ],
    })
    await page.goto(`${world.url}/p/${other}/evaluations/aaaaaaaaaaaaaaaa`)
    await rows('Rows of the run').getByText('From a dataset?').waitFor()
  })
})

describe('annotation queues', () => {
  const items = () => rows('Items')
  const title = (text: string) => page.getByText(text, { exact: true }).waitFor()

  it('are listed with how far they are done, and show how far annotators agree, disagreements first', async () => {
    await go('/queues')
    await rows('Annotation queues').getByText('8 of 16').waitFor()
    await page.getByRole('table', { name: 'Annotation queues' }).focus()
    await page.keyboard.press('Enter')
    const answers = page.getByRole('region', { name: 'Answers' })
    await answers.getByText('87.5 % agreement on 8 items · κ 0.6 · α 0.615').waitFor()
    await expectSoon(() => items().count()).toBe(16)
    await expectSoon(() => items().first().innerText()).toContain('helpful, stars')
    await page.reload()
    await items().first().waitFor()
  })

  it('are worked through by keys alone; what was answered is stored and can be taken back', async () => {
    const own = 'acme/judging-worked'
    await fillQueue(own)
    await page.goto(`${world.url}/p/${own}/queues`)
    await page.getByRole('table', { name: 'Annotation queues' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Continue labeling' }).focus()
    await page.keyboard.press('Enter')
    await title('Item 9 of 16')
    await page.getByRole('list', { name: 'Messages' }).getByText('Is anybody there?').waitFor()
    // Without an answer to each question nothing is saved.
    await page.keyboard.press('Enter')
    await title('Item 9 of 16')
    await page.getByRole('alert').getByText('Answer helpful first').waitFor()
    for (const key of ['y', '2', '4', 'Enter']) await page.keyboard.press(key)
    await title('Item 10 of 16')
    await page.getByText('Saved', { exact: true }).waitFor()
    const said = await annotationsOf(own, 'tester')
    expect(said).toEqual({ helpful: true, tone: 'plain', stars: 4 })
    await page.keyboard.press('u')
    await title('Item 11 of 16')
    await page.keyboard.press('b')
    await title('Item 10 of 16')
    await page.keyboard.press('ArrowLeft')
    await title('Item 9 of 16')
    await page.getByRole('button', { name: 'Yes', pressed: true }).waitFor()
    // An answer that changes replaces the earlier one.
    for (const key of ['n', 'Enter']) await page.keyboard.press(key)
    await title('Item 11 of 16')
    await expectSoon(() => annotationsOf(own, 'tester')).toEqual({ helpful: false, tone: 'plain', stars: 4 })
    await page.getByRole('button', { name: 'Undo' }).click()
    await expectSoon(() => annotationsOf(own, 'tester')).toEqual({ tone: 'plain', stars: 4 })
    await page.keyboard.press('t')
    await page.waitForURL((to) => to.pathname.includes('/traces/'))
  })

  it('are made with their questions, and take marked calls', async () => {
    const own = 'acme/judging-made'
    await fillQueue(own)
    await page.goto(`${world.url}/p/${own}/calls`)
    const list = page.getByRole('table', { name: 'Calls' })
    await list.getByText('invoke_agent support').first().waitFor()
    await list.focus()
    for (const key of ['x', 'j', 'x']) await page.keyboard.press(key)
    await page.getByRole('button', { name: 'Add to queue…' }).click()
    await page.getByRole('button', { name: 'New queue' }).click()
    await page.getByLabel('Name').fill('Fresh ones')
    await page.getByRole('textbox', { name: 'Question 1' }).fill('tone of voice')
    await page.getByLabel('Answer 1').selectOption('choice')
    await page.getByLabel('Choices of question 1').fill('warm, cold')
    await page.getByRole('button', { name: 'Create queue' }).click()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('2 of 2 added.').waitFor()
    await page.goto(`${world.url}/p/${own}/queues`)
    await rows('Annotation queues').filter({ hasText: 'Fresh ones' }).getByText('0 of 2').waitFor()
  })

  it('each key of labelling does what the sheet of keys says', async () => {
    const calls = ['aaaaaaaaaaaaaa01', 'aaaaaaaaaaaaaa02']
    await world.send(calls.map((id) => call(world.project, { id })))
    const pressed = new Set<string>()
    const press = async (key: string) => {
      pressed.add(key)
      await page.keyboard.press(key)
    }

    await sendSmallQueue({ ...target, project: world.project }, calls)
    await page.goto(`${world.url}/p/${world.project}/queues`)
    await page.getByRole('table', { name: 'Annotation queues' }).focus()
    await press('Enter')
    await page.getByRole('button', { name: 'Continue labeling' }).click()
    const chosen = (name: string) => page.getByRole('button', { name, exact: true, pressed: true }).waitFor()
    const question = (name: string) => page.locator('.asked.at', { hasText: name }).waitFor()
    await question('sure')
    await press('y')
    await question('which')
    for (let digit = 1; digit <= 9; digit++) {
      await press(String(digit))
      await chosen(`c${digit} ${digit}`)
    }
    await press('ArrowUp')
    await question('sure')
    await press('n')
    await chosen('No n')
    await press('ArrowUp')
    await press('ArrowDown')
    await question('which')
    const item = (number: number) => page.getByText(`Item ${number} of 2`, { exact: true }).waitFor()
    await press('ArrowRight')
    await item(2)
    await press('ArrowLeft')
    await item(1)
    await press('Enter')
    await item(2)
    await press('b')
    await item(1)
    await press('ArrowRight')
    await press('u')
    await page.getByText('2 of 2').waitFor()
    await page.getByRole('button', { name: 'Review answers' }).click()
    await press('t')
    await page.locator('.span .label').first().waitFor()
    const names = (Object.keys(keyTable) as KeyName[]).filter((name) => keyTable[name].scope === 'Labeling')
    expect(names.flatMap((name) => keyTable[name].keys).filter((key) => !pressed.has(key))).toEqual([])
  })

  it('are read, not answered, by a key that may only read', async () => {
    const keys = openKeys({ dataDir: world.server.dataDir, configured: [] })
    const { text } = keys.create({ userId: 'looker', role: 'reader' })
    const { page: fresh, context, faults } = await world.open({ key: text })
    await fresh.goto(`${world.url}${home}/queues`)
    await fresh.getByRole('button', { name: 'New queue' }).waitFor()
    await expectSoon(() => fresh.getByRole('button', { name: 'New queue' }).isDisabled()).toBe(true)
    await fresh.locator('.row', { hasText: 'Support answers' }).getByRole('link').click()
    await fresh.getByRole('button', { name: 'Continue labeling' }).click()
    await fresh.getByText('You have read-only access').first().waitFor()
    await expectSoon(() => fresh.getByRole('button', { name: /Save and next/ }).isDisabled()).toBe(true)
    expect(faults).toEqual([])
    await context.close()
  })
})

describe('everybody', () => {
  it('can use these pages in both themes and 320 pixels wide: axe finds no fault', async () => {
    const [queue] = await askServer<{ id: string }>(target, '/annotation_queues/query', { project_id: project })
    const items = `/annotation_queues/${queue?.id}/items/query`
    const [found] = await askServer<{ items: { id: string }[] }>(target, items, { project_id: project })
    const pages: [path: string, selector: string][] = [
      ['/p/acme/nothing/evaluations', '.empty'],
      [`${home}/evaluations`, '.row .plain'],
      [`${home}/evaluations/${runs[0]}`, '.row .plain'],
      [`${home}/evaluations/compare?runs=${runs.join()}`, '.row .compared'],
      ['/p/acme/nothing/queues', '.empty'],
      [`${home}/queues`, '.row .plain'],
      [`${home}/queues/${queue?.id}`, '.row .plain'],
      [`${home}/queues/${queue?.id}/items/${found?.items[0]?.id}`, '.asked'],
    ]
    const faults: string[] = []
    for (const [path, selector] of pages) {
      await page.goto(world.url + path)
      await page.locator(selector).first().waitFor()
      faults.push(...(await everybodysFaults(page, path)))
    }
    expect(faults).toEqual([])
  })
})

/** Values by question of one person. */
async function annotationsOf(project: string, user: string): Promise<Record<string, unknown>> {
  const [found] = await askServer<{ result: Record<string, unknown>[] }>(target, '/feedback/query', {
    project_id: project,
  })
  const own = found?.result.filter((row) => (row.platform_user_id ?? row.wb_user_id) === user && !row.creator) ?? []
  return Object.fromEntries(
    own.map((row) => [String(row.feedback_type).split('.').at(-1), (row.payload as { value: unknown }).value]),
  )
}

/** Digest of the table that holds a dataset's rows. */
async function tableDigest({ object_id, digest }: { object_id: string; digest: string }): Promise<string> {
  const { obj } = await world.server.send<{ obj: { val: { rows: string } } }>('/obj/read', {
    project_id: world.project,
    object_id,
    digest,
  })
  return obj.val.rows.split('/table/')[1] as string
}
