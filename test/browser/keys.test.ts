// tier: deep browser
// Each key of the table does what the sheet of keys says.
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendEvaluations } from '../../scripts/demo/evaluations.ts'
import { type KeyName, keyTable } from '../../services/web/page/key-table.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { afterEachIsFaultless } from './faultless.ts'
import { type Filled, startFilled } from './filled.ts'
import type { Opened } from './world.ts'

let world: Filled
let home: string
let trace: string
let failed: string
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project: 'acme/keys' })
  ;({ home, trace, failed } = world)
  await sendEvaluations({ url: world.url, key: 'test-key', project: 'acme/judged-keys' })
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEachIsFaultless(() => here)

const go = (path: string) => page.goto(world.url + path)

describe('keys', () => {
  const at = () => page.locator('.span.at .label').innerText()
  const press = (key: string) => page.keyboard.press(key)

  it('each key does what the sheet of keys says', async () => {
    const done = new Set<KeyName>()
    const tries: [KeyName[], () => Promise<unknown>][] = []
    const mod = 'Control+'
    await go(home)
    await page.locator('.row .name', { hasText: 'support_agent' }).waitFor()
    await page.getByText('of 253').waitFor()
    const table = page.getByRole('table', { name: 'Calls' })
    await table.focus()
    const rowAt = async () => Number(await page.locator('.rows .row.at').getAttribute('aria-rowindex'))
    tries.push([
      ['down', 'up'],
      async () => {
        for (const [key, row] of Object.entries({ j: 3, ArrowDown: 4, k: 3, ArrowUp: 2 })) {
          await press(key)
          await expectSoon(rowAt).toBe(row)
        }
      },
    ])
    tries.push([
      ['last', 'first', 'pageDown', 'pageUp'],
      async () => {
        await press('End')
        await expectSoon(rowAt).toBe(254)
        await press('Home')
        await expectSoon(rowAt).toBe(2)
        await press('PageDown')
        await expectSoon(rowAt).toBeGreaterThan(10)
        await press('PageUp')
        await expectSoon(rowAt).toBe(2)
      },
    ])
    tries.push([
      ['search', 'filter'],
      async () => {
        for (const key of ['/', 'f']) {
          await press(key)
          await expectSoon(() => page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe(
            'Filter calls',
          )
          // Once more where suggestions have come meanwhile: it puts them away first.
          await expectSoon(async () => {
            await press('Escape')
            return page.evaluate('document.activeElement?.tagName')
          }).toBe('BODY')
        }
      },
    ])
    tries.push([
      ['range'],
      async () => {
        await press('t')
        await page.getByRole('button', { name: 'last hour' }).waitFor()
        await press('Escape')
      },
    ])
    tries.push([
      ['palette'],
      async () => {
        await press(`${mod}k`)
        await page.getByRole('combobox', { name: /A project/ }).fill(failed)
        await page.getByRole('option', { name: /call/ }).waitFor()
        await press('Escape')
      },
    ])
    tries.push([
      ['help'],
      async () => {
        await press('?')
        await page.getByRole('heading', { name: 'Lists and trees' }).waitFor()
        await press('Escape')
      },
    ])
    const marked = page.getByRole('group', { name: 'Marked calls' })
    tries.push([
      ['mark', 'markRange', 'markAll'],
      async () => {
        await table.focus()
        await press('x')
        await marked.getByText('1 marked').waitFor()
        await press('j')
        await press('j')
        await press('X')
        await marked.getByText('3 marked').waitFor()
        await press(`${mod}a`)
        await marked.getByText('253 marked').waitFor()
        await marked.getByRole('button', { name: 'Clear' }).click()
        await marked.waitFor({ state: 'detached' })
        await table.focus()
        await press('Home')
        const boxes = table.getByRole('checkbox')
        await boxes.nth(1).click()
        await boxes.nth(4).click({ modifiers: ['Shift'] })
        await marked.getByText('4 marked').waitFor()
        // Keys are for the list behind a click on a box, too.
        for (const key of ['j', 'x']) await press(key)
        await marked.getByText('5 marked').waitFor()
        await marked.getByRole('button', { name: 'Clear' }).click()
        await marked.waitFor({ state: 'detached' })
        await table.focus()
        await press('Home')
      },
    ])
    tries.push([
      ['live'],
      async () => {
        await press('l')
        await page.waitForURL((to) => to.search.includes('live=1'))
        await press('l')
        await page.waitForURL((to) => !to.search.includes('live'))
        await table.focus()
      },
    ])
    tries.push([
      ['newTab'],
      async () => {
        await table.focus()
        const [tab] = await Promise.all([here.context.waitForEvent('page'), press('o')])
        await tab.waitForURL(/traces/)
        await tab.close()
      },
    ])
    tries.push([
      ['copy'],
      async () => {
        await press('y')
        await expectSoon(() => page.evaluate('navigator.clipboard.readText()')).toContain(trace)
      },
    ])
    tries.push([
      ['open'],
      async () => {
        await table.focus()
        await press('Enter')
        await page.locator('.span .label', { hasText: 'chat second' }).waitFor()
      },
    ])
    tries.push([
      ['nextTrace', 'previousTrace'],
      async () => {
        await press(']')
        await page.waitForURL((to) => !to.pathname.endsWith(trace))
        await press('[')
        await page.waitForURL((to) => to.pathname.endsWith(trace))
        await page.locator('.span .label', { hasText: 'chat second' }).waitFor()
      },
    ])
    const spans = page.getByRole('treegrid', { name: 'Spans' })
    tries.push([
      ['close', 'expand'],
      async () => {
        await spans.focus()
        await press('Home')
        await press('ArrowLeft')
        await expectSoon(() => page.locator('.span .label').count()).toBe(1)
        await press('ArrowRight')
        await expectSoon(() => page.locator('.span .label').count()).toBe(5)
      },
    ])
    tries.push([
      ['nextError', 'previousError'],
      async () => {
        await press('e')
        await expectSoon(at).toContain('fetch')
        await press('E')
        await expectSoon(at).toContain('fetch')
      },
    ])
    tries.push([
      ['critical', 'slowest'],
      async () => {
        await spans.focus()
        await press('Home')
        await press('c')
        await expectSoon(at).toContain('chat first')
        await press('Home')
        await expectSoon(at).toContain('support_agent')
        await press('s')
        await expectSoon(at).toContain('search')
      },
    ])
    tries.push([
      ['next', 'previous'],
      async () => {
        await page.getByLabel('Find in this trace').fill('chat')
        await expectSoon(() => page.locator('.span .label').count()).toBe(3)
        await spans.focus()
        await press('Home')
        await press('n')
        await expectSoon(at).toContain('chat first')
        await press('n')
        await expectSoon(at).toContain('chat second')
        await press('p')
        await expectSoon(at).toContain('chat first')
      },
    ])
    tries.push([
      ['acts', 'mode'],
      async () => {
        // The call that the last key went to is read first.
        await page.getByRole('button', { name: 'Actions of the call' }).waitFor()
        await press('.')
        await page.getByRole('button', { name: 'Copy as curl' }).waitFor()
        await press('Escape')
        for (const mode of ['start', 'messages', 'paths', 'flame', 'flame-paths']) {
          await press('v')
          await page.waitForURL((to) => to.searchParams.get('mode') === mode)
        }
        await press('v')
        await page.waitForURL((to) => !to.searchParams.has('mode'))
      },
    ])
    tries.push([
      ['zoomIn', 'zoomOut', 'zoomAll'],
      async () => {
        const zoomed = page.locator('.minimap .window')
        await press('+')
        await zoomed.waitFor()
        await press('-')
        await zoomed.waitFor({ state: 'detached' })
        await press('+')
        await zoomed.waitFor()
        await press('0')
        await zoomed.waitFor({ state: 'detached' })
      },
    ])
    tries.push([
      ['markdown'],
      async () => {
        await press('m')
        await expectSoon(() => page.evaluate("localStorage.getItem('callhouse.markdown')")).toBe('on')
        await press('m')
        await expectSoon(() => page.evaluate("localStorage.getItem('callhouse.markdown')")).toBe('off')
      },
    ])
    tries.push([
      ['nextMessage', 'previousMessage'],
      async () => {
        await go(`/p/${world.project}/traces/${trace}?call=${world.answered}`)
        await page.getByRole('list', { name: 'Messages' }).waitFor()
        await page.getByRole('treegrid', { name: 'Spans' }).focus()
        const said = () =>
          page.evaluate<string>("document.activeElement.closest('.message h3, .message')?.innerText ?? ''")
        for (const [key, role] of Object.entries({ '}': /^System/, '} ': /^User/, '{': /^System/ })) {
          await press(key.trim())
          await expectSoon(said).toMatch(role)
        }
      },
    ])
    tries.push([
      ['raw', 'wrap'],
      async () => {
        await press('r')
        await page.getByRole('tab', { name: 'Raw', selected: true }).waitFor()
        await press('w')
        await expectSoon(() => page.evaluate("localStorage.getItem('callhouse.wrap')")).toBe('off')
        await press('w')
      },
    ])
    tries.push([
      ['goCalls'],
      async () => {
        await press('g')
        await press('c')
        await page.waitForURL((to) => to.pathname === home)
      },
    ])
    tries.push([
      ['goEvaluations', 'compare', 'baseline'],
      async () => {
        await go('/p/acme/judged-keys/calls')
        await page.locator('.row .name').first().waitFor()
        await press('g')
        await press('e')
        await page.getByRole('table', { name: 'Evaluation runs' }).focus()
        await press('x')
        await page.getByRole('table', { name: 'Evaluation runs' }).getByRole('checkbox').nth(1).click()
        await press('c')
        await page.getByRole('table', { name: 'Rows of the runs' }).waitFor()
        const runs = new URL(page.url()).searchParams.get('runs')?.split(',') ?? []
        await press('b')
        await page.waitForURL((to) => to.searchParams.get('runs') === runs.toReversed().join())
      },
    ])
    tries.push([
      ['goQueues'],
      async () => {
        await press('g')
        await press('q')
        await page.getByRole('heading', { name: 'No annotation queues yet' }).waitFor()
      },
    ])
    tries.push([
      ['goObjects'],
      async () => {
        await press('g')
        await press('o')
        await page.waitForURL((to) => to.pathname.endsWith('/objects'))
        await page.getByRole('link', { name: 'Ops', exact: true }).waitFor()
      },
    ])
    tries.push([
      ['goDatasets'],
      async () => {
        await press('g')
        await press('s')
        await page.waitForURL((to) => to.searchParams.get('class') === 'datasets')
      },
    ])
    tries.push([
      ['removeRow', 'undo', 'redo'],
      async () => {
        const table = { project_id: world.project, rows: [{ question: 'Why?' }] }
        const { digest } = await world.server.send<{ digest: string }>('/table/create', { table })
        const val = { rows: `weave:///${world.project}/table/${digest}` }
        await world.server.send('/obj/create', { obj: { project_id: world.project, object_id: 'set', val } })
        await go(`/p/${world.project}/datasets/set/latest`)
        await page.getByRole('table', { name: 'Rows' }).focus()
        const changed = page.getByText('1 change not saved')
        await press('Delete')
        await changed.waitFor()
        await press(`${mod}z`)
        await changed.waitFor({ state: 'detached' })
        await press(`${mod}y`)
        await changed.waitFor()
        await press('Delete')
        await changed.waitFor({ state: 'detached' })
      },
    ])
    const goes: [KeyName, string, () => Locator][] = [
      ['goDashboard', 'd', () => page.getByPlaceholder('end_user:ann')],
      ['goThreads', 't', () => page.getByRole('heading', { name: 'No threads yet' })],
      ['goPrompts', 'r', () => page.getByRole('heading', { name: 'No prompts yet' })],
    ]
    for (const [name, key, found] of goes) {
      tries.push([
        [name],
        async () => {
          for (const one of ['g', key]) await press(one)
          await found().waitFor()
        },
      ])
    }
    tries.push([
      ['goPlayground', 'run'],
      async () => {
        for (const one of ['g', 'p']) await press(one)
        await page.getByLabel('Message 2', { exact: true }).fill('Hello')
        await page.getByLabel('Name of model 1').fill('no such model')
        await press(`${mod}Enter`)
        await page.getByRole('alert').waitFor()
        here.faults.splice(0)
      },
    ])
    for (const [names, attempt] of tries) {
      await attempt().catch((error: Error) => {
        throw new Error(`${names.join(', ')}: ${error.message}`)
      })
      for (const name of names) done.add(name)
    }
    // Those of labelling are pressed by test/browser/judging.test.ts.
    const names = (Object.keys(keyTable) as KeyName[]).filter((name) => keyTable[name].scope !== 'Labeling')
    expect([...done].sort()).toEqual(names.sort())
  })
})
