// Projects that are offered where no project has the name in the address, and unknown dashboards in it.
import { expect, it } from 'vitest'
import { dashboardSearch } from '../../services/web/page/engine/dashboard-search.ts'
import { nearProjects } from '../../services/web/page/engine/near-projects.ts'

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

it('a dashboard that nobody knows stays in the address, so that the page can say so', () => {
  expect(dashboardSearch({ board: 'cots' }).board).toBe('cots')
  expect(dashboardSearch({ board: 'dashboard-mine' }).board).toBe('dashboard-mine')
  expect(dashboardSearch({ board: 'cost' }).board).toBe('cost')
  for (const board of ['overview', '', undefined, 4]) expect(dashboardSearch({ board }).board).toBeUndefined()
  expect(dashboardSearch({ board: 'x'.repeat(1_000) }).board).toHaveLength(200)
})
