// Two projects that hold the same ids: each is answered, changed and counted as if the other one did not exist.
import { expect, it } from 'vitest'
import type { Route } from '../../services/core/http/route.ts'
import { type Asker, eachOf, post } from '../fixtures/asker.ts'
import { derive } from '../fixtures/erasing-server.ts'
import { fillProject } from '../fixtures/filled-project.ts'
import type { IsolationWorld } from '../fixtures/isolation-world.ts'
import { answersOf, sameAddress } from '../fixtures/whole-world.ts'
import { type Other, type Probe, probes } from './foreign-ids.ts'
import { linked, shownOf, untilEnded } from './isolation-ids.ts'
import { requestTo } from './route-examples.ts'

// Names of one length, so that answers have one length.
const twin = 'alpha/twin'
const lone = 'alpha/lone'
const double = 'gamma/two'

/** Routes that ask a provider: those of these projects are nowhere. */
const leavesHouse = /^(inference|completions|images)\./

type Call = Record<string, unknown> & { id: string; started_at: string; ended_at: string | null }

const callsOf = async (operator: Asker, project_id: string): Promise<Call[]> => {
  const { text } = await operator.ask(post('/calls/stream_query', { project_id }))
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Call)
}

/** Writes every call of a project into another one too, under its ids, with the other one's texts and other times. */
async function copyCalls(operator: Asker, from: Other, to: Other): Promise<void> {
  const renamed = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(from.project, to.project).replaceAll(from.canary, to.canary)) as Call
  const later = (time: string) => new Date(Date.parse(time) + 86_400_000).toISOString()
  const batch = (await callsOf(operator, from.project))
    .map(renamed)
    .flatMap((call) => [
      { mode: 'start', req: { start: { ...call, project_id: to.project, started_at: later(call.started_at) } } },
      ...(call.ended_at === null
        ? []
        : [{ mode: 'end', req: { end: { ...call, project_id: to.project, ended_at: later(call.ended_at) } } }]),
    ])
  await operator.json(post('/call/upsert_batch', { batch }))
}

/** Ids of spans and of log records. */
const hexIds = /(?<![0-9a-f])(?:[0-9a-f]{32}|[0-9a-f]{16})(?![0-9a-f])/g

/** Members with measured times. */
const measured = /("latency_ms":|"model_latency":\{"mean":)[\d.e-]+/g

/** The texts from a little before the place where they part. */
function whereApart([one, two]: [string, string]): string[] {
  let from = 0
  while (one[from] === two[from]) from++
  return [one, two].map((text) => text.slice(Math.max(0, from - 100), from + 200))
}

/** Sends a probe about what a project itself holds. */
const asked = (world: IsolationWorld, of: Other, [name, , make]: Probe) => {
  const route = world.server.now().http.routes.find((one) => one.name === name) as Route
  return world.operator.ask(requestTo(route, route.path, make(of, of), of.project))
}

export function twinTests(world: () => IsolationWorld): void {
  let alone: Other
  let own: Other
  let other: Other
  let before: Record<string, string>
  /** Texts of the other project in answers about this one. */
  const leaked: string[] = []

  const differences = async (some: readonly Probe[], atOnce: number): Promise<string[]> => {
    const different: string[] = []
    await eachOf(some, atOnce, async (probe) => {
      const shown = await Promise.all(
        [alone, own].map(async (of) => {
          const answer = await asked(world(), of, probe)
          if (answer.text.includes(other.canary)) leaked.push(`${probe[0]}: ${probe[1]}`)
          return shownOf(answer, of).replace(measured, '$1<n>').replace(hexIds, '<id>')
        }),
      )
      if (shown[0] !== shown[1])
        different.push([`${probe[0]}: ${probe[1]}`, ...whereApart(shown as [string, string])].join('\n'))
    })
    return different
  }
  const isRead = ([name]: Probe) =>
    world()
      .server.now()
      .http.routes.find((one) => one.name === name)?.right === 'read'

  it('two projects are written under the same ids', async () => {
    const { operator } = world()
    const filled = await Promise.all([
      fillProject(operator, lone, 9),
      fillProject(operator, twin, 7),
      fillProject(operator, double, 7, 8),
    ])
    const [first, second, third] = await Promise.all(filled.map((of) => linked(operator, of, of, 7)))
    ;[alone, own, other] = [first as Other, second as Other, third as Other]
    await Promise.all([alone, own, other].map(({ project, links }) => untilEnded(operator, project, links.evaluation)))
    await copyCalls(operator, own, other)
    // The remembered runs and predictions of one project are requested in the other one.
    const { run: evaluation_run_id, prediction: prediction_id } = own
    const model = `weave:///${double}/object/${other.name}:v0`
    const prediction = { evaluation_run_id, model, inputs: { text: other.canary }, output: 1 }
    await operator.json(post(`/v2/${double}/predictions`, prediction))
    await operator.json(post(`/v2/${double}/scores`, { prediction_id, scorer: model, value: 1 }))
    // Commonest values are those of the field index, which follows in the background.
    await derive(world().server)
    before = await answersOf(sameAddress(world().server.now().url), double)
  })

  it('each of two projects with the same ids is read as if there were no other', async () => {
    expect(await differences(probes.filter(isRead), 6)).toEqual([])
  })

  it('each of two projects with the same ids is written to as if there were no other', async () => {
    const isWrite = (probe: Probe) => !isRead(probe) && !leavesHouse.test(probe[0])
    expect(await differences(probes.filter(isWrite), 1)).toEqual([])
  })

  it('each of two projects with the same ids is left as it was by changes to the other', async () => {
    expect(await answersOf(sameAddress(world().server.now().url), double)).toEqual(before)
    for (const text of [twin, own.canary])
      expect(Object.keys(before).filter((what) => before[what]?.includes(text))).toEqual([])
    expect(leaked).toEqual([])
  })
}
