// Adds feedback of imaginary people to the demo's calls: reactions, and notes on those that failed.
import { askServer, type DemoTarget } from './server.ts'

type Judged = {
  id: string
  parent_id: string | null
  exception: string | null
  summary: { weave?: { status?: string } }
}

const notes = [
  'The customer had to write again.',
  'Should have offered a refund.',
  'The order service was down that day.',
]

/** Judges roots of the project; resolves to the number of judgements. */
export async function giveFeedback(target: DemoTarget): Promise<number> {
  const project_id = target.project
  const roots = await askServer<Judged>(target, '/calls/stream_query', {
    project_id,
    filter: { trace_roots_only: true },
    columns: ['id', 'parent_id', 'exception', 'summary'],
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    limit: 60,
  })
  const batch = roots.flatMap(({ id, summary }, n) => {
    const of = { project_id, weave_ref: `weave:///${project_id}/call/${id}` }
    const isGood = (summary.weave?.status ?? 'success') === 'success'
    const reaction = { ...of, feedback_type: 'wandb.reaction.1', payload: { emoji: isGood ? '👍' : '👎' } }
    const note = { ...of, feedback_type: 'wandb.note.1', payload: { note: notes[n % notes.length] } }
    return isGood ? (n % 3 === 0 ? [reaction] : []) : [reaction, note]
  })
  if (batch.length > 0) await askServer(target, '/feedback/batch/create', { batch })
  return batch.length
}
