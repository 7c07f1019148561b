// tier: deep browser
// Datasets and tables: rows as they come into view, one whole, changes that make a version, files, hostile texts.
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, type Opened, picture, startWorld, type World } from './world.ts'

const rowCount = 450
const hostile = '<img src=x onerror=alert(1)>\u202e\u0007=cmd()'

let world: World
let here: Opened
let home: string

const send = async (path: string, body: string) => {
  const { status, text: answer } = await post(world.url, path, body)
  expect([path, status, status === 200 ? '' : answer]).toEqual([path, 200, ''])
  return JSON.parse(answer) as { digest: string }
}
const row = (n: number, more = '') => `{"question":"What is ${n}?","score":${n}.0${more}}`

/** A version of a dataset with these rows, each as JSON. */
async function dataset(name: string, rows: readonly string[]) {
  const project_id = world.project
  const made = `{"table":{"project_id":"${project_id}","rows":[${rows.join(',')}]}}`
  const { digest: table } = await send('/table/create', made)
  const ref = `weave:///${project_id}/table/${table}`
  const val = `{"_type":"Dataset","_class_name":"Dataset","_bases":["Object","BaseModel"],"k":1.0,"rows":"${ref}"}`
  const { digest } = await send(
    '/obj/create',
    `{"obj":{"project_id":"${project_id}","object_id":"${name}","val":${val}}}`,
  )
  return { table, digest }
}

/** The rows of the latest version, and the value of it, in the bytes of the answers. */
async function latest(name: string): Promise<{ rows: string; value: string }> {
  const asked = JSON.stringify({ project_id: world.project, object_id: name, digest: 'latest' })
  const value = (await post(world.url, '/obj/read', asked)).text
  const digest = /table\/(\w+)/.exec(value)?.[1]
  const rows = (await post(world.url, '/table/query', JSON.stringify({ project_id: world.project, digest }))).text
  return { rows, value }
}

beforeAll(async () => {
  world = await startWorld('acme/datasets')
  home = `/p/${world.project}/datasets`
  await dataset(
    'questions',
    Array.from({ length: rowCount }, (_, n) => row(n)),
  )
  await dataset('small', [row(0), row(1), row(2), row(3, ',"more":{"big":12345678901234567890}')])
  await dataset('behind', [row(0)])
  await dataset('hostile', [JSON.stringify({ [hostile]: hostile, long: 'x'.repeat(200_000), rtl: 'שלום' }), row(1)])
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (path: string) => here.page.goto(world.url + path)
const rows = () => here.page.getByRole('table', { name: 'Rows' }).locator('.row')
const button = (name: string | RegExp) => here.page.getByRole('button', { name, exact: true })

it('rows come as they are scrolled to, by keys too, and one of them opens whole, with its place in the address', async () => {
  const { page } = here
  await go(`/p/${world.project}/objects`)
  await page.getByRole('link', { name: 'questions' }).click()
  await page.waitForURL((to) => to.pathname.startsWith(`${home}/questions/`))
  await page.getByText('450 rows').waitFor()
  await expectSoon(() => rows().first().innerText()).toContain('What is 0?')
  await page.getByRole('table', { name: 'Rows' }).focus()
  await page.keyboard.press('End')
  await expectSoon(() => rows().last().innerText()).toMatch(/What is 449\?[\s\S]*449\.0/)
  await expectSoon(() => rows().count()).toBeLessThan(100)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Row 450' }).waitFor()
  await page.getByRole('tree', { name: 'Row' }).getByText('449.0').waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Row 450' }).waitFor()
  await expectSoon(() => page.locator('.line-of-cells.at').innerText()).toContain('What is 449?')
  await page.getByText('What is 440?').waitFor()
})

it('rows are changed, removed and added, undone, kept by the tab, and saved as a version that respells nothing', async () => {
  const { page } = here
  await go(`${home}/small/latest`)
  await page.getByText('4 rows').waitFor()
  const table = page.getByRole('table', { name: 'Rows' })
  await expectSoon(() => rows().count()).toBe(4)
  await table.focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Delete')
  await page.getByText('1 change not saved').waitFor()
  await page.keyboard.press('Control+z')
  await page.getByText('1 change not saved').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+y')
  await page.getByText('1 change not saved').waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await button('Edit…').click()
  await page.getByLabel('Value of question').fill('What is "three"?\n3')
  await button('Save row').click()
  await button('Add row…').click()
  await page.getByLabel('Value of question').fill('New')
  await page.getByLabel('Type of score').selectOption('json')
  await page.getByLabel('Value of score').fill('{1')
  await expectSoon(() => button('Add row').isDisabled()).toBe(true)
  await page.getByLabel('Value of score').fill('1.50')
  await button('Remove more').click()
  await button('Add row').click()
  await page.getByText('3 changes not saved').waitFor()
  await page.reload()
  await page.getByText('3 changes not saved').waitFor()
  await expectSoon(() => rows().count()).toBe(5)
  await button('Save as version…').click()
  await page.getByText('1 added, 1 changed, 1 removed').waitFor()
  await button('Save').click()
  await page.getByText('v1, the latest').waitFor()
  await expectSoon(() => rows().count()).toBe(4)
  await expectSoon(() => page.getByText(/not saved/).count()).toBe(0)
  const { rows: stored, value } = await latest('small')
  expect([...stored.matchAll(/"val":(\{.*?\})(?=,"original_index)/g)].map(([, val]) => val)).toEqual([
    '{"question":"What is 0?","score":0.0}',
    '{"question":"What is 2?","score":2.0}',
    '{"question":"What is \\"three\\"?\\n3","score":3.0,"more":{"big":12345678901234567890}}',
    '{"question":"New","score":1.50}',
  ])
  expect(value).toContain('"k":1.0')
})

it('rows are imported from pasted text and a file, with columns that are mapped, and what cannot be read is named', async () => {
  const { page } = here
  await dataset('imported', [row(0)])
  await go(`${home}/imported/latest`)
  await page.getByText('1 row', { exact: true }).waitFor()
  await button('Import…').click()
  const dialog = page.getByRole('dialog', { name: 'Import rows' })
  await dialog
    .getByLabel('Or pasted text')
    .fill(`${hostile}\tpoints\tother\nfirst\t1.50\tx\n=cmd()\t2\tx\ttoo many\nlast\t3\tx`)
  await dialog.getByText('2 rows; 1 invalid row skipped').waitFor()
  await dialog.getByText('Line 3: it has 4 cells, but there are 3 columns').waitFor()
  await dialog.getByLabel(/^Column name of .*onerror/).fill('question')
  await dialog.getByLabel('Column name of points').fill('question')
  await dialog.getByText('Two columns have the same name.').waitFor()
  await expectSoon(() => dialog.getByRole('button', { name: 'Add 2 rows' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Column name of points').fill('score')
  await dialog.getByRole('checkbox', { name: 'other' }).uncheck()
  const preview = dialog.getByRole('table', { name: 'First rows' }).locator('tr')
  await expectSoon(() => preview.allInnerTexts()).toEqual(['question\tscore', 'first\t1.50', 'last\t3'])
  expect(await everybodysFaults(page, 'import')).toEqual([])
  await expectSoon(() => page.locator('img[src=x]').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Add 2 rows' }).click()
  await page.getByText('2 changes not saved').waitFor()
  await button('Import…').click()
  const buffer = Buffer.from('{"question":"of a file","score":12345678901234567890}\n')
  await dialog.getByLabel('File').setInputFiles({ name: 'rows.jsonl', mimeType: 'application/jsonl', buffer })
  await expectSoon(() => dialog.getByLabel('Format').inputValue()).toBe('json')
  await dialog.getByRole('button', { name: 'Add 1 row' }).click()
  await page.getByText('3 changes not saved').waitFor()
  await button('Save as version…').click()
  await button('Save').click()
  await page.getByText('v1, the latest').waitFor()
  const { rows: stored } = await latest('imported')
  expect([...stored.matchAll(/"val":(\{.*?\})(?=,"original_index)/g)].map(([, val]) => val)).toEqual([
    row(0),
    '{"question":"first","score":1.50}',
    '{"question":"last","score":3}',
    '{"question":"of a file","score":12345678901234567890}',
  ])
})

it('cells of a spreadsheet are pasted over rows and behind them, and taken back at once', async () => {
  const { page } = here
  await dataset('pasted', [row(0), row(1)])
  await go(`${home}/pasted/latest`)
  await page.getByText('2 rows', { exact: true }).waitFor()
  await page.getByRole('table', { name: 'Rows' }).focus()
  await page.keyboard.press('ArrowDown')
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(`first\t2.50\n${hostile}\t3\n`)})`)
  await page.keyboard.press('Control+v')
  const dialog = page.getByRole('dialog', { name: 'Paste cells' })
  await dialog.getByLabel('From column').selectOption('score')
  await dialog.getByText('2 columns copied, but only 1 available from here.').waitFor()
  await dialog.getByLabel('From column').selectOption('question')
  await dialog.getByText('1 row changed, 1 added.').waitFor()
  expect(await everybodysFaults(page, 'paste')).toEqual([])
  await dialog.getByRole('button', { name: 'Paste 2 × 2 cells' }).click()
  await page.getByText('2 changes not saved').waitFor()
  await button('Undo').click()
  await expectSoon(() => page.getByText('not saved').count()).toBe(0)
  await button('Redo').click()
  await button('Save as version…').click()
  await button('Save').click()
  await page.getByText('v1, the latest').waitFor()
  const { rows: stored } = await latest('pasted')
  expect(stored).toContain('{"question":"first","score":2.50}')
  expect(stored).toContain(`{"question":${JSON.stringify(hostile)},"score":3}`)
  expect(stored).toContain(row(0))
})

it('lists of datasets, and of versions of one, say how many rows each has', async () => {
  const { page } = here
  await dataset('grown', [row(0)])
  await dataset('grown', [row(0), row(1), row(2)])
  const rows = (name: string, text: string) =>
    page.getByRole('table', { name }).locator('.row', { hasText: text }).first().innerText()
  await go(home.replace(/datasets$/, 'objects?class=datasets'))
  await expectSoon(() => rows('Datasets', 'questions')).toMatch(new RegExp(`questions[\\s\\S]*\\n${rowCount}\\n`))
  await expectSoon(() => rows('Datasets', 'grown')).toMatch(/grown[\s\S]*\n3\n/)
  await go(home.replace(/datasets$/, 'objects/grown'))
  await expectSoon(() => rows('grown', 'v0')).toMatch(/v0[\s\S]*\n1\n/)
  await go(home.replace(/datasets$/, 'objects?class=models'))
  expect(await page.getByRole('columnheader', { name: 'Rows' }).count()).toBe(0)
})

it('a dataset begins with imported rows', async () => {
  const { page } = here
  await go(home.replace(/datasets$/, 'objects'))
  await button('New dataset…').click()
  const dialog = page.getByRole('dialog', { name: 'New dataset' })
  await dialog.getByLabel('Or pasted text').fill('question\tn\nWhy?\t1.0')
  await dialog.getByLabel('Name', { exact: true }).fill('small')
  await dialog.getByText('This name is already used').waitFor()
  await dialog.getByLabel('Name', { exact: true }).fill('brand-new')
  expect(await everybodysFaults(page, 'new dataset')).toEqual([])
  await dialog.getByRole('button', { name: 'Add 1 row' }).click()
  await page.waitForURL(/datasets\/brand-new\//)
  await page.getByText('1 row', { exact: true }).waitFor()
  const { rows: stored, value } = await latest('brand-new')
  expect(stored).toContain('{"question":"Why?","n":1.0}')
  expect(value).toContain('"_class_name":"Dataset"')
})

it('columns are renamed, removed and added in all rows, rows are duplicated, and the version respells nothing', async () => {
  const { page } = here
  await dataset(
    'columns',
    Array.from({ length: 3 }, (_, n) => row(n, ',"more":{"a":1}')),
  )
  await go(`${home}/columns/latest?row=1`)
  await button('Duplicate').click()
  await page.getByRole('heading', { name: 'Row 4' }).waitFor()
  await button('Close row').click()
  await button('Columns…').click()
  const dialog = page.getByRole('dialog', { name: 'Columns' })
  // Two columns change places.
  await dialog.getByLabel('New name of question').fill('score')
  await dialog.getByText('Two columns have the same name.').waitFor()
  await dialog.getByLabel('New name of score').fill('question')
  await dialog.getByRole('button', { name: 'Remove more' }).click()
  await dialog.getByLabel('New column').fill('expected')
  await dialog.getByLabel('Value in each row').fill('yes')
  expect(await everybodysFaults(page, 'columns')).toEqual([])
  await dialog.getByRole('button', { name: 'Change columns' }).click()
  await expectSoon(() => rows().first().innerText()).toMatch(/What is 0\?\s+0\.0\s+yes/)
  await page.getByRole('table', { name: 'Rows' }).focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Delete')
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+y')
  await page.reload()
  await page.getByText(/changes not saved/).waitFor()
  await button('Save as version…').click()
  await page.getByText(/1 added, 1 removed, \d column changes/).waitFor()
  await button('Save').click()
  await page.getByText('v1, the latest').waitFor()
  const { rows: stored } = await latest('columns')
  expect([...stored.matchAll(/"val":(\{.*?\})(?=,"original_index)/g)].map(([, val]) => val)).toEqual(
    [1, 2, 0].map((n) => `{"score":"What is ${n}?","question":${n}.0,"expected":"yes"}`),
  )
})

it('a change of an older version is confirmed before it becomes the latest', async () => {
  const { page } = here
  await go(`${home}/behind/v0`)
  await page.getByText('1 row', { exact: true }).waitFor()
  await page.getByRole('table', { name: 'Rows' }).focus()
  await page.keyboard.press('Delete')
  await dataset('behind', [row(0), row(7)])
  await button('Save as version…').click()
  await page.getByText('There is a newer').waitFor()
  await expectSoon(() => button('Save').isDisabled()).toBe(true)
  await page.getByLabel('Save mine as latest').check()
  await button('Save').click()
  await page.getByText('v2, the latest').waitFor()
  await page.getByRole('heading', { name: 'No rows' }).waitFor()
})

it('a row leads to the calls that were given it, by whichever version of the dataset', async () => {
  const { page } = here
  const [first, second] = [await dataset('asked', [row(0), row(1)]), await dataset('asked', [row(1), row(2)])]
  const asked = JSON.stringify({ project_id: world.project, digest: first.table })
  const { rows: stored } = JSON.parse((await post(world.url, '/table/query', asked)).text) as {
    rows: { digest: string }[]
  }
  const given = ({ digest }: { digest: string }) => ({
    example: `weave:///${world.project}/object/asked:${digest}/attr/rows/id/${stored[1]?.digest}`,
  })
  await world.send([
    call(world.project, { name: 'old', inputs: given(first) }),
    call(world.project, { name: 'new', inputs: given(second) }),
  ])
  await go(`${home}/asked/latest?row=1`)
  await page.getByRole('link', { name: 'Used by 2 calls', exact: true }).click()
  await expectSoon(() => page.getByRole('table', { name: 'Calls' }).locator('.row').count()).toBe(2)
  await go(`${home}/asked/latest?row=2`)
  await page.getByRole('tree', { name: 'Row' }).getByText('What is 2?').waitFor()
  await expectSoon(() => page.getByText(/^Used by/).count()).toBe(0)
})

it('rows are saved as files: JSON Lines as they are stored, CSV without formulas', async () => {
  const { page } = here
  await go(`${home}/hostile/v0`)
  await page.getByText('2 rows').waitFor()
  const saved = async (format: RegExp) => {
    await button('Download').click()
    const [file] = await Promise.all([page.waitForEvent('download'), button(format).click()])
    return [file.suggestedFilename(), await text(await file.createReadStream())] as const
  }
  const [name, lines] = await saved(/JSON Lines/)
  expect(name).toBe('hostile-v0.jsonl')
  expect(lines.split('\n')[1]).toBe(row(1))
  const [csvName, csv] = await saved(/CSV/)
  expect(csvName).toBe('hostile-v0.csv')
  expect(csv.split('\r\n')[0]).toBe(`${hostile},long,rtl,question,score`)
  expect(csv.split('\r\n')[2]).toBe(',,,What is 1?,1.0')
})

it('hostile names and long cells are text, in the grid, in the row and where it is changed', async () => {
  const { page } = here
  await go(`${home}/hostile/v0?row=1`)
  await page.getByRole('tree', { name: 'Row' }).getByText('onerror').first().waitFor()
  const shown = await page.getByRole('table', { name: 'Rows' }).innerText()
  expect(shown).toContain('<img src=x onerror=alert(1)>')
  expect(shown).not.toContain('\u202e')
  expect(shown.length).toBeLessThan(3_000)
  await button('Edit…').click()
  await page.getByText('200,002 characters: too long to edit here, kept unchanged.').waitFor()
  await expectSoon(() => page.locator('img[src=x]').count()).toBe(0)
})

it('a table opens by its digest, and the page says what is not here', async () => {
  const { page, faults } = here
  const { table } = await dataset('other', [row(5)])
  await go(`/p/${world.project}/tables/${table}`)
  await expectSoon(() => rows().first().innerText()).toContain('What is 5?')
  await expectSoon(() => button('Add row…').count()).toBe(0)
  await send('/obj/create', `{"obj":{"project_id":"${world.project}","object_id":"no-rows","val":{"rows":3}}}`)
  await go(`${home}/no-rows/latest`)
  await page.getByRole('heading', { name: 'This version has no table' }).waitFor()
  await go(`${home}/unknown/latest`)
  await page.getByRole('alert').waitFor()
  faults.splice(0)
})

it('datasets are for everybody: axe finds no fault in both themes, and 320 pixels are enough', async () => {
  const { page, context, faults } = await world.open()
  await page.goto(`${world.url}${home}/questions/latest?row=2`)
  await page.getByRole('tree', { name: 'Row' }).waitFor()
  const found = await everybodysFaults(page, 'dataset')
  await page.getByRole('button', { name: 'Edit…' }).click()
  await page.getByLabel('Value of question').waitFor()
  found.push(...(await everybodysFaults(page, 'row')))
  expect(found).toEqual([])
  expect(faults).toEqual([])
  await context.close()
})
