// tier: deep browser
// Settings of a project: limits and usage, retention and holds, masking with its preview, secrets; for everybody.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened

const project = 'acme/settings-project'
const headers = { authorization: 'Bearer test-key' }

beforeAll(async () => {
  world = await startWorld(project)
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (section: string) => here.page.goto(`${world.url}/settings/${section}?project=${project}`)
const row = (text: string) => here.page.getByRole('row').filter({ hasText: text })
const read = async (path: string): Promise<Record<string, unknown>> =>
  (await (await fetch(`${world.url}/v2/${project}/${path}`, { headers })).json()) as Record<string, unknown>

it('limits are set and taken away, and usage stands against them, by day and by key', async () => {
  const { page, context } = here
  const line = (of: object, bytes_stored: number) => ({
    requests: 9,
    refused: 1,
    calls: 1_234,
    bytes_in: 1,
    bytes_stored,
    reads: 2,
    read_ms: 30,
    read_bytes: 1,
    sampled_out: 0,
    masked: 0,
    ...of,
  })
  const today = `${new Date().toISOString().slice(0, 10)}T00:00:00Z`
  await context.route('**/usage/query', (route) => {
    const { by } = route.request().postDataJSON() as { by: string }
    const json = by === 'day' ? line({ time: today }, 900_000) : line({ key_id: 'a-key' }, 900_000)
    return route.fulfill({ body: JSON.stringify(json), contentType: 'application/jsonl' })
  })
  await go('limits')
  await page.getByLabel('Requests, per minute').fill('600')
  await page.getByLabel('Bytes in 24 hours, quotas').fill('1000000')
  await page.keyboard.press('Enter')
  await page.getByRole('progressbar', { name: 'The last 24 hours: 90 % of the limit' }).waitFor()
  expect(await read('settings')).toMatchObject({ limits: { requests_per_minute: 600, bytes_per_day: 1_000_000 } })
  await page.getByRole('img', { name: 'Calls by day: 1,234 in 30 days' }).waitFor()
  await page.getByRole('button', { name: 'Refused' }).click()
  await page.getByRole('img', { name: 'Refused by day: 1 in 30 days' }).waitFor()
  await expectSoon(() => row('a-key').innerText()).toMatch(/9[\s\S]*1,234[\s\S]*879 KiB/)
  await page.getByLabel('Bytes in 24 hours, quotas').fill('')
  await page.getByRole('button', { name: 'Save limits' }).click()
  await page.getByRole('progressbar', { name: 'The last 24 hours: no limit' }).waitFor()
  expect((await read('settings')).limits).toEqual({ requests_per_minute: 600 })
  await context.unroute('**/usage/query')
})

it('retention is set by days, and taken back to what the server says; what is refused stands there', async () => {
  const { page, faults } = here
  await go('retention')
  await page.getByLabel('Calls retention').selectOption('Days:')
  await page.getByLabel('Days to keep calls').fill('30')
  await page.getByLabel('Payloads retention').selectOption('Days:')
  await page.getByLabel('Days to keep payloads').fill('60')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').waitFor()
  faults.splice(0)
  await page.getByLabel('Log records retention').selectOption('Days:')
  await page.getByLabel('Days to keep log records').fill('14')
  await page.getByLabel('Days to keep payloads').fill('7')
  await page.keyboard.press('Enter')
  await page.getByRole('definition').filter({ hasText: 'before' }).first().waitFor()
  expect(await read('retention')).toMatchObject({ calls_days: 30, payloads_days: 7, stats_days: 30, logs_days: 14 })
  await page.getByLabel('Calls retention').selectOption('Forever')
  await page.getByLabel('Payloads retention').selectOption('Server default')
  await page.getByLabel('Log records retention').selectOption('Server default')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('definition').filter({ hasText: 'none' }).first().waitFor()
  expect((await read('settings')).retention).toEqual({ calls_days: null })
})

it('a retention that hides calls says how many, and asks first', async () => {
  const { page } = here
  await world.send([call(project, { startMs: Date.now() - 40 * 86_400_000 })])
  await go('retention')
  await page.getByLabel('Calls retention').selectOption('Days:')
  await page.getByLabel('Days to keep calls').fill('30')
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save retention' })
  await dialog.getByText('1 call will be hidden.').waitFor()
  expect((await read('settings')).retention).toEqual({ calls_days: null })
  await dialog.getByRole('button', { name: 'Save and hide' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await read('settings')).retention).toEqual({ calls_days: 30 })
})

it('the days of the server are shown, and asked about where they hide calls', async () => {
  const { page } = here
  await page.route(`**/v2/${project}/retention`, async (route) => {
    const answer = await route.fetch()
    const now = (await answer.json()) as { defaults: object }
    await route.fulfill({
      json: { ...now, calls_days: null, payloads_days: null, defaults: { ...now.defaults, calls_days: 35 } },
    })
  })
  await page.route(`**/v2/${project}/settings`, async (route) => {
    const set = (await (await route.fetch()).json()) as object
    await route.fulfill({ json: { ...set, retention: { calls_days: null } } })
  })
  await page.route('**/calls/query_stats', (route) => route.fulfill({ json: { count: 2 } }))
  await go('retention')
  await page.getByText('Server default: 35 days.').waitFor()
  await page.getByLabel('Calls retention').selectOption('Server default')
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save retention' })
  await dialog.getByText('2 calls will be hidden.').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.unrouteAll()
})

it('a hold is made with its reason and released', async () => {
  const { page } = here
  await go('retention')
  await page.getByText('No holds.').waitFor()
  await page.getByRole('button', { name: 'New hold' }).click()
  const dialog = page.getByRole('dialog', { name: 'New hold' })
  await dialog.getByRole('textbox', { name: 'IDs' }).fill('t1\nt2')
  await dialog.getByLabel('Reason').fill('case <b>7</b>')
  await page.keyboard.press('Enter')
  await row('case <b>7</b>').getByText('2 traces').waitFor()
  await page.getByRole('button', { name: 'Release 2 traces' }).click()
  await page.getByRole('dialog', { name: 'Release hold' }).getByRole('button', { name: 'Release' }).click()
  await page.getByText('No holds.').waitFor()
})

it('calls are erased for a reason, and stand with how far they are', async () => {
  const { page } = here
  const id = '0199a0c8-0000-7000-8000-00000000e1a5'
  await world.send([call(project, { id, name: 'erased' })])
  await go('retention')
  await page.getByText('No erasures yet.').waitFor()
  await page.getByRole('button', { name: 'Erase calls…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase calls' })
  await dialog.getByLabel('What').selectOption('Calls by ID')
  await dialog.getByRole('textbox', { name: 'IDs' }).fill(`${id}, none`)
  await expectSoon(() => dialog.getByRole('button', { name: 'Erase permanently' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Reason').fill('asked for by <b>Ann</b>')
  await dialog.getByRole('button', { name: 'Erase permanently' }).click()
  const erased = row('asked for by <b>Ann</b>')
  await erased.getByText('Hidden').waitFor()
  await expectSoon(() => erased.getByRole('cell').nth(2).innerText()).toBe('1')
})

it('mask rules are tried while they are written, before they are saved; a pattern that is none is told', async () => {
  const { page, faults } = here
  await go('masking')
  const stored = page.getByRole('group', { name: 'What is stored' })
  await page.getByLabel('A text or JSON').fill('ORDER-77 of ann@example.org')
  await stored.getByText('ORDER-77 of ann@example.org').waitFor()
  await page.getByRole('checkbox', { name: '@contact' }).check()
  await stored.getByText('ORDER-77 of [email]').waitFor()
  await page.getByRole('button', { name: 'Add rule' }).click()
  const rule = page.getByRole('group', { name: 'Rule 1' })
  await rule.getByLabel('Rule ID').fill('order')
  await rule.getByLabel('Match type').selectOption('matches')
  await rule.getByLabel('matches', { exact: true }).fill('ORDER-(')
  await page.getByRole('alert').waitFor()
  faults.splice(0)
  await rule.getByLabel('matches', { exact: true }).fill('ORDER-\\d+')
  await stored.getByText('[order] of [email]').waitFor()
  await page.getByRole('status').getByText('order', { exact: true }).waitFor()
  expect((await read('masking')).version).toBe(0)
  await page.getByRole('button', { name: 'Save rules' }).click()
  await page.getByText('Version 1.').waitFor()
  expect((await read('masking')).rules).toMatchObject({
    sets: ['@contact'],
    rules: [{ id: 'order', pattern: 'ORDER-\\d+', action: 'mask' }],
  })
  await page.reload()
  await expectSoon(() => rule.getByLabel('matches', { exact: true }).inputValue()).toBe('ORDER-\\d+')
  faults.splice(0)
})

it('a secret is set, replaced and removed, and its value never stands on the page again', async () => {
  const { page } = here
  await go('secrets')
  await page.getByText('No secrets yet').waitFor()
  await page.getByRole('button', { name: 'New secret' }).click()
  const dialog = page.getByRole('dialog', { name: 'New secret' })
  await dialog.getByLabel('Name').fill('TEST_KEY')
  await dialog.getByLabel('Value').fill('a-long-secret-value-7788')
  await dialog.getByLabel('May be sent to').fill('https://api.example.com/v1')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row('TEST_KEY').getByText('https://api.example.com/v1').waitFor()
  await expectSoon(() => row('TEST_KEY').innerText()).toContain('ends with 7788')
  expect(await page.content()).not.toContain('a-long-secret-value')
  await page.getByRole('button', { name: 'Replace TEST_KEY' }).click()
  await page.getByRole('dialog', { name: 'Replace TEST_KEY' }).getByLabel('Value').fill('another-secret-value-9911')
  await page.keyboard.press('Enter')
  await row('TEST_KEY').getByText('ends with 9911').waitFor()
  expect((await read('secrets')).secrets).toMatchObject([{ version: 2, origins: ['https://api.example.com/v1'] }])
  await page.getByRole('button', { name: 'Remove TEST_KEY' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No secrets yet').waitFor()
})

it('prices stand with their history, models without one first; one is added from a day on, and removed', async () => {
  const { page } = here
  const of = call(project, { usage: { 'house-model': { prompt_tokens: 1_200, completion_tokens: 34, requests: 1 } } })
  await world.send([of])
  await go('prices')
  await page.getByText('No custom prices').waitFor()
  await row('house-model').getByText('no price').waitFor()
  const add = async (input: string, from: string) => {
    await page.getByRole('button', { name: 'Add a price of house-model' }).click()
    const dialog = page.getByRole('dialog', { name: 'New price' })
    await dialog.getByLabel('Input').fill(input)
    await dialog.getByLabel('Output').fill('10')
    await dialog.getByLabel('From').fill(from)
    await dialog.getByRole('button', { name: 'Save price' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await add('2.5', '2025-01-01T00:00')
  await add('3', '2026-01-01T00:00')
  const prices = page.getByRole('table', { name: 'Prices' }).getByRole('row')
  await expectSoon(() => prices.allInnerTexts()).toEqual([
    expect.stringContaining('Model'),
    expect.stringMatching(/\$3\.00[\s\S]*\$10\.0[\s\S]*in effect/),
    expect.stringMatching(/\$2\.50(?![\s\S]*in effect)/),
  ])
  const { results } = await world.server.send<{ results: object[] }>('/cost/query', { project_id: project })
  expect(results).toMatchObject([
    { prompt_token_cost: 2.5e-6 },
    { prompt_token_cost: 3e-6, completion_token_cost: 1e-5 },
  ])
  await page.getByRole('table', { name: 'Models' }).getByText('$0.00394').waitFor()
  await page.getByRole('button', { name: /Remove the price of house-model from 2026/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expectSoon(() => prices.count()).toBe(2)
  await prices.getByText('in effect').waitFor()
})

it('a provider is made with its models, edited so that they follow its new version, and removed', async () => {
  const { page } = here
  await go('providers')
  await page.getByText('No custom providers').waitFor()
  await page.getByRole('button', { name: 'New provider' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('house')
  await dialog.getByLabel('Address').fill('not an address')
  await dialog.getByLabel('Secret').fill('TEST_KEY')
  await dialog.getByLabel('Models').fill('llama/8b\nllama-70b')
  await dialog.getByRole('button', { name: 'Save provider' }).click()
  await dialog.getByRole('alert').waitFor()
  here.faults.splice(0)
  await dialog.getByLabel('Address').fill('https://api.example.com/v1')
  await dialog.getByRole('button', { name: 'Save provider' }).click()
  await row('house').getByText('llama/8b').waitFor()
  await page.getByRole('button', { name: 'Edit house' }).click()
  await dialog.getByLabel('Address').fill('https://api.example.com/v2')
  await dialog.getByLabel('Models').fill('llama/8b')
  await dialog.getByRole('button', { name: 'Save provider' }).click()
  await row('house').getByText('https://api.example.com/v2').waitFor()
  await row('house').getByText('llama-70b').waitFor({ state: 'detached' })
  await row('house').getByRole('link', { name: 'llama/8b' }).focus()
  await page.keyboard.press('Enter')
  await expectSoon(() => page.getByLabel('Name of model 1').inputValue()).toBe('custom::house::llama/8b')
  await page.goBack()
  const filter = { base_object_classes: ['Provider', 'ProviderModel'], latest_only: true }
  const asked = { project_id: project, filter }
  type Stored = { object_id: string; digest: string; val: Record<string, unknown> }
  const { objs } = await world.server.send<{ objs: Stored[] }>('/objs/query', asked)
  const provider = objs.find(({ object_id }) => object_id === 'house')
  expect(provider?.val).toMatchObject({ base_url: 'https://api.example.com/v2', api_key_name: 'TEST_KEY' })
  expect(objs.filter((one) => one !== provider)).toMatchObject([
    { object_id: 'house-llama-8b', val: { name: 'llama/8b', provider: provider?.digest, max_tokens: 4096 } },
  ])
  await page.getByRole('button', { name: 'Remove house' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No custom providers').waitFor()
  const after = await world.server.send<{ objs: Stored[] }>('/objs/query', asked)
  expect(after.objs).toEqual([])
})

it('the project is chosen beside the sections, and without one the page asks for it', async () => {
  const { page } = here
  await world.server.send('/obj/create', { obj: { project_id: project, object_id: 'o', val: {} } })
  await page.goto(`${world.url}/settings/masking`)
  await page.getByRole('heading', { name: 'Choose a project' }).waitFor()
  await page.getByLabel('Project', { exact: true }).selectOption(project)
  await page.getByRole('heading', { name: 'Masking' }).waitFor()
  expect(new URL(page.url()).search).toBe(`?project=${project}`)
  await page.goBack()
  await page.getByRole('heading', { name: 'Choose a project' }).waitFor()
})

it('a project is removed by its name alone, and is gone from then on', async () => {
  const { page } = here
  const removed = 'acme/settings-removed'
  await page.goto(`${world.url}/settings/retention?project=${removed}`)
  await page.getByRole('button', { name: 'Remove project…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove project' })
  const act = dialog.getByRole('button', { name: 'Remove permanently' })
  await dialog.getByLabel('Project name').fill('acme/settings')
  await expectSoon(() => act.isDisabled()).toBe(true)
  await dialog.getByLabel('Project name').fill(removed)
  await act.click()
  await page.waitForURL((to) => to.pathname === '/')
  const answer = await fetch(`${world.url}/v2/${removed}/retention`, { headers })
  expect(answer.status).toBe(410)
})

it('settings of a project are for everybody: axe finds no fault in both themes, and 320 pixels are enough', async () => {
  const { page, context, faults } = await world.open()
  const found: string[] = []
  for (const [section, selector] of [
    ['limits', '.day-bars'],
    ['retention', '.none'],
    ['masking', '.preview'],
    ['secrets', '.none'],
    ['prices', '.sheet-row'],
    ['providers', '.none'],
  ] as const) {
    await page.goto(`${world.url}/settings/${section}?project=${project}`)
    await page.locator(selector).first().waitFor()
    found.push(...(await everybodysFaults(page, section)))
  }
  expect(found).toEqual([])
  expect(faults).toEqual([])
  await context.close()
})
