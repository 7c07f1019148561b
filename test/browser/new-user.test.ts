// tier: deep browser
// Somebody new: from a server without anything, by the link that it prints, through the quick start to the first trace,
// with nothing but the page and what it gives to copy.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { startChildServer } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { picture, servedAt, worldOf } from './world.ts'

it('a new user of an empty server sees a first trace', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'callhouse-new-user-'))
  const server = await startChildServer(dataDir, { CALLHOUSE_KEYS: '', CALLHOUSE_MIN_FREE_BYTES: '0' })
  const world = worldOf(servedAt(server.url, dataDir), await chromium.connect(inject('browserWorld').browser))
  const { page, context, faults } = await world.open({ key: '' })
  try {
    const link = () => /the web page: (\S+)/.exec(server.output())?.[1]
    await expectSoon(link).toContain('/sign-in#key=')
    await page.goto(link() ?? '')
    // The key is gone from the address before anything is asked.
    await page.waitForURL((to) => to.pathname === '/' && to.hash === '')
    const quick = page.getByRole('region', { name: 'Send the first call' })
    await quick.getByRole('link', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'New key' })
    const project = await dialog.getByLabel('Scope', { exact: true }).inputValue()
    expect(project).toMatch(/^[^/]+\/demo$/)
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const made = page.getByRole('dialog', { name: 'Your new key' })
    await made.getByRole('tab', { name: 'curl' }).click()
    await made.getByRole('button', { name: 'Copy', exact: true }).click()
    await made.getByRole('button', { name: 'Copied' }).waitFor()
    const command = await page.evaluate<string>('navigator.clipboard.readText()')
    await made.getByRole('button', { name: 'Done' }).click()
    // The project is looked at before anything is there: the first call shows by itself.
    await page.getByRole('link', { name: 'Calls' }).click()
    await page.getByRole('heading', { name: 'No calls yet' }).waitFor()
    const { stdout } = await promisify(execFile)('bash', ['-c', `${command} -s`])
    expect(JSON.parse(stdout)).toEqual({})
    await page.locator('.row .name', { hasText: 'hello' }).click()
    await page.getByRole('treegrid', { name: 'Spans' }).getByText('hello').waitFor()
    await page.getByText('Is anybody there?').first().waitFor()
    expect(faults).toEqual([])
  } catch (error) {
    await picture(page, 'new-user')
    throw error
  } finally {
    await context.close()
    await world.close()
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
})
