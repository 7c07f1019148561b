// Pages for judging: evaluation runs and their comparison, from the data of the demo.

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sendEvaluations } from '../../scripts/demo/evaluations.ts'
import { askServer, type DemoTarget } from '../../scripts/demo/server.ts'
import { type Opened, picture, startWorld, type World } from './world.ts'

const project = 'acme/demo'
const home = `/p/${project}`

let world: World
let here: Opened
let page: Page
let runs: string[]
let target: DemoTarget

beforeAll(async () => {
  world = await startWorld()
  target = { url: world.url, key: 'test-key', project }
  await sendEvaluations(target)
  const asked = { project_id: project, filter: { op_names: ['Evaluation.evaluate'] }, columns: ['id'] }
  const listed = await askServer<{ id: string }>(target, '/calls/stream_query', {
    ...{ ...asked, sort_by: [{ field: 'started_at', direction: 'asc' }] },
  })
  runs = listed.map(({ id }) => id)
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (path: string) => page.goto(world.url + home + path)
const rows = (table: string) => page.getByRole('table', { name: table }).locator('.row')

describe('evaluations', () => {
  it('are listed with their scores, rows and the change since the run before; keys mark and compare them', async () => {
    await go('/evaluations')
    const listed = rows('Evaluation runs').filter({ hasNot: page.locator('[role=columnheader]') })
    await page.getByText('support-large on support questions').waitFor()
    await expect
      .poll(() => listed.nth(0).innerText())
      .toMatch(/support-quality[\s\S]*support-large[\s\S]*40[\s\S]*▲ \+/)
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
    await expect.poll(() => all.count()).toBe(count)
    expect(await page.getByText('✓ true').count()).toBe(0)
    await page.reload()
    await expect.poll(() => all.count()).toBe(count)
    const question = await all.first().locator('a').innerText()
    await page.getByRole('table', { name: 'Rows of the run' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => to.pathname.includes('/traces/') && to.search.includes('call='))
    await page.getByRole('tabpanel').getByText(question).first().waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Remove the filter by correct' }).click()
    await page.getByRole('button', { name: /^Errors 1/ }).click()
    await page.getByText('TimeoutError').waitFor()
    expect(await all.count()).toBe(1)
  })

  it('are compared: the worst change first, by the chosen score, side by side', async () => {
    await go(`/evaluations/compare?runs=${runs.join()}`)
    const all = rows('Rows of the runs')
    await all.first().getByText('worse').waitFor()
    await page.getByRole('button', { name: /^Regressed \d/ }).click()
    expect(new Set(await all.locator('.verdict').allInnerTexts())).toEqual(new Set(['worse']))
    await page.getByRole('button', { name: /^Improved \d/ }).click()
    await all.first().getByText('better').waitFor()
    await page.getByRole('button', { name: /^All 40/ }).click()
    await page.getByRole('button', { name: 'judge.helpfulness', exact: true }).click()
    await page.waitForURL((to) => to.searchParams.get('metrics') === 'judge.helpfulness')
    await page.getByRole('table', { name: 'Rows of the runs' }).focus()
    await page.keyboard.press('n')
    await expect.poll(() => page.locator('.rows .row.at').getAttribute('aria-rowindex')).toBe('3')
    await page.keyboard.press(' ')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('region', { name: 'Run B' }).getByText('judge.reason').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Make B the baseline' }).click()
    await page.waitForURL((to) => to.searchParams.get('runs') === runs.toReversed().join(','))
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
    await page.getByRole('heading', { name: 'This evaluation run is not here yet' }).waitFor()
    await go('/evaluations/compare')
    await page.getByRole('heading', { name: 'Choose runs to compare' }).waitFor()
  })

  it('rows from an SDK, whose examples are refs into a dataset, show what these say', async () => {
    const { project: other } = world
    const [entity, name] = other.split('/')
    const rowsOf = [{ question: 'From a dataset?', expected: 'yes' }]
    const path = `/v2/${entity}/${name}`
    const made = await world.server.send<{ object_id: string; digest: string }>(`${path}/datasets`, {
      ...{ name: 'refs', rows: rowsOf },
    })
    const [at] = await askServer<{ rows: { digest: string }[] }>(target, '/table/query', {
      ...{ project_id: other, digest: await tableDigest(made) },
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

/** Digest of the table that holds a dataset's rows. */
async function tableDigest({ object_id, digest }: { object_id: string; digest: string }): Promise<string> {
  const { obj } = await world.server.send<{ obj: { val: { rows: string } } }>('/obj/read', {
    ...{ project_id: world.project, object_id, digest },
  })
  return obj.val.rows.split('/table/')[1] as string
}
