// Settings: keys that are made, shown once and revoked; what a key that reads only finds; for everybody.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { axeFaults, type Opened, picture, startWorld, type World } from './world.ts'

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
  await dialog.getByLabel('Id of the new user').fill('sets-agent')
  expect(await dialog.getByLabel('On', { exact: true }).inputValue()).toBe(project)
  await dialog.getByLabel('Role').selectOption('reader')
  await page.keyboard.press('Tab')
  await dialog.getByRole('button', { name: 'Make the key' }).click()
  const made = page.getByRole('dialog', { name: 'The key' })
  await made.getByRole('button', { name: 'Copy the key' }).click()
  await made.getByText('Copied').waitFor()
  const key = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(key).toMatch(/^chk_[0-9A-Za-z]{50}$/)
  expect(await made.getByRole('tabpanel').innerText()).toContain(key)
  expect(await statusOf(key)).toBe(200)
  await made.getByRole('button', { name: 'Done' }).click()
  await row('agent of the test').waitFor()
  expect(await row('agent of the test').innerText()).toMatch(
    /sets-agent[\s\S]*reader[\s\S]*acme\/settings[\s\S]*Active/,
  )
  expect(await page.content()).not.toContain(key)

  await page.getByRole('button', { name: 'Actions of agent of the test' }).click()
  await page.getByRole('button', { name: 'Limits…' }).click()
  await page.getByLabel('Requests a minute').fill('90')
  await page.keyboard.press('Enter')
  await row('90 requests/min').waitFor()

  await page.getByRole('button', { name: 'Actions of agent of the test' }).click()
  await page.getByRole('button', { name: 'Revoke…' }).click()
  await page.getByRole('dialog', { name: 'Revoke a key' }).getByRole('button', { name: 'Revoke' }).click()
  await row('agent of the test').waitFor({ state: 'detached' })
  expect(await statusOf(key)).toBe(401)
  await page.getByLabel(/Revoked and expired/).check()
  await row('agent of the test').getByText('Revoked').waitFor()
})

it('a key gets a successor that shows once, and what the server refuses stands in the dialog', async () => {
  const { page, faults } = here
  const asked = { user_id: 'sets-ann', name: 'to be replaced', actions: ['read'], scopes: [project] }
  expect((await post(world.url, '/keys', asked)).status).toBe(200)
  await go('keys')
  await page.getByRole('button', { name: 'Actions of to be replaced' }).click()
  await page.getByRole('button', { name: 'Make a successor…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make a successor' }).click()
  await page.getByRole('dialog', { name: 'The key' }).getByText(/^chk_/).waitFor()
  await page.keyboard.press('Escape')
  await row('to be replaced').getByText('Replaced', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New key' })
  await dialog.getByRole('combobox', { name: 'User' }).selectOption('sets-ann')
  await dialog.getByText('the key does only what both allow').waitFor()
  await dialog.getByLabel('On', { exact: true }).fill('a/b/c')
  await dialog.getByRole('button', { name: 'Make the key' }).click()
  await dialog.getByRole('alert').getByText('a/b/c').waitFor()
  faults.splice(0)
})

it('who reads only finds his own keys, makes one that may no more, and signs out everywhere', async () => {
  await world.server.send('/users', { id: 'sets-reader', kind: 'person' })
  const put = (path: string, body: object) =>
    fetch(`${world.url}${path}`, {
      ...{ method: 'PUT', body: JSON.stringify(body) },
      headers: { authorization: 'Bearer test-key', 'content-type': 'application/json' },
    })
  expect((await put('/grants', { user_id: 'sets-reader', scope: project, role: 'reader' })).status).toBe(200)
  const asked = { user_id: 'sets-reader', name: 'mine', actions: ['read'], scopes: [project] }
  const { key } = await world.server.send<{ key: string }>('/keys', asked)
  const { page, context, faults } = await world.open({ key })
  await page.goto(`${world.url}/settings/keys`)
  await page.getByRole('row').filter({ hasText: 'mine' }).waitFor()
  expect(await page.getByRole('row').count()).toBe(2)
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('second')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'The key' }).getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row').filter({ hasText: 'second' }).waitFor()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'You' }).click()
  await page.getByText('sets-reader').first().waitFor()
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
  expect(await page.locator('.provider').count()).toBe(0)
  await context.route('**/auth/providers', (route) =>
    route.fulfill({ json: { providers: [{ name: 'id.example.com' }] } }),
  )
  await page.goto(`${world.url}/sign-in?next=/settings/keys`)
  const link = page.getByRole('link', { name: 'Sign in with id.example.com' })
  expect(await link.getAttribute('href')).toBe(`${world.url}/auth/login?return_to=%2Fsettings%2Fkeys`)
  expect(await axeFaults(page)).toEqual([])
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
  const look = async (where: string) => {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1280, height: 800 })
    found.push(...(await axeFaults(page)).map((line) => `${where}: ${line}`))
    await page.emulateMedia({ colorScheme: 'dark' })
    found.push(...(await axeFaults(page, true)).map((line) => `${where}, dark: ${line}`))
    await page.setViewportSize({ width: 320, height: 800 })
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    if (wide !== 0) found.push(`${where}: ${wide} pixels too wide`)
  }
  for (const [section, selector] of [
    ['you', '.set-facts'],
    ['keys', '.sheet-row:not(.head)'],
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
