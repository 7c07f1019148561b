// A small annotation queue with questions.
import { askServer, type DemoTarget } from '../../scripts/demo/server.ts'

/** A question for each way of answering by keys. */
const keyed = { sure: { type: 'boolean' }, which: { enum: ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9'] } }

/** A queue of some calls with questions. */
export async function sendSmallQueue(target: DemoTarget, call_ids: string[], schemas: object = keyed): Promise<string> {
  const refs: string[] = []
  for (const [object_id, field_schema] of Object.entries(schemas)) {
    const obj = { project_id: target.project, object_id, builtin_object_class: 'AnnotationSpec', val: { field_schema } }
    const [made] = await askServer<{ digest: string }>(target, '/obj/create', { obj })
    refs.push(`weave:///${target.project}/object/${object_id}:${made?.digest}`)
  }
  const asked = { project_id: target.project, name: 'Two', scorer_refs: refs }
  const [queue] = await askServer<{ id: string }>(target, '/annotation_queues', asked)
  const items = { project_id: target.project, call_ids, display_fields: ['inputs'] }
  await askServer(target, `/annotation_queues/${queue?.id}/items`, items)
  return queue?.id ?? ''
}
