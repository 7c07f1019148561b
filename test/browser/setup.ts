// Builds the page when its sources have changed, and holds the server and the browser that all test files share.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { buildPage } from '../fixtures/built-page.ts'
import { startChildServer } from '../fixtures/child-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address and data folder of the server, and the address of the browser. */
    browserWorld: { url: string; dataDir: string; browser: string }
  }
}

/** @param executablePath of a Chromium */
export const chromiumOptions = (executablePath: string) => ({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildPage()
  const dataDir = await mkdtemp(join(tmpdir(), 'callhouse-browser-'))
  // It is no new folder then: the server makes its tables itself.
  await mkdir(join(dataDir, 'log'))
  const server = await startChildServer(dataDir, { CALLHOUSE_TRUST_PROXY: '127.0.0.1', CALLHOUSE_MIN_FREE_BYTES: '0' })
  const browser = await chromium
    .launchServer(chromiumOptions(project.config.env.CALLHOUSE_CHROMIUM as string))
    .catch(async (error: unknown) => {
      await server.stop()
      throw error
    })
  project.provide('browserWorld', { url: server.url, dataDir, browser: browser.wsEndpoint() })
  return async () => {
    await browser.close()
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
