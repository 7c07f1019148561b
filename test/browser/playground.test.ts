// tier: deep browser
// The playground: what is sent to which model, answers side by side, recorded calls sent again, prompts saved.
import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened
let page: Page
let sent: Record<string, unknown>[] = []
const recorded = 'cccccccccccccc01'

/** Stands for the provider: the server's own part is tested by test/server. */
async function answer(route: Route): Promise<void> {
  const body = route.request().postDataJSON() as Record<string, unknown>
  sent.push(body)
  const headers = { 'content-type': 'text/event-stream', 'x-call-id': recorded }
  // Its answer never comes.
  if (body.model === 'silent') return
  if (body.model === 'missing')
    return route.fulfill({ status: 400, json: { error: { message: 'The secret CALLHOUSE_SECRET_X is missing' } } })
  if (body.model === 'no-key')
    return route.fulfill({
      status: 400,
      json: {
        error: { message: 'Missing secret: OPENAI_API_KEY', code: 'missing_secret' },
        api_key: 'OPENAI_API_KEY',
      },
    })
  const tool = { index: 0, id: 'c1', function: { name: 'find', arguments: '{"q":1}' } }
  const lines = [
    { choices: [{ delta: body.tools ? { tool_calls: [tool] } : { content: `I am ${body.model}` } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } },
  ]
  return route.fulfill({
    headers,
    body: `${lines.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`,
  })
}

beforeAll(async () => {
  world = await startWorld('acme/playground')
  const messages = [
    { role: 'system', content: 'Be kind' },
    { role: 'user', content: 'Where is it?' },
  ]
  const output = { choices: [{ message: { role: 'assistant', content: 'There.' } }] }
  const usage = { 'model-a': { prompt_tokens: 1, completion_tokens: 1, requests: 1 } }
  await world.send([
    call(world.project, {
      id: recorded,
      name: 'chat',
      inputs: { messages, model: 'model-a', temperature: 0.3 },
      output,
      usage,
    }),
  ])
  here = await world.open()
  page = here.page
  await page.route('**/inference/v1/chat/completions', answer)
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0).filter((line) => !line.includes('400'))).toEqual([])
  sent = []
})

const go = (search = '') => page.goto(`${world.url}/p/${world.project}/playground${search}`)

it('the playground sends messages with variables to several models, by keys alone, and keeps the draft', async () => {
  await go()
  await page.getByLabel('Message 1', { exact: true }).fill('Be {tone}')
  await page.getByLabel('Message 2', { exact: true }).fill('Why?')
  await page.getByLabel('tone').fill('brief')
  await page.getByLabel('Name of model 1').fill('model-a')
  await page.getByRole('button', { name: 'Add a model' }).click()
  await page.getByLabel('Name of model 2').fill('model-b')
  await page.getByLabel('Temperature of model 2').fill('0.5')
  await page.keyboard.press('Control+Enter')
  await page.getByText('I am model-a').waitFor()
  const second = page.getByRole('region', { name: 'Answer of model 2' })
  await second.getByText('I am model-b').waitFor()
  await second.getByText('7 → 3').waitFor()
  await second.getByRole('link', { name: 'View call' }).waitFor()
  const messages = [
    { role: 'system', content: 'Be {tone}' },
    { role: 'user', content: 'Why?' },
  ]
  const one = sent.find(({ model }) => model === 'model-b')
  expect(one).toMatchObject({ stream: true, temperature: 0.5, messages, template_vars: { tone: 'brief' } })
  const differences = page.getByRole('button', { name: 'Differences' })
  await differences.focus()
  await page.keyboard.press('Enter')
  expect([await second.locator('del').innerText(), await second.locator('ins').innerText()]).toEqual(['a', 'b'])
  expect(await page.getByRole('region', { name: 'Answer of model 1' }).locator('del, ins').count()).toBe(0)
  expect(await everybodysFaults(page, 'playground')).toEqual([])
  await page.keyboard.press('Enter')
  await expectSoon(() => second.locator('del, ins').count()).toBe(0)
  await page.reload()
  await expectSoon(() => page.getByLabel('Name of model 2').inputValue()).toBe('model-b')
})

it('the playground takes a recorded call with its parameters, and shows what a provider refuses', async () => {
  await page.goto(`${world.url}/p/${world.project}/calls/${recorded}`)
  await page.getByText('There.', { exact: true }).first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.getByRole('link', { name: 'Open in playground' }).click()
  await page.waitForURL(/playground/)
  await expectSoon(() => page.getByLabel('Message 2', { exact: true }).inputValue()).toBe('Where is it?')
  await expectSoon(() => page.getByLabel('Name of model 1').inputValue()).toBe('model-a')
  await expectSoon(() => page.getByLabel('Temperature of model 1').inputValue()).toBe('0.3')
  await expectSoon(() => page.getByLabel('Message 3', { exact: true }).count()).toBe(0)
  await page.getByLabel('Name of model 1').fill('missing')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').getByText('The secret CALLHOUSE_SECRET_X is missing').waitFor()
})

it('the playground stops what runs, and only then has something to stop', async () => {
  await go()
  const stop = page.getByRole('button', { name: 'Stop' })
  await page.getByLabel('Name of model 1').fill('silent')
  await page.getByLabel('Message 1', { exact: true }).fill('Why?')
  expect(await stop.isDisabled()).toBe(true)
  await page.keyboard.press('Control+Enter')
  await expectSoon(() => stop.isDisabled()).toBe(false)
  await stop.click()
  await page.getByText('Stopped').waitFor()
  await expectSoon(() => stop.isDisabled()).toBe(true)
})

it('the playground answers calls of tools, and saves messages as a prompt', async () => {
  await go(`?call=${recorded}`)
  await page.getByText('Tools', { exact: false }).first().click()
  await page.getByRole('textbox', { name: 'Tools' }).fill('[{"type":"function","function":{"name":"find"}}]')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Answer tool calls' }).click()
  await page.getByLabel('Message 4', { exact: true }).fill('found')
  await page.keyboard.press('Control+Enter')
  await expectSoon(() => sent.length).toBe(2)
  expect((sent.at(-1) as { messages: unknown[] }).messages.slice(2)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":1}' } }],
    },
    { role: 'tool', content: 'found', tool_call_id: 'c1' },
  ])
  await page.getByRole('button', { name: 'Save as prompt…' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('kind')
  await page.keyboard.press('Enter')
  // The answers stay, and no dialog stands before them.
  await page.getByRole('status').getByRole('link', { name: 'kind v0' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  // The saved prompt is edited from now on, also after a reload, and gets its next version without its name.
  await page.getByLabel('Message 2', { exact: true }).fill('Where is {what}?')
  await page.getByText('what is empty').waitFor()
  await page.reload()
  await expectSoon(() => page.getByLabel('Message 2', { exact: true }).inputValue()).toBe('Where is {what}?')
  await page.getByRole('button', { name: 'Save new version…' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('Asks for anything')
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByRole('link', { name: 'kind v1' }).click()
  const messages = page.getByRole('list', { name: 'Messages' })
  await expectSoon(() => messages.getByRole('listitem').count()).toBe(4)
  await messages.getByText('{what}').waitFor()
  await page.getByText('Asks for anything').waitFor()
  await page.getByRole('link', { name: 'Compare v0 with v1' }).click()
  const differences = page.getByRole('list', { name: 'Differences of the messages' })
  await expectSoon(() => differences.locator('ins').innerText()).toContain('{what}')
  expect(await differences.locator('del').innerText()).toContain('it')
  expect(await everybodysFaults(page, 'prompt')).toEqual([])
  await page.getByRole('link', { name: 'Prompts', exact: true }).first().click()
  const rows = page.getByRole('table', { name: 'Prompts' }).locator('.row')
  await expectSoon(() => rows.allInnerTexts()).toEqual([expect.stringMatching(/kind[\s\S]*v1[\s\S]*model-a/)])
  expect(await everybodysFaults(page, 'prompts')).toEqual([])
})

it('the playground says which key is missing, and where it is added', async () => {
  await go('?model=no-key')
  await page.getByLabel('Message 2', { exact: true }).fill('Why?')
  await page.keyboard.press('Control+Enter')
  const alert = page.getByRole('alert')
  await alert.getByText('the secret OPENAI_API_KEY is missing').waitFor()
  expect(await page.getByText('The answer is complete').count()).toBe(0)
  await alert.getByRole('link', { name: 'Settings, Secrets' }).click()
  await page.waitForURL(/settings\/secrets\?project=acme/)
})
