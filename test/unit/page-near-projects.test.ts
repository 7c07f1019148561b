// Projects that are offered where no project has the name in the address, and unknown dashboards in it.
import { expect, it } from 'vitest'
import { dashboardSearch } from '../../services/web/page/engine/dashboard-search.ts'
import { isGivenByName, nearProjects, otherProjects } from '../../services/web/page/engine/near-projects.ts'

const all = ['acme/demo', 'acme/support', 'globex/support-bot', 'initech/demo']

it('a mistyped name offers the projects that are near, the nearest first', () => {
  expect(nearProjects('acme/dmeo', all)).toEqual({ names: ['acme/demo', 'initech/demo'], areNear: true })
  expect(nearProjects('acme/supprt', all).names[0]).toBe('acme/support')
  expect(nearProjects('Acme/Support', all).names[0]).toBe('acme/support')
  // The entity is another one.
  expect(nearProjects('acmee/demo', all).names).toEqual(['acme/demo', 'initech/demo'])
  expect(nearProjects('acme/bot', all).names).toEqual(['globex/support-bot'])
})

it('a name that is near to none offers the first of all projects', () => {
  expect(nearProjects('other/thing-of-mine', all)).toEqual({ names: all, areNear: false })
  expect(nearProjects('x/y', [...all, 'a/b', 'c/d']).names).toHaveLength(5)
  expect(nearProjects('x/y', [])).toEqual({ names: [], areNear: false })
  expect(nearProjects('/', all).names).toEqual(all)
})

it('a project that nobody sent a call to is none, unless it was given by its whole name', () => {
  const given = (...grants: string[]) => isGivenByName('acme/new', grants)
  expect([given('acme/new'), given('acme/old', 'acme/new')]).toEqual([true, true])
  // These reach it as well, but name no project.
  expect([given('acme'), given('acme/newer', 'acme/ne', 'Acme/new'), given()]).toEqual([false, false, false])
  expect([isGivenByName('acme/new', '*'), isGivenByName('*', '*'), isGivenByName('acme/new', undefined)]).toEqual([
    false,
    false,
    false,
  ])
})

it('others are offered where none of the projects that were found has exactly this name, and there are any', () => {
  expect(otherProjects('acme/dmeo', [], all)).toMatchObject({ areNear: true })
  expect(otherProjects('acme/demo', ['acme/demo', 'acme/demo-2'], all)).toBeNull()
  expect(otherProjects('acme/dem', ['acme/demo'], all)).toMatchObject({ names: ['acme/demo', 'initech/demo'] })
  expect(otherProjects('acme/demo', [], [])).toBeNull()
})

it('a dashboard that nobody knows stays in the address, so that the page can say so', () => {
  expect(dashboardSearch({ board: 'cots' }).board).toBe('cots')
  expect(dashboardSearch({ board: 'dashboard-mine' }).board).toBe('dashboard-mine')
  expect(dashboardSearch({ board: 'cost' }).board).toBe('cost')
  for (const board of ['overview', '', undefined, 4]) expect(dashboardSearch({ board }).board).toBeUndefined()
  expect(dashboardSearch({ board: 'x'.repeat(1_000) }).board).toHaveLength(200)
})
