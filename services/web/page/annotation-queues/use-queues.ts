// The questions of annotation queues: queues, their counts, items, specs and what was annotated.
import { useQuery } from '@tanstack/react-query'
import { json, lines } from '../api/client.ts'
import { annotationsOf, specOf } from '../engine/question-specs.ts'
import { type ListQuestion, useList } from '../parts/use-list.ts'
import type { Shapes } from '../routes.gen.ts'

export type Queue = Shapes['annotation_queues.read']['out']['queue']
export type ListedQueue = Queue & { total_items?: number; completed_items?: number }
export type Item = Shapes['annotation_queues.items']['out']['items'][number]

const listed = 500
/** Annotations of one queue that are read; above, figures are of the latest. */
export const maxAnnotations = 20_000
const pageRows = 2_000

const queuesQuestion = (project_id: string, name: string): ListQuestion<ListedQueue> => ({
  key: ['queues', project_id, name],
  keeps: project_id,
  async read({ signal }) {
    const asked = { project_id, limit: listed, ...(name !== '' && { name }) }
    const queues: Queue[] = await lines('annotation_queues.query', asked, { signal })
    const queue_ids = queues.map(({ id }) => id)
    const { stats } =
      queue_ids.length === 0
        ? { stats: [] }
        : await json('annotation_queues.stats', { project_id, queue_ids }, { signal })
    return queues.map((queue, place) => ({ ...queue, ...stats[place] }))
  },
})

/** @param name part of the names of those that are listed */
export const useQueues = (projectId: string, name = '') => useList(queuesQuestion(projectId, name))

export const useQueue = (projectId: string, queueId: string) =>
  useQuery({
    queryKey: ['queue', projectId, queueId],
    async queryFn({ signal }) {
      const options = { params: { queue_id: queueId }, query: { project_id: projectId }, signal }
      const { queue } = await json('annotation_queues.read', undefined, options)
      const refs = queue.scorer_refs
      const { vals } = refs.length === 0 ? { vals: [] } : await json('refs.read_batch', { refs }, { signal })
      return { queue, specs: refs.map((ref, place) => specOf(ref, vals[place])) }
    },
    staleTime: 60_000,
  })

export const itemsKey = (projectId: string, queueId: string) => ['queue items', projectId, queueId]
export const useItems = (projectId: string, queueId: string) =>
  useList<Item>({
    key: itemsKey(projectId, queueId),
    async read({ signal }) {
      const asked = { project_id: projectId, limit: null, include_position: true }
      return (await json('annotation_queues.items', asked, { params: { queue_id: queueId }, signal })).items
    },
  })

export const annotationsKey = (projectId: string, queueId: string) => ['queue annotations', projectId, queueId]
export const useAnnotations = (projectId: string, queueId: string) =>
  useQuery({
    queryKey: annotationsKey(projectId, queueId),
    async queryFn({ signal }) {
      const query = { $expr: { $eq: [{ $getField: 'queue_id' }, { $literal: queueId }] } }
      const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
      const rows: Record<string, unknown>[] = []
      for (let offset = 0; offset < maxAnnotations; offset += pageRows) {
        const asked = { project_id: projectId, query, sort_by, limit: pageRows, offset }
        const { result } = await json('feedback.query', asked, { signal })
        rows.push(...result)
        if (result.length < pageRows) break
      }
      // The oldest first: a later answer of the same person counts.
      return annotationsOf(rows).reverse()
    },
  })
