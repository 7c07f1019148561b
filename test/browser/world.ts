// A server with calls, and a browser that notes whatever a page must not do.
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { post } from '../fixtures/child-server.ts'

export type Opened = {
  page: Page
  context: BrowserContext
  /** Errors, reports of the policy, dialogs and requests to anywhere else, as lines. */
  faults: string[]
}

export type World = {
  server: Served
  url: string
  project: string
  browser: Browser
  /** A fresh context, signed in by `key` unless that is empty. */
  open(options?: { key?: string; theme?: 'light' | 'dark'; width?: number; origin?: string }): Promise<Opened>
  send(calls: object[]): Promise<void>
  close(): Promise<void>
}

export const newTrace = (): string => randomBytes(16).toString('hex')
/** Holds answers to these requests back. @returns what lets them go */
export async function hold(of: Pick<Page, 'route'>, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await of.route(path, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

export const newId = (): string => randomBytes(8).toString('hex')

/** The parts of a server that the tests use. */
type Served = { url: string; dataDir: string; send<Answer>(path: string, body: unknown): Promise<Answer> }

export function servedAt(url: string, dataDir: string): Served {
  return {
    url,
    dataDir,
    async send<Answer>(path: string, body: unknown) {
      const { status, text } = await post(url, path, body)
      if (status !== 200) throw new Error(`${path} answered ${status}: ${text.slice(0, 500)}`)
      return JSON.parse(text) as Answer
    },
  }
}

/** On the server and in the browser that all test files share; each file has projects of its own. */
export async function startWorld(project = 'acme/browser'): Promise<World> {
  const { inject } = await import('vitest')
  const { url, dataDir, browser } = inject('browserWorld')
  return worldOf(servedAt(url, dataDir), await chromium.connect(browser), project)
}

export function worldOf(server: Served, browser: Browser, project = 'acme/browser'): World {
  const { url } = server
  return {
    server,
    url,
    project,
    browser,
    async open({ key = 'test-key', theme = 'light', width = 1280, origin = url } = {}) {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme: theme,
        timezoneId: 'UTC',
        locale: 'en-GB',
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      const faults: string[] = []
      const policy = 'console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)'
      await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => ${policy})`)
      await context.route(
        (to) => to.origin !== new URL(origin).origin && !['data:', 'blob:'].includes(to.protocol),
        (route) => {
          faults.push(`request to ${route.request().url()}`)
          return route.abort()
        },
      )
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      page.on('console', (message) => message.type() === 'error' && faults.push(`console: ${message.text()}`))
      page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
      page.on('dialog', (dialog) => {
        faults.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      if (key !== '') {
        await page.goto(`${origin}/sign-in#key=${key}`)
        await page.waitForURL((to) => !to.pathname.endsWith('/sign-in'))
      }
      return { page, context, faults }
    },
    async send(calls) {
      const [entity, name] = project.split('/')
      for (let at = 0; at < calls.length; at += 500)
        await server.send(`/v2/${entity}/${name}/calls/complete`, { batch: calls.slice(at, at + 500) })
    },
    close: () => browser.close(),
  }
}

type CallOptions = {
  id?: string
  trace?: string
  parent?: string | undefined
  name?: string
  startMs?: number
  ms?: number
  inputs?: unknown
  output?: unknown
  attributes?: unknown
  exception?: string
  usage?: Record<string, unknown>
}

/** One finished call of the project. */
export function call(project: string, options: CallOptions = {}): Record<string, unknown> {
  const { id = newId(), trace = newTrace(), name = 'answer', startMs = Date.now() - 60_000, ms = 100 } = options
  return {
    project_id: project,
    id,
    trace_id: trace,
    parent_id: options.parent ?? null,
    op_name: name,
    started_at: new Date(startMs).toISOString(),
    ended_at: new Date(startMs + ms).toISOString(),
    inputs: options.inputs ?? { question: 'Why?' },
    output: options.output ?? 'Because.',
    attributes: options.attributes ?? {},
    summary: options.usage ? { usage: options.usage } : {},
    ...(options.exception !== undefined && { exception: options.exception }),
  }
}

/** The findings of axe for WCAG 2.0 to 2.2, A and AA, as lines; of its contrasts alone where the rest was checked. */
export async function axeFaults(page: Page, contrastOnly = false): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async (onlyContrast) => {
    type Found = { violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[] }
    const run = (globalThis as unknown as { axe: { run(options: object): Promise<Found> } }).axe
    const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    const all = { type: 'tag', values }
    const contrast = { type: 'rule', values: ['color-contrast'] }
    const { violations } = await run.run({ runOnly: onlyContrast ? contrast : all, resultTypes: ['violations'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} (${failureSummary?.split('\n')[1]?.trim()})`,
      ),
    )
  }, contrastOnly)
}

/** Elements that do not fit into 320 pixels. Leaves the page wide. */
export async function narrowFaults(page: Page, where: string): Promise<string[]> {
  await page.setViewportSize({ width: 320, height: 800 })
  // Scripts hear of the width with the next frame, and draw in the one after it.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  await page.setViewportSize({ width: 1280, height: 800 })
  return wide === 0 ? [] : [`${where}: ${wide} pixels too wide`]
}

/** Barriers of the current page: axe in both themes, then 320 pixels. Leaves it light and wide. */
export async function everybodysFaults(page: Page, where: string): Promise<string[]> {
  const found = (await axeFaults(page)).map((line) => `${where}: ${line}`)
  // The themes differ in colours only.
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await axeFaults(page, true)).map((line) => `${where}, dark: ${line}`))
  await page.emulateMedia({ colorScheme: 'light' })
  return [...found, ...(await narrowFaults(page, where))]
}

/** A picture, kept only for failures. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = join(tmpdir(), 'callhouse-browser')
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) }).catch(() => undefined)
}
