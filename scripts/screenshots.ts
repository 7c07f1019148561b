// `npm run screenshots [name …]`: pictures of the web page with the calls of the demo, as the README and docs show them.
// With names it makes these alone.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { chromiumOptions } from '../test/browser/setup.ts'
import { buildPage } from '../test/fixtures/built-page.ts'
import { type BenchServer, startCallhouseServer } from './bench/process.ts'

const folder = new URL('../docs/images/', import.meta.url).pathname
const project = 'acme/demo'
/** Limit of one picture: pages are read over slow lines, too. */
const maxBytes = 150_000

type Theme = 'light' | 'dark'
type Picture = { name: string; path: string; ready(page: Page): Promise<unknown>; themes?: readonly Theme[] }

const heading = (name: string) => (page: Page) => page.getByRole('heading', { name }).first().waitFor()

/** The six main pages, and what else the quick start shows. */
const pictures: readonly Picture[] = [
  { name: 'calls', path: '/calls?q=-op:answer', ready: (page) => page.locator('.row .name').first().waitFor() },
  {
    name: 'trace',
    path: '/calls?q=-op:answer',
    async ready(page) {
      await page.locator('.row .name', { hasText: 'invoke_agent' }).first().click()
      await page.locator('.span .label', { hasText: 'chat' }).first().click()
    },
  },
  {
    name: 'error',
    path: '/calls?view=all&q=status:error',
    themes: ['light'],
    async ready(page) {
      await page.locator('.row .name').first().click()
      await page.locator('.span .label').first().waitFor()
    },
  },
  { name: 'dashboard', path: '/dashboard', ready: heading('Cost by model') },
  {
    name: 'thread',
    path: '/threads',
    async ready(page) {
      await page.locator('a[href*="/threads/"]').first().click()
      await page.locator('.turn .message').first().waitFor()
    },
  },
  {
    name: 'evaluations',
    path: '/evaluations',
    async ready(page) {
      await page.getByText('support-large on support questions').first().waitFor()
      await page.getByRole('table', { name: 'Evaluation runs' }).focus()
      for (const key of ['x', 'j', 'x', 'c']) await page.keyboard.press(key)
      await page.waitForURL(/compare/)
      await page.locator('.row .compared').first().waitFor()
    },
  },
  {
    name: 'queue',
    path: '/queues',
    async ready(page) {
      await page.locator('a[href*="/queues/"]').first().click()
      await page.locator('a[href*="/items/"]').first().click()
      await page.locator('.asked').first().waitFor()
    },
  },
]
const bothThemes: readonly Theme[] = ['light', 'dark']

async function take(browser: Browser, url: string, { name, path, ready }: Picture, theme: Theme): Promise<number> {
  const context = await browser.newContext({
    viewport: { width: 1100, height: 540 },
    colorScheme: theme,
    timezoneId: 'UTC',
    locale: 'en-GB',
  })
  const page = await context.newPage()
  await page.goto(`${url}/sign-in#key=bench-key`)
  await page.waitForURL((to) => !to.pathname.endsWith('/sign-in'))
  await page.goto(`${url}/p/${project}${path}`)
  await ready(page)
  await page.waitForLoadState('networkidle')
  const file = join(folder, `${name}-${theme}.png`)
  await page.screenshot({ path: file })
  await context.close()
  return statSync(file).size
}

async function run(names: readonly string[]): Promise<void> {
  const asked = pictures.filter(({ name }) => names.length === 0 || names.includes(name))
  if (asked.length === 0) throw new Error(`There are pictures ${pictures.map(({ name }) => name).join(', ')}`)
  // The server refuses settings that it does not know.
  const { CALLHOUSE_CHROMIUM: executable = '/usr/bin/chromium' } = process.env
  delete process.env.CALLHOUSE_CHROMIUM
  await buildPage()
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-screenshots-'))
  let server: BenchServer | undefined
  let browser: Browser | undefined
  try {
    server = await startCallhouseServer(dir)
    const url = `http://127.0.0.1:${server.port}`
    const demo = new URL('./demo.ts', import.meta.url).pathname
    await promisify(execFile)(process.execPath, [demo, 'bench-key', url, project])
    browser = await chromium.launch(chromiumOptions(executable))
    mkdirSync(folder, { recursive: true })
    for (const picture of asked)
      for (const theme of picture.themes ?? bothThemes) {
        const bytes = await take(browser, url, picture, theme)
        if (bytes > maxBytes) throw new Error(`${picture.name} has ${bytes} bytes: at most ${maxBytes}`)
        process.stdout.write(`${picture.name}, ${theme}: ${Math.round(bytes / 1000)} kB\n`)
      }
  } finally {
    await browser?.close()
    await server?.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

await run(process.argv.slice(2))
