// tier: deep browser
// The page of an installation whose roles are apart, on Kafka and a ClickHouse server, behind a gateway: what is written
// through one process is read through another one, as soon as it is asked for.
import { randomBytes } from 'node:crypto'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Gateway, startGateway } from '../fixtures/gateway.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { call, newId, newTrace, picture, servedAt, type World, worldOf } from './world.ts'

let installation: Installation
let gateway: Gateway
let world: World
const [root, child, trace] = [newId(), newId(), newTrace()]

beforeAll(async () => {
  // Sessions and secrets are sealed by all of them alike.
  const CALLHOUSE_MASTER_KEY = randomBytes(32).toString('base64')
  installation = await createInstallation(await kafkaBrokers(), { CALLHOUSE_MASTER_KEY })
  const ingest = await installation.start('ingest')
  await installation.start('worker')
  const query = await installation.start('query')
  gateway = await startGateway({ ingest: ingest.url, query: query.url })
  const browser = await chromium.connect(inject('browserWorld').browser)
  world = worldOf(servedAt(gateway.url, ''), browser, 'acme/roles')
  const { project } = world
  const messages = [{ role: 'user', content: 'Is anybody there?' }]
  await world.send([
    {
      ...call(project, { id: root, trace, name: 'agent', ms: 900, inputs: { messages } }),
      thread_id: 'a thread',
      turn_id: root,
    },
    call(project, { id: child, trace, parent: root, name: 'fetch', exception: 'Error: timeout' }),
  ])
})
afterAll(async () => {
  gateway?.close()
  await world?.close()
  await installation?.remove()
})

it('a user signs in, lists calls, opens a trace, takes feedback and saves a view across its processes', async () => {
  const { page, context, faults } = await world.open()
  const home = `${world.url}/p/${world.project}`
  try {
    await page.goto(`${home}/calls`)
    await page.locator('.row .name', { hasText: 'agent' }).click()
    await page.getByRole('treegrid', { name: 'Spans' }).getByText('fetch').click()
    await page.getByText('Error: timeout').first().waitFor()
    await page.getByRole('tab', { name: 'Feedback' }).click()
    const feedback = page.getByRole('group', { name: 'Feedback of this call' })
    await feedback.getByRole('button', { name: 'Good' }).click()
    await feedback.getByRole('button', { name: 'Good 1', pressed: true }).waitFor()
    await feedback.getByRole('button', { name: 'Good 1', pressed: true }).click()
    await feedback.getByText('No feedback on this call yet').waitFor()
    await page.goto(`${home}/calls?q=status:error&view=all`)
    await page.locator('.row .name', { hasText: 'fetch' }).waitFor()
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByLabel('Name of a new view').fill('Failed')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Failed', exact: true, pressed: true }).waitFor()
    await page.goto(`${home}/threads`)
    await page.getByRole('table', { name: 'Threads' }).getByText('a thread').click()
    await page.locator('.turn').getByText('Is anybody there?').waitFor()
    await page.goto(`${home}/dashboard`)
    await page.getByText('Error rate').first().waitFor()
    await page.goto(`${world.url}/system`)
    await page.getByRole('list', { name: 'Checks' }).getByText('Log').waitFor()
    await page.getByRole('table', { name: 'Settings' }).getByText('CALLHOUSE_KAFKA_BROKERS').waitFor()
    await page.getByText('No dead letters.').waitFor()
    expect(faults).toEqual([])
  } catch (error) {
    await picture(page, 'roles')
    throw error
  } finally {
    await context.close()
  }
})

it('a session ends in every process', async () => {
  const { page, context } = await world.open()
  await page.goto(`${world.url}/settings/you`)
  await page.getByRole('button', { name: 'Sign out everywhere…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByLabel('API key').waitFor()
  await page.goto(`${world.url}/p/${world.project}/calls`)
  await page.getByLabel('API key').waitFor()
  await context.close()
})
