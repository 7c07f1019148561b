// tier: deep slow
// Projects are apart: who reaches what, ids of others, names that nearly match; and each answer of the run is searched.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIsolationWorld, type IsolationWorld } from '../fixtures/isolation-world.ts'
import { notProjectFirst } from '../fixtures/project-first.ts'
import { idTests } from './isolation-ids.ts'
import { keyTests } from './isolation-keys.ts'
import { matrixTests } from './isolation-matrix.ts'
import { nameTests } from './isolation-names.ts'
import { otlpTests } from './isolation-otlp.ts'
import { twinTests } from './isolation-twins.ts'

let world: IsolationWorld
beforeAll(async () => {
  world = await createIsolationWorld()
})
afterAll(() => world?.remove())

describe('who reaches what', () => matrixTests(() => world))

describe('users and keys', () => keyTests(() => world))

describe('the name of a project', () => nameTests(() => world))

describe('ids of another project', () => idTests(() => world))

describe('spans', () => otlpTests(() => world))

describe('two projects with the same ids', () => twinTests(() => world))

describe('after all of these', () => {
  it('no answer has shown anything of a project that its caller may not read', () => {
    expect(world.leaked).toEqual([])
  })

  it('the foreign project is as it was', async () => {
    expect(await world.changesOfForeign()).toEqual([])
  })

  it('every statement that was read filters by its project first', () => {
    const ofProjects = world.statements.filter(({ projectId }) => projectId !== undefined)
    expect(ofProjects.length).toBeGreaterThan(500)
    const faulty = ofProjects.flatMap(({ name, sql, params, projectId }) =>
      notProjectFirst(sql, (parameter) => params[parameter] === projectId).map((text) => `${name}: ${text}`),
    )
    expect([...new Set(faulty)]).toEqual([])
  })

  it('neither the log nor the metrics hold what projects hold', async () => {
    const metrics = await world.operator.ask({ method: 'GET', path: '/metrics' })
    for (const { canary } of [world.own, world.foreign]) {
      expect(world.server.lines.filter((line) => line.includes(canary))).toEqual([])
      expect(metrics.text).not.toContain(canary)
    }
  })
})
