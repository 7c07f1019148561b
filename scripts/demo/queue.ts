// A queue of calls to look at, with what two people have said of the first of them, not always the same.
import { askServer, type DemoTarget } from './server.ts'

type Item = { id: string; call_id: string }

const specs = [
  {
    id: 'helpful',
    description: 'Would the customer be content?',
    field_schema: { type: 'boolean' },
    answerOf: (n: number, person: number) => n % 4 !== 1 || (person === 1 && n === 1),
  },
  {
    id: 'tone',
    description: 'How it sounds',
    field_schema: { type: 'string', enum: ['warm', 'plain', 'cold'] },
    answerOf: (n: number, person: number) =>
      (['warm', 'plain', 'warm', 'cold'] as const)[(n + (n === 5 ? person : 0)) % 4],
  },
  {
    id: 'stars',
    description: 'From 1 to 5',
    field_schema: { type: 'integer', minimum: 1, maximum: 5 },
    answerOf: (n: number, person: number) => 2 + ((n * 7) % 3) + (n % 3 === person ? 1 : 0),
  },
]
const people = ['ada', 'ben']
const queued = 16
const judged = 8

/** Makes the queue; resolves to the number of annotations. */
export async function sendQueue(target: DemoTarget): Promise<number> {
  const project_id = target.project
  const refs: string[] = []
  for (const { id, description, field_schema } of specs) {
    const val = { name: id, description, field_schema }
    const obj = { project_id, object_id: id, builtin_object_class: 'AnnotationSpec', val }
    const [made] = await askServer<{ digest: string }>(target, '/obj/create', { obj })
    refs.push(`weave:///${project_id}/object/${id}:${made?.digest}`)
  }
  const answers = await askServer<{ id: string }>(target, '/calls/stream_query', {
    project_id,
    filter: { trace_roots_only: true },
    columns: ['id'],
    limit: queued,
    query: { $expr: { $contains: { input: { $getField: 'op_name' }, substr: { $literal: 'invoke_agent' } } } },
    sort_by: [{ field: 'started_at', direction: 'desc' }],
  })
  const [queue] = await askServer<{ id: string }>(target, '/annotation_queues', {
    project_id,
    name: 'Support answers',
    description: 'Is the agent any good?',
    scorer_refs: refs,
  })
  const path = `/annotation_queues/${queue?.id}/items`
  const call_ids = answers.map(({ id }) => id)
  await askServer(target, path, { project_id, call_ids, display_fields: ['inputs', 'output'] })
  const [listed] = await askServer<{ items: Item[] }>(target, `${path}/query`, { project_id, limit: null })
  const items = listed?.items.slice(0, judged) ?? []
  const batch = items.flatMap(({ call_id }, n) =>
    people.flatMap((creator, person) =>
      specs.map(({ id, answerOf }, place) => ({
        project_id,
        weave_ref: `weave:///${project_id}/call/${call_id}`,
        creator,
        queue_id: queue?.id,
        feedback_type: `wandb.annotation.${id}`,
        annotation_ref: refs[place],
        payload: { value: answerOf(n, person) },
      })),
    ),
  )
  if (batch.length > 0) await askServer(target, '/feedback/batch/create', { batch })
  for (const { id } of items)
    await askServer(target, `${path}/${id}/progress`, { project_id, annotation_state: 'completed' })
  return batch.length
}
