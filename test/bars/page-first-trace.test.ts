// tier: bars
// Waits of a new user: an empty server until its link opens the page, and the first call until its trace shows.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { expect, it } from 'vitest'
import { chromiumPath } from '../../scripts/tests/programs.ts'
import { chromiumOptions } from '../browser/setup.ts'
import { call, newTrace, servedAt, worldOf } from '../browser/world.ts'
import { bar } from '../fixtures/bar.ts'
import { buildPage } from '../fixtures/built-page.ts'
import { startChildServer } from '../fixtures/child-server.ts'

const project = 'acme/first'

it('from the start of an empty server to the trace of its first call', async () => {
  await buildPage()
  const browser = await chromium.launch(chromiumOptions(chromiumPath() ?? 'chromium'))
  const dataDir = await mkdtemp(join(tmpdir(), 'callhouse-first-trace-'))
  // A folder that something is in already is not filled with tables beforehand: the server makes them itself.
  await mkdir(join(dataDir, 'log'))
  const startedMs = performance.now()
  const server = await startChildServer(dataDir)
  try {
    const world = worldOf(servedAt(server.url, dataDir), browser, project)
    const { page, faults } = await world.open()
    await page.goto(`${server.url}/p/${project}/calls`)
    await page.getByRole('heading', { name: 'No calls yet' }).waitFor()
    bar('page-first-trace/started', performance.now() - startedMs)
    const sentMs = performance.now()
    const trace = newTrace()
    await world.send([call(project, { trace, name: 'hello' })])
    await page.locator('.row .name', { hasText: 'hello' }).click()
    await page.getByRole('treegrid', { name: 'Spans' }).getByText('hello').waitFor()
    bar('page-first-trace/shown', performance.now() - sentMs)
    expect(faults).toEqual([])
  } finally {
    await browser.close()
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
})
