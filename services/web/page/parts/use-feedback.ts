// The feedback of calls: reading what was said of some of them, saying something, and taking back one's own.
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { baseUrl, json } from '../api/client.ts'
import { send, staleMsOf } from '../api/send.ts'
import { mayAnnotate, useSession } from '../api/session.ts'
import type { FeedbackItem } from '../engine/feedback.ts'

/** Items that are read of a set of calls. */
export const maxFeedback = 500

export const callRef = (projectId: string, id: string): string => `weave:///${projectId}/call/${id}`

/** Feedback by call, the oldest first. */
type FeedbackOf = { of(id: string): FeedbackItem[]; isCut: boolean }

type Answer = { items: FeedbackItem[]; staleMs: number }

/** New feedback may be missing from an answer that lags behind: it is read again. */
const againMs = 1_000

/** One function for all renders: another one each time gives new data each time, and so another render. */
function byCall({ items }: Answer): FeedbackOf {
  const found = Map.groupBy(items, ({ weave_ref }) => weave_ref.slice(weave_ref.lastIndexOf('/') + 1))
  return { of: (id) => found.get(id) ?? [], isCut: items.length === maxFeedback }
}

export function useFeedback(projectId: string, ids: readonly string[]) {
  return useQuery({
    queryKey: ['feedback', projectId, ids],
    async queryFn({ signal }): Promise<Answer> {
      const refs = ids.map((id) => ({ $literal: callRef(projectId, id) }))
      const query = { $expr: { $in: [{ $getField: 'weave_ref' }, refs] } }
      const sort_by = [{ field: 'created_at', direction: 'asc' as const }]
      const asked = { project_id: projectId, query, sort_by, limit: maxFeedback }
      const response = await send(baseUrl, 'feedback.query', asked, { signal })
      const { result } = (await response.json()) as { result: FeedbackItem[] }
      return { items: result, staleMs: staleMsOf(response) }
    },
    refetchInterval: ({ state }) => ((state.data?.staleMs ?? 0) > 0 ? againMs : false),
    select: byCall,
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  })
}

/** Ways to give feedback on calls. `prefix` is that of the feedback types of this server. */
export function useGiving(projectId: string) {
  const client = useQueryClient()
  const { data: session } = useSession()
  const isReadOnly = session !== undefined && !mayAnnotate(session)
  const onSuccess = () => client.invalidateQueries({ queryKey: ['feedback', projectId] })
  const add = useMutation({
    mutationFn: ({ id, ...item }: { id: string; feedback_type: string; payload: Record<string, unknown> }) =>
      json('feedback.create', { project_id: projectId, weave_ref: callRef(projectId, id), ...item }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: (item: string) =>
      json('feedback.purge', {
        project_id: projectId,
        query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: item }] } },
      }),
    onSuccess,
  })
  return {
    add,
    remove,
    isReadOnly,
    reason: isReadOnly ? 'You have read-only access' : undefined,
    prefix: session?.server.feedback_prefix ?? 'wandb',
    isOwn: (item: FeedbackItem) => (item.platform_user_id ?? item.wb_user_id) === session?.user_id,
    isBusy: add.isPending || remove.isPending,
    fault: add.error ?? remove.error,
  }
}
export type Giving = ReturnType<typeof useGiving>
