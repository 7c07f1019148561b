// tier: deep browser
// The page for everybody: axe in both themes, narrow windows, below another path.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { afterEachIsFaultless } from './faultless.ts'
import { type Filled, startFilled } from './filled.ts'
import { startForwarding } from './forwarding.ts'
import { everybodysFaults, type Opened } from './world.ts'

let world: Filled
let home: string
let trace: string
let failed: string
let here: Opened

beforeAll(async () => {
  world = await startFilled({ project: 'acme/access' })
  ;({ home, trace, failed } = world)
  const obj = { project_id: world.project, object_id: 'thing', val: { text: 'a value', list: [1, 2] } }
  await world.server.send('/obj/create', { obj })
  here = await world.open()
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

describe('everybody', () => {
  it('can use the page in both themes and 320 pixels wide: axe finds no fault', async () => {
    const { page: fresh, context, faults } = await world.open()
    const pages: [string, string][] = [
      ['/?all=1', '.projects h2'],
      [`${home}?q=name~x&view=all`, '.chips'],
      [home, '.row .name'],
      [`/p/acme/access/traces/${trace}`, '.span .label'],
      [`/p/acme/access/traces/${trace}?call=${failed}`, '.thrown'],
      [`/p/acme/access/traces/${trace}?call=${world.answered}`, '.message'],
      [`/p/acme/access/traces/${trace}?call=${world.answered}&tab=feedback`, '.feedback form'],
      ['/p/acme/access/objects/thing/latest', '.json .node'],
      ['/p/acme/fresh-access/calls', '.quick'],
      ['/nowhere', 'h1'],
    ]
    const found: string[] = []
    for (const [path, selector] of pages) {
      await fresh.goto(world.url + path)
      await fresh.locator(selector).first().waitFor()
      found.push(...(await everybodysFaults(fresh, path)))
    }
    await fresh.keyboard.press('?')
    await fresh.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    found.push(...(await everybodysFaults(fresh, 'keys')))
    await context.clearCookies()
    await fresh.goto(`${world.url}/sign-in`)
    await fresh.getByLabel('API key').waitFor()
    found.push(...(await everybodysFaults(fresh, 'sign-in')))
    expect(found).toEqual([])
    // The unknown path is a 404, of which the browser tells.
    expect(faults.filter((line) => !line.includes('404'))).toEqual([])
    await context.close()
  })
})

it('the page works below a path that a proxy strips', async () => {
  const { origin, close } = await startForwarding(world.url, { prefix: '/obs/callhouse' })
  try {
    const { page: fresh, context, faults } = await world.open({ origin })
    await fresh.goto(`${origin}${home}`)
    await fresh.locator('.row .name', { hasText: 'support_agent' }).click()
    await fresh.locator('.span .label', { hasText: 'chat second' }).waitFor()
    expect(new URL(fresh.url()).pathname).toBe(`/obs/callhouse/p/acme/access/traces/${trace}`)
    const cookies = await context.cookies(`${origin}/`)
    expect(cookies.map(({ path, httpOnly, sameSite }) => [path, httpOnly, sameSite])).toEqual([
      ['/obs/callhouse/', true, 'Strict'],
    ])
    expect(faults).toEqual([])
    await context.close()
  } finally {
    await close()
  }
})
