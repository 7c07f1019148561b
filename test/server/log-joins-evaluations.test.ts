// tier: deep slow
// Results of evaluations in log records become feedback of calls, whichever comes first, however long the other one takes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, text } from '../fixtures/otel.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server?.remove())

const traceId = '0af7651916cd43dd8448eb211c80319c'
const idOf = (n: number) => n.toString(16).padStart(16, 'c')
const ns = (n: number) => String(1_772_712_000_000_000_000n + BigInt(n))
const span = (n: number, more: object = {}) =>
  aSpan({
    traceId,
    spanId: idOf(n),
    name: 'chat',
    startTimeUnixNano: ns(0),
    endTimeUnixNano: ns(1_000_000_000),
    ...more,
  })
const answered = (n: number, response: string) => span(n, { attributes: [text('gen_ai.response.id', response)] })
const evaluation = (more: object, response: string) => ({
  eventName: 'gen_ai.evaluation.result',
  timeUnixNano: ns(7),
  ...more,
  attributes: [
    text('gen_ai.evaluation.name', 'Relevance'),
    text('gen_ai.evaluation.score.label', 'good'),
    { key: 'gen_ai.evaluation.score.value', value: { doubleValue: 0.75 } },
    text('gen_ai.response.id', response),
  ],
})
const sendSpans = (project_id: string, ...spans: unknown[]) =>
  server.send('/otel/v1/traces', aRequest(spans), { project_id })
const sendLogs = (project_id: string, ...logRecords: unknown[]) =>
  server.send('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }, { project_id })
type Feedback = { weave_ref: string } & Record<string, unknown>
const feedback = async (project_id: string) =>
  (
    await server.send<{ result: Feedback[] }>('/feedback/query', {
      project_id,
      sort_by: [{ field: 'weave_ref', direction: 'asc' }],
    })
  ).result
const refOf = (project_id: string, n: number) => `weave:///${project_id}/call/${idOf(n)}`
/** Feedback of these calls, once it is there, and no other. */
const comes = (project_id: string, ...calls: number[]) =>
  eventually(
    async () => {
      const refs = (await feedback(project_id)).map(({ weave_ref: ref }) => ref)
      expect(refs).toEqual(calls.map((n) => refOf(project_id, n)))
    },
    { withinMs: 90_000, everyMs: 100 },
  )
/** Nothing of a project is due any more, as after some days; the joiner has looked at all of it before. */
async function forget(project: string): Promise<void> {
  const looks = () => server.lines.filter((line) => line.includes('"read":"log-joins-projects"')).length
  await server.now().worker?.caughtUp()
  const before = looks()
  await eventually(() => expect(looks()).toBeGreaterThan(before + 1), { withinMs: 90_000, everyMs: 100 })
  await server.now().store.command({
    name: 'test.forget',
    sql: 'DELETE FROM callhouse.log_joins WHERE project_id = {project:String}',
    params: { project },
  })
}

describe('an evaluation', () => {
  it('is feedback of the call of its span, or of its response', async () => {
    const project_id = 'evaluated/both'
    await sendSpans(project_id, span(1), answered(2, 'response-2'))
    const records = [evaluation({ traceId, spanId: idOf(1) }, 'x'), evaluation({}, 'response-2')]
    await sendLogs(project_id, ...records)
    await comes(project_id, 1, 2)
    const first = await feedback(project_id)
    expect(first).toEqual(
      [1, 2].map((n) =>
        expect.objectContaining({
          weave_ref: refOf(project_id, n),
          feedback_type: 'gen_ai.evaluation.Relevance',
          payload: {
            score_value: 0.75,
            score_label: 'good',
            explanation: null,
            response_id: n === 1 ? 'x' : 'response-2',
          },
        }),
      ),
    )
    await sendLogs(project_id, ...records)
    expect(await feedback(project_id)).toEqual(first)
  })

  it('waits for its call, by span or by response, for as long as the record is kept', async () => {
    const project_id = 'evaluated/late'
    await sendSpans(project_id, answered(1, 'early'))
    const inBody = {
      ...evaluation({}, ''),
      attributes: [],
      body: { kvlistValue: { values: [text('gen_ai.evaluation.name', 'B'), text('gen_ai.response.id', 'in-body')] } },
    }
    await sendLogs(
      project_id,
      evaluation({}, 'early'),
      evaluation({}, 'late'),
      evaluation({ traceId, spanId: idOf(3) }, ''),
      inBody,
    )
    await comes(project_id, 1)
    await forget(project_id)
    await sendSpans(project_id, answered(2, 'late'), span(3), answered(4, 'in-body'), answered(5, 'nobody'))
    await comes(project_id, 1, 2, 3, 4)
  })

  it('of a span is feedback of the call in the same trace alone', async () => {
    const project_id = 'evaluated/foreign'
    const foreign = evaluation({ traceId: 'b'.repeat(32), spanId: idOf(1) }, 'response-2')
    await sendSpans(project_id, span(1), answered(2, 'response-2'), answered(3, 'response-3'))
    await sendLogs(
      project_id,
      foreign,
      evaluation({ traceId, spanId: idOf(9) }, 'response-2'),
      evaluation({}, 'response-3'),
    )
    await comes(project_id, 3)
  })

  it('of a deleted call is none', async () => {
    const project_id = 'evaluated/deleted'
    await sendSpans(project_id, answered(1, 'response-1'), answered(2, 'response-2'))
    await server.send('/calls/delete', { project_id, call_ids: [idOf(1)] })
    await sendLogs(project_id, evaluation({}, 'response-1'), evaluation({ timeUnixNano: ns(9) }, 'response-2'))
    await comes(project_id, 2)
  })

  it('is found behind thousands that name nothing', async () => {
    const project_id = 'evaluated/many'
    const nothing = Array.from({ length: 4_500 }, (_, n) => evaluation({ timeUnixNano: ns(n) }, `nothing-${n}`))
    await sendSpans(project_id, answered(1, 'response-1'))
    await sendLogs(project_id, ...nothing, evaluation({ timeUnixNano: ns(9_000) }, 'response-1'))
    await comes(project_id, 1)
  })
})

it('records of earlier days are joined with spans that come after a restart', async () => {
  const project_id = 'evaluated/restart'
  const details = {
    traceId,
    spanId: idOf(1),
    eventName: 'gen_ai.client.inference.operation.details',
    timeUnixNano: ns(5),
    attributes: [text('gen_ai.output.messages', '[{"content": "answer"}]')],
  }
  await sendLogs(project_id, details)
  await sendLogs('evaluated/restart-2', evaluation({}, 'response-2'))
  for (const project of [project_id, 'evaluated/restart-2']) await forget(project)
  await server.restart()
  await sendSpans(project_id, span(1))
  await sendSpans('evaluated/restart-2', answered(2, 'response-2'))
  await eventually(
    async () => {
      const { call } = await server.send<{ call: { output: object } }>('/call/read', { project_id, id: idOf(1) })
      expect(call.output).toEqual({ 'gen_ai.output.messages': [{ content: 'answer' }] })
    },
    { withinMs: 90_000, everyMs: 100 },
  )
  await comes('evaluated/restart-2', 2)
})
