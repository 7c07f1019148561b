// tier: deep browser
// Readers whose browser shows text twice as large: everything grows with it, and nothing is cut off or lies outside.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Filled, startFilled } from './filled.ts'
import type { Opened } from './world.ts'

let world: Filled
let here: Opened
let page: Page

beforeAll(async () => {
  world = await startFilled({ project: 'acme/large-text' })
  here = await world.open()
  page = here.page
  // As the setting of a browser does, before any script of the page runs.
  await here.context.addInitScript(`document.addEventListener('readystatechange', () => {
    document.documentElement.style.fontSize = '125%'
  })`)
})
afterAll(() => world?.close())

/** Elements that are cut off or lie beside the page, as texts. */
const misfits = (): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const found = []
    const wide = document.documentElement.scrollWidth - innerWidth
    if (wide > 0) found.push('the page is ' + wide + ' px too wide')
    for (const element of document.querySelectorAll('[role=row], button, h1, h2, .cell, label, summary')) {
      const { scrollHeight, clientHeight, className, innerText } = element
      if (clientHeight > 1 && getComputedStyle(element).display !== 'inline' && scrollHeight > clientHeight + 2)
        found.push(className + ': ' + scrollHeight + ' in ' + clientHeight + ': ' + innerText.slice(0, 60))
    }
    return found
  })()`)

it('everything grows with the text of the browser, and nothing is cut off', async () => {
  const project = `/p/${world.project}`
  const pages: [path: string, text: string][] = [
    ['/', world.project.split('/')[1] as string],
    [`${project}/calls?view=all`, 'support_agent'],
    [`${project}/traces/${world.trace}`, 'support_agent'],
    [`${project}/dashboard`, 'Dashboard'],
    [`${project}/threads`, 'Threads'],
    [`${project}/objects`, 'Objects'],
    [`${project}/evaluations`, 'Evaluations'],
    [`${project}/queues`, 'Queues'],
    [`${project}/playground`, 'Playground'],
    ['/settings/keys', 'Keys'],
  ]
  for (const [path, text] of pages) {
    await page.goto(world.url + path)
    await page.getByText(text).first().waitFor()
    expect(await page.evaluate('getComputedStyle(document.body).fontSize')).toBe('26px')
    expect({ path, misfits: await misfits() }).toEqual({ path, misfits: [] })
  }
  expect(here.faults).toEqual([])
})
