// Ids of another project within the own one are answered like ids that never were, byte for byte.
import { expect, it } from 'vitest'
import type { Route } from '../../services/core/http/route.ts'
import { type Answered, type Asker, eachOf, post } from '../fixtures/asker.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type FilledProject, movedTo } from '../fixtures/filled-project.ts'
import type { IsolationWorld } from '../fixtures/isolation-world.ts'
import { type Other, type Probe, probes, versionRef } from './foreign-ids.ts'
import { requestTo } from './route-examples.ts'

const callerOf = ({ right }: Pick<Route, 'right'>) => (right === 'owner' ? 'a key of an owner' : 'a key of an admin')

const turned: Record<string, (text: string) => string> = {
  backwards: (text) => [...text].reverse().join(''),
  around: (text) => text.slice(2) + text.slice(0, 2),
}

/** Names and ids of the same form and length that nothing has. */
function inventedFrom(of: FilledProject, how: keyof typeof turned): FilledProject {
  const turn = turned[how] as (text: string) => string
  const mark = (text: string) => text.slice(0, 8) + turn(text.slice(8))
  const text = JSON.stringify(of)
    .replaceAll(of.name, mark(of.name))
    .replaceAll(of.canary, mark(of.canary))
    .replace(/(?<=-)[0-9a-f]{12}\b|\b[0-9a-f]{64}\b|\b[A-Za-z0-9]{43}\b/g, turn)
  return JSON.parse(text) as FilledProject
}

/**
 * Links in the own project that lead to the other one; names and ids are as long for each. @param n tells them apart
 */
export async function linked(operator: Asker, own: FilledProject, other: FilledProject, n: number): Promise<Other> {
  const { project: project_id } = own
  const create = async (name: string, val: object) => {
    const object_id = `link-${n}-${name}`
    const { digest } = await operator.json<{ digest: string }>(
      post('/obj/create', { obj: { project_id, object_id, val } }),
    )
    return { object_id, digest }
  }
  const values = {
    object: versionRef(other.project, other.object),
    row: other.rowRef,
    holder: other.holderRef,
    table: `weave:///${other.project}/table/${other.table}`,
    own_object: versionRef(project_id, other.object),
    own_table: `weave:///${project_id}/table/${other.table}`,
    own_row: `${own.holderRef}/attr/rows/id/${other.rows[0]}`,
  }
  const call = `0199cccc-0000-7000-8000-00000000000${n}`
  const at = '2026-03-05T12:00:00Z'
  const start = {
    project_id,
    id: call,
    trace_id: call,
    op_name: 'link',
    started_at: at,
    attributes: {},
    inputs: values,
  }
  const evaluationRef = versionRef(other.project, other.versions.evaluations)
  const [object, model, dataset, { evaluation_run_id: run }] = await Promise.all([
    create('object', values),
    create('model', { _class_name: 'LLMStructuredCompletionModel', llm_model_id: 'coreweave/m1', default_params: {} }),
    create('dataset', { _class_name: 'Dataset', rows: values.table }),
    operator.json<{ evaluation_run_id: string }>(
      post(`/v2/${project_id}/evaluation_runs`, { evaluation: evaluationRef, model: evaluationRef }),
    ),
    operator.json(post('/call/start', { start })),
  ])
  const evaluation = await create('evaluation', {
    _class_name: 'Evaluation',
    dataset: versionRef(project_id, dataset),
    scorers: [],
    trials: 1,
  })
  const { call_id } = await operator.json<{ call_id: string }>(
    post('/evaluations/evaluate_model', {
      project_id,
      evaluation_ref: versionRef(project_id, evaluation),
      model_ref: versionRef(project_id, model),
    }),
  )
  return { ...other, links: { call, object, run, evaluation: call_id } }
}

/** Leaves in the memory of the process what it keeps of a project between requests. */
async function remembered(operator: Asker, of: FilledProject): Promise<void> {
  const { project: project_id, table: digest, name, run: evaluation_run_id } = of
  // The second page is read ahead.
  for (const offset of [0, 1]) await operator.json(post('/table/query', { project_id, digest, limit: 1, offset }))
  const model = `weave:///${project_id}/object/${name}:v0`
  const prediction = { evaluation_run_id, model, inputs: { text: of.canary }, output: of.canary }
  const { prediction_id } = await operator.json<{ prediction_id: string }>(
    post(`/v2/${project_id}/predictions`, prediction),
  )
  of.prediction = prediction_id
  await operator.json(post(`/v2/${project_id}/scores`, { prediction_id, scorer: model, value: 1 }))
}

export async function untilEnded(operator: Asker, project_id: string, call_id: string): Promise<void> {
  const asked = post('/evaluations/status', { project_id, call_id })
  const ends = async () => {
    const { status } = await operator.json<{ status: { code: string } }>(asked)
    expect(['complete', 'failed']).toContain(status.code)
  }
  await eventually(ends, { withinMs: 120_000 })
}

const leavesOf = (value: unknown, path = ''): [name: string, text: string][] =>
  typeof value === 'string'
    ? [[path, value]]
    : Object.entries(value as object).flatMap(([key, one]) => leavesOf(one, `${path}.${key}`))

const generated: [pattern: RegExp, name: string][] = [
  [/\/export\/[\w-]+/g, '/export/<ticket>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>'],
  [/\b(?:[0-9a-f]{64}|[A-Za-z0-9]{43})\b/g, '<digest>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
]

/** An answer with names in the places of the other's ids and of what every request makes anew. */
export function shownOf({ status, headers, text }: Answered, other: Other): string {
  const { 'x-request-id': _, date: __, 'content-length': ___, ...kept } = headers
  const position = String(kept['x-callhouse-position'] ?? '').replace(/\d+/g, '<n>')
  let shown = `${status} ${JSON.stringify({ ...kept, 'x-callhouse-position': position })} ${text}`
  const named = leavesOf(other).sort(([, a], [, b]) => b.length - a.length)
  for (const [name, leaf] of named) shown = shown.replaceAll(leaf, `<${name}>`)
  for (const [pattern, name] of generated) shown = shown.replace(pattern, name)
  // Rows that were written side by side are listed in whatever order they came.
  return shown.split('\n').sort().join('\n')
}

/** Kinds of probes that differ from one another, when all answers of one are compared. */
async function differences(world: IsolationWorld, others: readonly Other[], some: readonly Probe[]): Promise<string[]> {
  const { ask, own, server } = world
  const routes = new Map(server.now().http.routes.map((route) => [route.name, route]))
  const different: string[] = []
  await eachOf(some, 6, async ([name, what, make]) => {
    const route = routes.get(name) as Route
    const answers = await Promise.all(
      others.map(async (other) =>
        shownOf(await ask(callerOf(route), requestTo(route, route.path, make(own, other), own.project), true), other),
      ),
    )
    const [first = '', ...rest] = answers
    const isRefused = /^(403|5)|no right/.test(first)
    if (isRefused || rest.some((one) => one !== first)) different.push([`${name}: ${what}`, ...answers].join('\n'))
  })
  return different
}

export function idTests(world: () => IsolationWorld): void {
  let others: Other[]

  it('ids of another project can be named by what the own project holds', async () => {
    const { operator, own, foreign, changesOfForeign } = world()
    expect(await changesOfForeign()).toEqual([])
    await remembered(operator, foreign)
    await changesOfForeign()
    const never = inventedFrom(foreign, 'backwards')
    const inMissing = movedTo(inventedFrom(foreign, 'around'), 'zeta/app')
    others = await Promise.all([foreign, never, inMissing].map((other, n) => linked(operator, own, other, n)))
    for (const { links } of others) await untilEnded(operator, own.project, links.evaluation)
    expect(new Set(others.map(({ calls, table, queue }) => calls.root + table + queue)).size).toBe(3)
  })

  const routes = () =>
    new Map(
      world()
        .server.now()
        .http.routes.map(({ name, right }) => [name, right]),
    )
  const reads = () => probes.filter(([name]) => routes().get(name) === 'read')
  const writes = () => probes.filter(([name]) => routes().get(name) !== 'read')

  it('ids of another project are read like ids that never were', async () => {
    expect(await differences(world(), others, reads())).toEqual([])
  })

  it('ids of another project are written to like ids that never were', async () => {
    expect(await differences(world(), others, writes())).toEqual([])
  })
}
