// The page for everybody: each key of the table, axe in both themes, narrow windows, below another path.
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sendEvaluations } from '../../scripts/demo/evaluations.ts'
import { type KeyName, keyTable } from '../../services/web/page/key-table.ts'
import { type Filled, startFilled } from './filled.ts'
import { axeFaults, type Opened, picture } from './world.ts'

let world: Filled
let home: string
let trace: string
let failed: string
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project: 'acme/access' })
  ;({ home, trace, failed } = world)
  const obj = { project_id: world.project, object_id: 'thing', val: { text: 'a value', list: [1, 2] } }
  await world.server.send('/obj/create', { obj })
  await sendEvaluations({ url: world.url, key: 'test-key', project: 'acme/judged' })
  here = await world.open()
  page = here.page
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

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
        for (const [key, row] of [
          ['j', 3],
          ['ArrowDown', 4],
          ['k', 3],
          ['ArrowUp', 2],
        ] as const) {
          await press(key)
          await expect.poll(rowAt).toBe(row)
        }
      },
    ])
    tries.push([
      ['last', 'first', 'pageDown', 'pageUp'],
      async () => {
        await press('End')
        await expect.poll(rowAt).toBe(254)
        await press('Home')
        await expect.poll(rowAt).toBe(2)
        await press('PageDown')
        await expect.poll(rowAt).toBeGreaterThan(10)
        await press('PageUp')
        await expect.poll(rowAt).toBe(2)
      },
    ])
    tries.push([
      ['search', 'filter'],
      async () => {
        for (const key of ['/', 'f']) {
          await press(key)
          await expect
            .poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')"))
            .toBe('Filter calls')
          await press('Escape')
          await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('BODY')
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
        await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain(trace)
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
        await expect.poll(() => page.locator('.span .label').count()).toBe(1)
        await press('ArrowRight')
        await expect.poll(() => page.locator('.span .label').count()).toBe(5)
      },
    ])
    tries.push([
      ['nextError', 'previousError'],
      async () => {
        await press('e')
        await expect.poll(at).toContain('fetch')
        await press('E')
        await expect.poll(at).toContain('fetch')
      },
    ])
    tries.push([
      ['critical', 'slowest'],
      async () => {
        await spans.focus()
        await press('Home')
        await press('c')
        await expect.poll(at).toContain('chat first')
        await press('Home')
        await expect.poll(at).toContain('support_agent')
        await press('s')
        await expect.poll(at).toContain('search')
      },
    ])
    tries.push([
      ['next', 'previous'],
      async () => {
        await page.getByLabel('Find in this trace').fill('chat')
        await expect.poll(() => page.locator('.span .label').count()).toBe(3)
        await spans.focus()
        await press('Home')
        await press('n')
        await expect.poll(at).toContain('chat first')
        await press('n')
        await expect.poll(at).toContain('chat second')
        await press('p')
        await expect.poll(at).toContain('chat first')
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
      ['raw', 'wrap'],
      async () => {
        await press('r')
        await page.getByRole('tab', { name: 'Raw', selected: true }).waitFor()
        await press('w')
        await expect.poll(() => page.evaluate("localStorage.getItem('callhouse.wrap')")).toBe('off')
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
      ['goEvaluations', 'compare'],
      async () => {
        await go('/p/acme/judged/calls')
        await page.locator('.row .name').first().waitFor()
        await press('g')
        await press('e')
        await page.getByRole('table', { name: 'Evaluation runs' }).focus()
        for (const key of ['x', 'j', 'x', 'c']) await press(key)
        await page.getByRole('table', { name: 'Rows of the runs' }).waitFor()
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
      ['goThreads'],
      async () => {
        await press('g')
        await press('t')
        await page.getByRole('heading', { name: 'No threads yet' }).waitFor()
      },
    ])
    tries.push([
      ['goPlayground', 'run'],
      async () => {
        await press('g')
        await press('p')
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
    const names = (Object.keys(keyTable) as KeyName[]).filter((name) => keyTable[name].scope !== 'Labelling')
    expect([...done].sort()).toEqual(names.sort())
  })
})

describe('everybody', () => {
  it('can use the page in both themes: axe finds no fault', async () => {
    const { page: fresh, context, faults } = await world.open()
    const pages: [string, string][] = [
      ['/?all=1', '.projects h2'],
      [`${home}?q=name~x&view=all`, '.chips'],
      [home, '.row .name'],
      [`/p/acme/access/traces/${trace}?call=${failed}`, '.thrown'],
      [`/p/acme/access/traces/${trace}?call=${world.answered}`, '.message'],
      [`/p/acme/access/traces/${trace}?call=${world.answered}&tab=feedback`, '.feedback form'],
      ['/p/acme/access/objects/thing/latest', '.json .node'],
      ['/p/acme/fresh-access/calls', '.quick'],
      ['/nowhere', 'h1'],
    ]
    const found: string[] = []
    const look = async (where: string) => {
      found.push(...(await axeFaults(fresh)).map((line) => `${where}: ${line}`))
      // The themes differ in colours only.
      await fresh.emulateMedia({ colorScheme: 'dark' })
      found.push(...(await axeFaults(fresh, true)).map((line) => `${where}, dark: ${line}`))
      await fresh.emulateMedia({ colorScheme: 'light' })
    }
    for (const [path, selector] of pages) {
      await fresh.goto(world.url + path)
      await fresh.locator(selector).first().waitFor()
      await look(path)
    }
    await fresh.keyboard.press('?')
    await fresh.getByRole('heading', { name: 'Keys' }).waitFor()
    await look('keys')
    await context.clearCookies()
    await fresh.goto(`${world.url}/sign-in`)
    await fresh.getByLabel('API key').waitFor()
    await look('sign-in')
    expect(found).toEqual([])
    // The unknown path is a 404, of which the browser tells.
    expect(faults.filter((line) => !line.includes('404'))).toEqual([])
    await context.close()
  })

  it('can use it 320 pixels wide without scrolling sideways', async () => {
    const { page: fresh, context } = await world.open({ width: 320 })
    for (const path of [
      '/?all=1',
      home,
      `/p/acme/access/traces/${trace}`,
      `/p/acme/access/traces/${trace}?call=${failed}`,
      `/p/acme/access/traces/${trace}?call=${world.answered}`,
      `/p/acme/access/traces/${trace}?call=${world.answered}&tab=feedback`,
      '/p/acme/access/objects/thing/latest',
    ]) {
      await fresh.goto(world.url + path)
      await fresh.locator('h1, h2').first().waitFor()
      const wide = await fresh.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([path, wide]).toEqual([path, 0])
    }
    await context.close()
  })
})

it('works below a path that a proxy strips', async () => {
  const { hostname, port } = new URL(world.url)
  const proxy = createServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith('/obs/callhouse/')) return void outgoing.writeHead(404).end()
    const path = incoming.url.slice('/obs/callhouse'.length)
    const headers = { ...incoming.headers, 'x-forwarded-prefix': '/obs/callhouse' }
    incoming.pipe(
      request({ hostname, port, path, method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      }),
    )
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/obs/callhouse`
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
    proxy.close()
  }
})
