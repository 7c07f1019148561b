// Runs Lighthouse on the page: on a desktop and on a phone. It has a package and a lock of its own (page/).
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { chromiumOptions } from '../../test/browser/setup.ts'
import type { Figure } from './page-timing.ts'
import { median } from './process.ts'

const folder = fileURLToPath(new URL('page', import.meta.url))
const entry = join(folder, 'node_modules/lighthouse/core/index.js')
const categories = ['performance', 'accessibility', 'best-practices'] as const

type Result = { lhr: { categories: Record<(typeof categories)[number], { score: number | null }> } } | undefined
type Lighthouse = {
  default(url: string, flags: object, config?: object): Promise<Result>
  desktopConfig: object
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * Medians: what else runs for a moment counts fourfold on a phone, since the clock on the wall is stretched.
 * @param paths pages by their names; all but `sign-in` are looked at by somebody who is signed in
 */
export async function lighthouseFigures(
  executable: string,
  { url, paths, times }: { url: string; paths: Record<string, string>; times: number },
): Promise<Figure[]> {
  if (!existsSync(entry))
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  const { default: lighthouse, desktopConfig } = (await import(entry)) as Lighthouse
  const profile = mkdtempSync(join(tmpdir(), 'callhouse-bench-lighthouse-'))
  const port = await freePort()
  const { executablePath, args } = chromiumOptions(executable)
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...args, `--remote-debugging-port=${port}`],
  })
  const figures: Figure[] = []
  try {
    for (const [name, path] of Object.entries(paths)) {
      if (name !== 'sign-in' && (await context.cookies(url)).length === 0) {
        const page = await context.newPage()
        await page.goto(`${url}/sign-in#key=test-key`)
        await page.waitForURL((to) => !to.pathname.endsWith('/sign-in'))
        await page.close()
      }
      for (const [form, config] of [
        ['desktop', desktopConfig],
        ['mobile', undefined],
      ] as const) {
        // The session stays; what was loaded before does not.
        const flags = { port, disableStorageReset: true, onlyCategories: categories, logLevel: 'error' }
        const scores: Record<string, number>[] = []
        for (let round = 0; round < times; round++) {
          const found = (await lighthouse(url + path, flags, config))?.lhr.categories
          scores.push(Object.fromEntries(categories.map((one) => [one, Math.round((found?.[one].score ?? 0) * 100)])))
        }
        const score = (category: (typeof categories)[number]) => median(scores.map((one) => one[category] ?? 0))
        const row = (what: string, value: number, least: number): Figure => ({
          what: `Lighthouse ${form}, ${name}: ${what}`,
          value,
          unit: '',
          must: least,
          isLeast: true,
        })
        figures.push(row('performance', score('performance'), 95))
        if (form === 'desktop') {
          figures.push(row('accessibility', score('accessibility'), 100))
          figures.push(row('best practices', score('best-practices'), 95))
        }
      }
    }
  } finally {
    await context.close()
    rmSync(profile, { recursive: true, force: true })
  }
  return figures
}
