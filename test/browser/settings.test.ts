// tier: deep browser
// Settings: keys that are made, shown once and revoked; what a key that reads only finds; for everybody.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { axeFaults, everybodysFaults, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened

const project = 'acme/settings'

beforeAll(async () => {
  world = await startWorld(project)
  await world.server.send('/users', { id: 'sets-ann', kind: 'person' })
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (section: string) => here.page.goto(`${world.url}/settings/${section}?project=${project}`)
const row = (text: string) => here.page.getByRole('row').filter({ hasText: text })

/** A key as the page makes it, and what it may do over HTTP. */
async function statusOf(key: string, path = '/projects/query'): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return (await fetch(`${world.url}${path}`, { method: 'POST', headers, body: '{}' })).status
}

it('a key is made for a new user, shown once with what uses it, limited, and refused once it is revoked', async () => {
  const { page } = here
  await go('keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New key' })
  await dialog.getByLabel('Name', { exact: true }).fill('agent of the test')
  await dialog.getByLabel('New user ID').fill('sets-agent')
  await expectSoon(() => dialog.getByLabel('Scope', { exact: true }).inputValue()).toBe(project)
  await dialog.getByLabel('Role').selectOption('reader')
  await page.keyboard.press('Tab')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const made = page.getByRole('dialog', { name: 'Your new key' })
  await made.getByRole('button', { name: 'Copy key' }).click()
  await made.getByText('Copied').waitFor()
  const key = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(key).toMatch(/^chk_[0-9A-Za-z]{50}$/)
  await expectSoon(() => made.getByRole('tabpanel').innerText()).toContain(key)
  expect(await statusOf(key)).toBe(200)
  await made.getByRole('button', { name: 'Done' }).click()
  await row('agent of the test').waitFor()
  await expectSoon(() => row('agent of the test').innerText()).toMatch(
    /sets-agent[\s\S]*reader[\s\S]*acme\/settings[\s\S]*Active/,
  )
  expect(await page.content()).not.toContain(key)

  await page.getByRole('button', { name: 'Actions of agent of the test' }).click()
  await page.getByRole('button', { name: 'Limits…' }).click()
  await page.getByLabel('Requests per minute').fill('90')
  await page.keyboard.press('Enter')
  await row('90 requests/min').waitFor()

  await page.getByRole('button', { name: 'Actions of agent of the test' }).click()
  await page.getByRole('button', { name: 'Revoke…' }).click()
  await page.getByRole('dialog', { name: 'Revoke key' }).getByRole('button', { name: 'Revoke' }).click()
  await row('agent of the test').waitFor({ state: 'detached' })
  expect(await statusOf(key)).toBe(401)
  await page.getByLabel(/Revoked and expired/).check()
  await row('agent of the test').getByText('Revoked').waitFor()
})

it('settings begin with whoever is signed in', async () => {
  const { page } = here
  await page.goto(`${world.url}/settings`)
  await page.waitForURL((to) => to.pathname === '/settings/you')
})

it('an empty project leads to a new key that may send to it, and the palette to every section', async () => {
  const { page } = here
  await page.goto(`${world.url}/p/acme/nothing-settings/calls`)
  await page.getByRole('link', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New key' })
  await expectSoon(() => dialog.getByLabel('Scope', { exact: true }).inputValue()).toBe('acme/nothing-settings')
  await expectSoon(() => dialog.getByLabel('Role').inputValue()).toBe('ingest')
  await page.keyboard.press('Escape')
  await page.waitForURL((to) => to.search === '?project=acme/nothing-settings')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^A project/ }).fill('audit')
  // A page of this name comes before calls with the word.
  await page.getByRole('option', { name: 'Audit log settings', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
  expect(new URL(page.url()).search).toBe('?project=acme/nothing-settings')
})

it('a key gets a successor that shows once, and what the server refuses stands in the dialog', async () => {
  const { page, faults } = here
  const asked = { user_id: 'sets-ann', name: 'to be replaced', actions: ['read'], scopes: [project] }
  const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json' }
  const grant = JSON.stringify({ user_id: 'sets-ann', scope: project, role: 'reader' })
  expect((await fetch(`${world.url}/grants`, { method: 'PUT', headers, body: grant })).status).toBe(200)
  expect((await post(world.url, '/keys', asked)).status).toBe(200)
  await go('keys')
  await page.getByRole('button', { name: 'Actions of to be replaced' }).click()
  await page.getByRole('button', { name: 'Rotate…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click()
  await page.getByRole('dialog', { name: 'Your new key' }).getByText(/^chk_/).waitFor()
  await page.keyboard.press('Escape')
  await row('to be replaced').getByText('Replaced', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New key' })
  await dialog.getByRole('combobox', { name: 'User' }).selectOption('sets-ann')
  // The role of the user comes along; more than it holds makes no key.
  await expectSoon(() => dialog.getByLabel('Role').inputValue()).toBe('reader')
  await dialog.getByLabel('Role').selectOption('ingest')
  await dialog.getByText('include ingest').waitFor()
  expect(await dialog.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true)
  await dialog.getByRole('combobox', { name: 'User' }).selectOption('New user for a program…')
  await dialog.getByLabel('New user ID').fill('sets-other')
  await dialog.getByLabel('Scope', { exact: true }).fill('a/b/c')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByRole('alert').getByText('a/b/c').waitFor()
  faults.splice(0)
})

it('a user is made with a role, gets another, loses one, is switched off and on, and goes', async () => {
  const { page } = here
  const dialog = (name: string) => page.getByRole('dialog', { name })
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Actions of sets-carl' }).click()
    await page.getByRole('button', { name }).click()
  }
  await go('users')
  await page.getByRole('button', { name: 'Invite' }).click()
  await dialog('Invite').getByLabel('User ID').fill('sets-carl')
  await dialog('Invite').getByRole('combobox', { name: 'Role' }).selectOption('annotator')
  await dialog('Invite').getByRole('button', { name: 'Create invitation link' }).click()
  const invited = dialog('Invitation for sets-carl')
  await invited.getByRole('button', { name: 'Copy link' }).click()
  await invited.getByText('Copied').waitFor()
  const link = await page.evaluate<string>('navigator.clipboard.readText()')
  await invited.getByRole('button', { name: 'Done' }).click()
  const guest = await world.open({ key: '' })
  await guest.page.goto(link)
  await guest.page.getByRole('heading', { name: 'Nothing to read yet' }).waitFor()
  expect(new URL(guest.page.url()).hash).toBe('')
  await guest.context.close()
  await row('sets-carl').getByText('annotator').waitFor()
  await act('Grant role…')
  await dialog('Grant a role to sets-carl').getByRole('combobox', { name: 'Role' }).selectOption('writer')
  await dialog('Grant a role to sets-carl').getByText('Replaces annotator').waitFor()
  await dialog('Grant a role to sets-carl').getByLabel('Scope', { exact: true }).fill('acme/other')
  await page.keyboard.press('Enter')
  await row('sets-carl').getByText('acme/other').waitFor()
  await page.getByRole('button', { name: `Remove annotator on ${project} from sets-carl` }).click()
  await dialog('Remove role').getByRole('button', { name: 'Remove', exact: true }).click()
  await row('sets-carl').getByText('annotator').waitFor({ state: 'detached' })
  const line = await fetch(`${world.url}/grants?scope=acme`, { headers: { authorization: 'Bearer test-key' } })
  const grants = (await line.text()).split('\n').filter((one) => one.includes('sets-carl'))
  expect(grants.map((one) => JSON.parse(one))).toEqual([
    { user_id: 'sets-carl', scope: 'acme/other', role: 'writer', source: 'manual' },
  ])
  await act('Deactivate…')
  await dialog('Deactivate user').getByRole('button', { name: 'Deactivate' }).click()
  await row('sets-carl').getByText('Inactive', { exact: true }).waitFor()
  await act('Activate')
  await dialog('Activate user').getByRole('button', { name: 'Activate' }).click()
  await row('sets-carl').getByText('Active', { exact: true }).waitFor()
  await act('Remove…')
  await dialog('Remove user').getByRole('button', { name: 'Remove' }).click()
  await row('sets-carl').waitFor({ state: 'detached' })
})

it('the audit log shows the newest first, is filtered by what, who and target, and goes on a page at a time', async () => {
  const { page, context } = here
  const events = page.getByRole('list', { name: 'Events' }).getByRole('listitem')
  await go('audit')
  await page.getByRole('combobox', { name: 'What' }).selectOption('Users')
  await page.getByRole('searchbox', { name: 'Target' }).fill('sets-ann')
  await page.keyboard.press('Enter')
  await expectSoon(() => events.allInnerTexts()).toEqual([expect.stringMatching(/user\.created[\s\S]*sets-ann/)])
  expect(new URL(page.url()).search).toBe(`?project=${project}&action=user.*&target=sets-ann`)
  await page.reload()
  await events.first().click()
  await events.first().getByText('(user)').waitFor()
  await page.getByRole('searchbox', { name: 'Who' }).fill('nobody')
  await page.keyboard.press('Enter')
  await page.getByText('No matching events.').waitFor()
  const line = (id: number) =>
    JSON.stringify({
      id: `e${id}`,
      at: new Date().toISOString(),
      scope: '*',
      action: 'key.created',
      target: `key ${id}`,
      actor: 'a',
      actor_kind: 'user',
      key_id: '',
      address: '',
      request_id: '',
      outcome: 'done',
      details: {},
    })
  const asked: unknown[] = []
  await context.route('**/audit/query', (route) => {
    const { after } = route.request().postDataJSON() as { after?: string }
    asked.push(after)
    const from = after === undefined ? 0 : 100
    const body = Array.from({ length: after === undefined ? 100 : 3 }, (_, n) => line(from + n)).join('\n')
    return route.fulfill({ body, contentType: 'application/jsonl' })
  })
  await go('audit')
  await page.getByRole('button', { name: 'Older events' }).click()
  await page.getByText('key 102').waitFor()
  await expectSoon(async () => [asked, await events.count()]).toEqual([[undefined, 'e99'], 103])
  await expectSoon(() => page.getByRole('button', { name: 'Older events' }).count()).toBe(0)
  await context.unroute('**/audit/query')
})

it('a reader finds his own keys, makes one that may no more, and signs out everywhere', async () => {
  await world.server.send('/users', { id: 'sets-reader', kind: 'person' })
  const put = (path: string, body: object) =>
    fetch(`${world.url}${path}`, {
      method: 'PUT',
      body: JSON.stringify(body),
      headers: { authorization: 'Bearer test-key', 'content-type': 'application/json' },
    })
  expect((await put('/grants', { user_id: 'sets-reader', scope: project, role: 'reader' })).status).toBe(200)
  const asked = { user_id: 'sets-reader', name: 'mine', actions: ['read'], scopes: [project] }
  const { key } = await world.server.send<{ key: string }>('/keys', asked)
  const { page, context, faults } = await world.open({ key })
  await page.goto(`${world.url}/settings/keys`)
  await page.getByRole('row').filter({ hasText: 'mine' }).waitFor()
  await expectSoon(() => page.getByRole('row').count()).toBe(2)
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('second')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Your new key' }).getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row').filter({ hasText: 'second' }).waitFor()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'You' }).click()
  await page.getByText('sets-reader').first().waitFor()
  await expectSoon(() => page.getByRole('link', { name: 'Users' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Sign out everywhere…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByLabel('API key').waitFor()
  expect(faults).toEqual([])
  await context.close()
})

it('a provider that signs people in has its button beside the key, and none shows where there is none', async () => {
  const { page, context } = await world.open({ key: '' })
  await page.goto(`${world.url}/sign-in`)
  await page.getByLabel('API key').waitFor()
  await page.waitForLoadState('networkidle')
  await expectSoon(() => page.locator('.provider').count()).toBe(0)
  await context.route('**/auth/providers', (route) =>
    route.fulfill({ json: { providers: [{ name: 'id.example.com' }] } }),
  )
  await page.goto(`${world.url}/sign-in?next=/settings/keys`)
  const link = page.getByRole('link', { name: 'Sign in with id.example.com' })
  await expectSoon(() => link.getAttribute('href')).toBe(`${world.url}/auth/login?return_to=%2Fsettings%2Fkeys`)
  expect(await axeFaults(page)).toEqual([])
  await page.getByLabel('API key').fill('test-key')
  await page.keyboard.press('Enter')
  await page.getByRole('table', { name: 'Keys' }).waitFor()
  // A request that is still on its way would say that the session has ended before anybody asks for a page.
  await page.waitForLoadState('networkidle')
  await context.clearCookies()
  await page.getByRole('link', { name: 'Users' }).click()
  const again = page.getByRole('dialog', { name: 'You were signed out' })
  const wayBack = again.getByRole('link', { name: 'Sign in with id.example.com' })
  await expectSoon(() => wayBack.getAttribute('href')).toBe(`${world.url}/auth/login?return_to=%2Fsettings%2Fusers`)
  await context.close()
})

it('a list that cannot be read says so, and is read again', async () => {
  const { page, context, faults } = here
  const keys = (to: URL) => to.pathname === '/keys'
  await context.route(keys, (route) => route.fulfill({ status: 500, json: { detail: 'broken' } }))
  await go('keys')
  await page.getByRole('alert').getByText('broken').waitFor()
  await context.unroute(keys)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('table', { name: 'Keys' }).waitFor()
  faults.splice(0)
})

it('settings are for everybody: axe finds no fault in both themes, and 320 pixels are enough', async () => {
  const { page, context, faults } = await world.open()
  const found: string[] = []
  const look = async (where: string) => void found.push(...(await everybodysFaults(page, where)))
  for (const [section, selector] of [
    ['you', '.set-facts'],
    ['keys', '.sheet-row:not(.head)'],
    ['users', '.sheet-row:not(.head)'],
    ['audit', '.event'],
  ] as const) {
    await page.goto(`${world.url}/settings/${section}?project=${project}`)
    await page.locator(selector).first().waitFor()
    await look(section)
  }
  await page.goto(`${world.url}/settings/keys?project=${project}`)
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog', { name: 'New key' }).waitFor()
  await look('new key')
  expect(found).toEqual([])
  expect(faults).toEqual([])
  await context.close()
})
