// tier: deep browser
// Everything that was recorded is hostile: each stored field holds each of these texts, and no page runs, loads or breaks.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { strangeElements, texts } from './hostile-texts.ts'
import { call, newId, newTrace, type Opened, startWorld, type World } from './world.ts'

/** A root for each text, and a child for every fourth. */
const callCount = texts.length * 1.25

let world: World
let opened: Opened
const traces: string[] = []

beforeAll(async () => {
  world = await startWorld('acme/hostile')
  const { project } = world
  // Four texts to a trace.
  const calls = texts.flatMap((text, n) => {
    if (n % 4 === 0) traces.push(newTrace())
    const trace = traces.at(-1) as string
    const root = newId()
    const every = { [text]: text, nested: { [text]: [text, { [text]: text }] }, json: JSON.stringify({ [text]: text }) }
    const usage = { [text.slice(0, 200)]: { prompt_tokens: 1, completion_tokens: 1, requests: 1 } }
    const name = text.slice(0, 120)
    const shared = { trace, inputs: every, output: text, attributes: every, exception: text, usage, name }
    return [
      {
        ...call(project, { ...shared, id: root }),
        display_name: text.slice(0, 900),
        thread_id: text.slice(0, 100),
        turn_id: root,
      },
      ...(n % 4 === 0 ? [{ ...call(project, { ...shared, parent: root }), display_name: null }] : []),
    ]
  })
  await world.send(calls)
  opened = await world.open()
})
afterAll(() => world?.close())

describe('recorded text', () => {
  it('runs nothing, loads nothing and adds nothing, in the list', async () => {
    const { page, faults } = opened
    await page.goto(`${world.url}/p/${world.project}/calls?view=all`)
    await page.locator('.row .name').first().waitFor()
    await page.locator('.row', { hasText: 'alert(1)' }).first().waitFor()
    await page.getByRole('table', { name: 'Calls' }).focus()
    for (let step = 0; step < callCount; step++) await page.keyboard.press('j')
    expect(await page.evaluate(strangeElements)).toEqual([])
    expect(faults).toEqual([])
    const shown = await page.locator('.rows').innerText()
    expect(shown).toContain('<script>alert(1)</script>')
    expect(shown).toContain('RLO')
    expect(shown).not.toContain('\u202e')
  })

  it('runs nothing, loads nothing and adds nothing, in any trace and any part of its reader', async () => {
    const { page, faults } = opened
    for (const trace of traces) {
      await page.goto(`${world.url}/p/${world.project}/traces/${trace}`)
      await page.locator('.json .node').first().waitFor()
      for (const tab of ['Attributes', 'Raw', 'Input / Output']) {
        await page.getByRole('tab', { name: tab }).click()
        await page.getByRole('treegrid', { name: 'Spans' }).focus()
        await page.keyboard.press(tab === 'Raw' ? 'Home' : 'End')
        for (let step = 0; step < 5; step++) {
          await page.keyboard.press(tab === 'Raw' ? 'j' : 'k')
          await page.locator('.json .node').first().waitFor()
        }
        expect([trace, await page.evaluate(strangeElements)]).toEqual([trace, []])
      }
      expect([trace, await page.evaluate(strangeElements)]).toEqual([trace, []])
      expect(await page.title()).toBe('Trace · Callhouse')
    }
    expect(faults).toEqual([])
    expect(await page.evaluate('({}).weave')).toBeUndefined()
  })

  it('runs nothing, loads nothing and adds nothing, in threads', async () => {
    const { page, faults } = opened
    await page.goto(`${world.url}/p/${world.project}/threads`)
    const rows = page.getByRole('table', { name: 'Threads' }).locator('.row')
    await expectSoon(() => rows.count()).toBe(texts.length)
    await rows.getByText('nested').first().waitFor()
    expect(await page.evaluate(strangeElements)).toEqual([])
    for (let n = 0; n < texts.length; n++) {
      await rows.nth(n).getByRole('link').click()
      await page.locator('.payloads').waitFor()
      expect([n, await page.evaluate(strangeElements)]).toEqual([n, []])
      await page.goBack()
      await expectSoon(() => rows.count()).toBe(texts.length)
    }
    expect(faults).toEqual([])
  })

  it('can be copied as it is', async () => {
    const { page } = opened
    const [text = ''] = texts.slice(10)
    await page.goto(`${world.url}/p/${world.project}/traces/${traces[2]}`)
    await page.locator('.span .label', { hasText: 'RLO' }).first().click()
    await page.getByRole('heading', { name: /RLO/ }).waitFor()
    const input = page.getByRole('tree', { name: 'Input' })
    await input.locator('.node').first().waitFor()
    await input.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('y')
    await expectSoon(() => page.evaluate('navigator.clipboard.readText()')).toBe(text)
  })

  it('is harmless in the address too', async () => {
    const { page, faults } = opened
    for (const text of texts.filter((_, n) => n % 3 === 0)) {
      const written = encodeURIComponent(text)
      await page.goto(
        `${world.url}/p/${world.project}/calls?q=${written}&sort=${written}&range=${written}&tz=${written}`,
      )
      await page.locator('.foot').waitFor()
      await page.goto(
        `${world.url}/p/${written.replaceAll('%2F', '')}/x/traces/${written.replaceAll('%2F', '')}?call=${written}&tab=${written}`,
      )
      await page.locator('.top').waitFor()
      expect(await page.evaluate(strangeElements)).toEqual([])
    }
    // Names that are no project and ids that are no trace are refused by the server, of which the browser tells.
    expect(faults.splice(0).filter((line) => !/status of 40[04]/.test(line))).toEqual([])
  })
})

describe('recorded HTML', () => {
  it('stands as its source, and is drawn on demand where it can do nothing', async () => {
    const { page, faults } = opened
    const html = `<!doctype html><html><head><meta http-equiv="refresh" content="0;url=https://example.com/refreshed">
      <script>top.ran = 1; alert(1)</script><base href="https://example.com/"></head>
      <body onload="alert(2)"><h1 style="color:red">Drawn</h1><img src="https://example.com/pixel.png" onerror="alert(3)">
      <iframe src="https://example.com/frame"></iframe><form action="https://example.com/form"><button>Send</button></form>
      <a href="https://example.com/top" target="_top">Leave</a></body></html>`
    const [id, trace] = [newId(), newTrace()]
    const inputs = { model: 'm', messages: [{ role: 'user', content: 'A page, please' }] }
    const output = { choices: [{ index: 0, message: { role: 'assistant', content: html } }] }
    await world.send([call(world.project, { id, trace, inputs, output })])
    await page.goto(`${world.url}/p/${world.project}/traces/${trace}?call=${id}&tab=conversation`)
    await page.getByText('top.ran = 1').waitFor()
    expect(await page.locator('iframe').count()).toBe(0)
    await page.getByRole('button', { name: 'Preview' }).focus()
    await page.keyboard.press('Enter')
    const drawn = page.frameLocator('iframe[title=Preview]')
    await drawn.getByRole('heading', { name: 'Drawn' }).waitFor()
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('')
    for (const what of ['Send', 'Leave']) await drawn.getByText(what).click()
    const color = await drawn.locator('h1').evaluate((heading) => heading.computedStyleMap().get('color')?.toString())
    expect(color).toMatch(/^rgb\((?!255, 0, 0)/)
    expect(await page.evaluate('[globalThis.ran, location.origin]')).toEqual([undefined, world.url])
    // The browser reports refusals of the frame in the console; nothing was requested, opened or run.
    expect(faults.splice(0).filter((line) => !line.startsWith('console: '))).toEqual([])
    await page.getByRole('button', { name: 'Close' }).click()
    await expectSoon(() => page.locator('iframe').count()).toBe(0)
  })
})

describe('another site', () => {
  it('cannot frame the page, read its cookie, or do anything with it', async () => {
    const { page, context, faults } = opened
    const target = `${world.url}/calls/delete`
    const calls = async () =>
      (await world.server.send<{ count: number }>('/calls/query_stats', { project_id: world.project })).count
    const before = await calls()
    expect(before).toBeGreaterThanOrEqual(callCount)
    const html = `<!doctype html><iframe src="${world.url}/"></iframe>
      <form method="post" action="${target}" enctype="text/plain"><input name='{"project_id":"${world.project}","x":"' value='"}'></form>`
    const site = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const origin = `http://localhost:${(site.address() as AddressInfo).port}`
    await context.unrouteAll()
    try {
      expect(await page.evaluate('document.cookie')).toBe('')
      await page.goto(origin)
      expect(await page.frames()[1]?.evaluate('document.querySelector("#page")')).toBeNull()
      const statuses: number[] = []
      page.on('response', (response) => response.url() === target && statuses.push(response.status()))
      await page.evaluate(
        `fetch('${target}', { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}' }).catch(() => 0)`,
      )
      await page.evaluate('document.forms[0].submit()')
      await expectSoon(() => statuses.length).toBeGreaterThan(0)
      expect(statuses.every((status) => status === 401 || status === 403)).toBe(true)
      expect(await calls()).toBe(before)
    } finally {
      site.close()
      faults.splice(0)
    }
  })
})
