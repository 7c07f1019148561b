// tier: deep browser
// A tab that was open while the server was upgraded: files of its page are gone.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, startWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld('acme/upgrade')
  await world.send([call(world.project, { name: 'asked' })])
})
afterAll(() => world.close())

it('a page whose file is gone is loaded anew once, and says what is wrong where that does not help', async () => {
  const { page, context } = await world.open()
  const calls = `${world.url}/p/${world.project}/calls`
  await page.goto(calls)
  await page.locator('.row .name').first().waitFor()
  let loads = 0
  let isGone = (): boolean => loads === 0
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads++
  })
  await context.route('**/assets/lazy-routes-*', (route) =>
    isGone() ? route.fulfill({ status: 404, body: '' }) : route.continue(),
  )
  await page.getByRole('link', { name: 'Threads' }).click()
  await page
    .getByRole('columnheader', { name: 'Thread' })
    .or(page.getByText(/no threads/i))
    .first()
    .waitFor()
  expect([page.url(), loads]).toEqual([`${world.url}/p/${world.project}/threads`, 1])

  isGone = () => true
  await page.goto(calls)
  await page.locator('.row .name').first().waitFor()
  await page.getByRole('link', { name: 'Evaluations' }).click()
  const said = page.getByRole('alert')
  await said.getByText('The server may have been upgraded').waitFor()
  // That of the calls, and one more try.
  await expectSoon(() => loads).toBe(3)
  await said.getByText('The server may have been upgraded').waitFor()
  isGone = () => false
  await said.getByRole('button', { name: 'Try again' }).click()
  await page
    .getByRole('heading', { name: /evaluation/i })
    .first()
    .waitFor()
  await context.close()
})
