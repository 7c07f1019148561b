// tier: deep browser
// The page that stands in while the page is built: it opens by itself, and the key of the printed link is still there then.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { openAssets } from '../../services/web/assets.ts'
import { shellHeaders } from '../../services/web/headers.ts'

it('opens the page once it is built, below a path as well, with what stood in the address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'callhouse-waiting-'))
  const dist = join(folder, 'dist')
  const assets = openAssets(dist)
  const served = createServer(({ url = '/' }, response) => {
    const file = /^\/obs\/assets\/([^?]+)$/.exec(url)?.[1]
    const found = file === undefined ? undefined : assets.file(file, undefined)
    if (file !== undefined && found === undefined) response.writeHead(404).end()
    else if (found) response.writeHead(200, { 'Content-Type': found.contentType }).end(found.bytes)
    else response.writeHead(200, { ...shellHeaders, 'Content-Type': 'text/html' }).end(assets.shell('/obs/').html)
  })
  await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
  const browser = await chromium.connect(inject('browserWorld').browser)
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const faults: string[] = []
    page.on(
      'console',
      (message) => message.type() === 'error' && !/404/.test(message.text()) && faults.push(message.text()),
    )
    const href = `http://127.0.0.1:${(served.address() as AddressInfo).port}/obs/sign-in#key=chk_1`
    await page.goto(href)
    await page.getByRole('heading', { name: 'The page is being built' }).waitFor()
    mkdirSync(join(dist, 'assets'), { recursive: true })
    writeFileSync(join(dist, 'index.html'), '<base href="/"><h1>Here it is</h1>')
    writeFileSync(join(dist, 'stamp.json'), '{}')
    await page.getByRole('heading', { name: 'Here it is' }).waitFor({ timeout: 20_000 })
    expect(page.url()).toBe(href)
    expect(faults).toEqual([])
  } finally {
    await context.close()
    await browser.close()
    await new Promise((resolve) => served.close(resolve))
    rmSync(folder, { recursive: true, force: true })
  }
})
