// tier: deep browser
// Actions on marked calls, and on one of them: feedback, rows of a dataset, CSV.
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, newId, newTrace, type Opened, picture, startWorld, type World } from './world.ts'

const hostile = '=cmd()<img src=x onerror=alert(1)>\u202e'
const ids = [newId(), newId(), newId()]
const trace = newTrace()

let world: World
let here: Opened

beforeAll(async () => {
  world = await startWorld('acme/marked')
  const question = (n: number) => (n === 0 ? hostile : `What is ${n}?`)
  const startMs = Date.now() - 60_000
  await world.send(
    ids.map((id, n) =>
      call(world.project, {
        id,
        name: 'answer',
        startMs: startMs - n * 1_000,
        ...(n === 0 && { trace }),
        inputs: { question: question(n), k: n + 0.5, [hostile]: n },
        output: `Answer ${n}`,
      }),
    ),
  )
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const button = (name: string) => here.page.getByRole('button', { name, exact: true })

async function mark() {
  const { page } = here
  await page.goto(`${world.url}/p/${world.project}/calls`)
  await page.locator('.row .name').first().waitFor()
  await page.getByRole('table', { name: 'Calls' }).focus()
  await page.keyboard.press('Control+a')
  await page.getByText('3 marked').waitFor()
}

/** The rows of the latest version of a dataset, each as JSON. */
async function rowsOf(name: string): Promise<unknown[]> {
  const asked = { project_id: world.project, object_id: name, digest: 'latest' }
  const { obj } = await world.server.send<{ obj: { val: { rows: string } } }>('/obj/read', asked)
  const digest = obj.val.rows.split('/').at(-1)
  const body = JSON.stringify({ project_id: world.project, digest })
  return [...(await post(world.url, '/table/query', body)).text.matchAll(/"val":(\{.*?\})(?=,"original_index)/g)].map(
    ([, val]) => val,
  )
}

it('two marked calls are compared by what they say, and no other number of them', async () => {
  const { page } = here
  await mark()
  const compare = page.getByRole('link', { name: 'Compare', exact: true })
  await expectSoon(() => compare.count()).toBe(0)
  await page.locator('.row input').first().uncheck()
  await compare.click()
  const inputs = page.getByRole('table', { name: 'Differences of inputs' }).locator('tbody tr')
  await expectSoon(() => inputs.count()).toBe(3)
  await expectSoon(() => inputs.nth(1).innerText()).toMatch(/^k\s+differs\s+1.5\s+2.5 \+1$/)
  await expectSoon(() => page.locator('.differences img').count()).toBe(0)
  await page.goBack()
  await page.locator('.row .name').first().waitFor()
})

it('two traces are compared span by span, in the order of their trees or the greatest difference first', async () => {
  const { page } = here
  const project = `${world.project}-traces`
  const startMs = Date.now() - 30_000
  const traces = ['one', 'two'].map((trace, n) => {
    const root = call(project, { name: 'agent', startMs, ms: 1_000 + n * 500 })
    const of = { trace: root.trace_id as string, parent: root.id as string }
    const below = [
      call(project, { name: 'chat', startMs, ms: 300 + n * 400, ...of }),
      call(project, { name: `<b>${trace}</b>`, startMs: startMs + 800, ms: 10, ...of }),
    ]
    return { root, below }
  })
  const batch = traces.flatMap(({ root, below }) => [root, ...below])
  await world.server.send(`/v2/${project}/calls/complete`, { batch })
  const [a, b] = traces.map(({ root }) => root.id)
  await page.goto(`${world.url}/p/${project}/diff?a=call/${a}&b=call/${b}`)
  const rows = page.getByRole('table', { name: 'Differences of spans' }).locator('tbody tr')
  const names = () => rows.locator('th').allInnerTexts()
  await expectSoon(names).toEqual(['agent', 'chat', '<b>one</b>\nonly in A', '<b>two</b>\nonly in B'])
  await expectSoon(() => rows.nth(1).innerText()).toMatch(/chat\s+300 ms\s+700 ms \+400 ms/)
  await page.getByRole('button', { name: 'Largest first' }).click()
  await expectSoon(async () => (await names()).slice(0, 2)).toEqual(['agent', 'chat'])
  await rows.nth(2).getByRole('link').click()
  await page.getByRole('treegrid').waitFor()
})

it('all marked calls take a reaction and a note', async () => {
  const { page } = here
  await mark()
  await button('Feedback…').click()
  const dialog = page.getByRole('dialog', { name: 'Add feedback to 3 calls' })
  await expectSoon(() => dialog.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true)
  await dialog.getByRole('button', { name: 'Good' }).click()
  await dialog.getByLabel('Note').fill('Seen together')
  expect(await everybodysFaults(page, 'feedback')).toEqual([])
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('Added to 3 calls.').waitFor()
  const { result } = await world.server.send<{ result: { weave_ref: string; payload: object }[] }>('/feedback/query', {
    project_id: world.project,
  })
  expect(result.map(({ weave_ref }) => weave_ref.split('/').at(-1)).sort()).toEqual([...ids, ...ids].sort())
  expect(result.filter(({ payload }) => 'note' in payload && payload.note === 'Seen together')).toHaveLength(3)
})

it('marked calls become rows of a new dataset, with chosen fields under chosen names, and one call goes behind them', async () => {
  const { page } = here
  await mark()
  await button('Add to dataset…').click()
  const dialog = page.getByRole('dialog', { name: 'Add 3 calls to dataset' })
  // All that went in and came out, in a new dataset, unless something else is chosen.
  await expectSoon(() => dialog.getByRole('combobox', { name: 'Dataset' }).inputValue()).toBe('')
  await expectSoon(() => dialog.getByRole('checkbox', { checked: true }).count()).toBe(2)
  await dialog.getByRole('checkbox', { name: 'inputs', exact: true }).uncheck()
  for (const name of ['inputs.question', 'inputs.k']) await dialog.getByRole('checkbox', { name, exact: true }).check()
  await dialog.getByLabel('Name', { exact: true }).fill('picked calls!')
  await dialog.getByText('such as picked-calls').waitFor()
  await expectSoon(() => dialog.getByRole('button', { name: 'Add' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Name', { exact: true }).fill('picked')
  await dialog.getByLabel('Column name of output').fill('question')
  await dialog.getByText('Two fields have the same name.').waitFor()
  await expectSoon(() => dialog.getByRole('button', { name: 'Add' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Column name of output').fill('expected')
  expect(await everybodysFaults(page, 'dataset')).toEqual([])
  await expectSoon(() => dialog.locator('img').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Add' }).click()
  await page.getByText('3 rows added from 3 calls').waitFor()
  const rows = await rowsOf('picked')
  expect(rows).toHaveLength(3)
  expect(rows).toContain('{"question":"What is 1?","k":1.5,"expected":"Answer 1"}')
  await page.goto(`${world.url}/p/${world.project}/traces/${trace}`)
  await page.getByRole('button', { name: 'Add to dataset…' }).click()
  const one = page.getByRole('dialog', { name: 'Add 1 call to dataset' })
  await one.getByRole('combobox', { name: 'Dataset' }).selectOption('picked')
  await one.getByRole('button', { name: 'Add' }).click()
  await page.getByText('1 row added from 1 call').waitFor()
  await page.getByRole('link', { name: 'picked' }).click()
  await page.getByText('v1, the latest').waitFor()
  await page.getByText('4 rows').waitFor()
  expect((await rowsOf('picked')).slice(0, 3)).toEqual(rows)
})

it('marked calls are saved as CSV, a column for each input, without formulas', async () => {
  const { page } = here
  await mark()
  await button('Export…').click()
  await page.getByLabel(/^CSV/).check()
  const [file] = await Promise.all([page.waitForEvent('download'), button('Export').click()])
  expect(file.suggestedFilename()).toBe('calls.csv')
  const lines = (await text(await file.createReadStream())).trim().split('\r\n')
  const columns = lines[0]?.split(',') ?? []
  expect(columns.slice(0, 2)).toEqual(['id', 'trace_id'])
  expect(columns).toEqual(expect.arrayContaining(['op_name', 'inputs.question', 'inputs.k', 'output']))
  expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual(expect.arrayContaining(ids))
  expect(lines.join('\n')).toContain("'=cmd()")
  expect(lines.join('\n')).not.toMatch(/(^|,)=cmd/m)
})

it('the list is saved as it is filtered, by an address, as JSON Lines and as CSV of its columns', async () => {
  const { page } = here
  await page.goto(`${world.url}/p/${world.project}/calls?q=inputs.k%3C2&cols=inputs.question,output`)
  await page.locator('.row .name').nth(1).waitFor()
  const save = async (format: RegExp, name: string) => {
    await button('Export the list').click()
    const dialog = page.getByRole('dialog', { name: 'Export 2 calls' })
    await dialog.getByLabel(format).check()
    if (name === 'calls.csv') expect(await everybodysFaults(page, 'export')).toEqual([])
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByText('Export', { exact: true }).click(),
    ])
    expect(file.suggestedFilename()).toBe(name)
    await dialog.getByText('Your browser saves the file.').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    return (await text(await file.createReadStream())).trim().split(/\r?\n/)
  }
  const lines = await save(/^JSON Lines/, 'calls.jsonl')
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids.slice(0, 2))
  const rows = await save(/^CSV/, 'calls.csv')
  expect(rows[0]).toMatch(/^id,trace_id,op_name,.*,exception,inputs\.question,output$/)
  expect(rows[1]).toMatch(/^\w+,.*,'=cmd\(\)<img src=x onerror=alert\(1\)>\u202e,Answer 0$/)
  expect(rows).toHaveLength(3)
})
