// Reads and changes the dashboards of a project's own.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { boardsFilter, maxBoards } from '../engine/boards.ts'
import { boardOf, type OwnBoard, storedBoard } from './own-boards.ts'

export type OwnBoards = {
  /** Dashboards by title; undefined until they are known. */
  boards: readonly OwnBoard[] | undefined
  save(board: OwnBoard, onDone?: () => void): void
  remove(id: string, onDone: () => void): void
  isBusy: boolean
  fault: Error | null
  /** The reason why nothing can be changed. */
  reason: string | undefined
}

export function useOwnBoards(projectId: string): OwnBoards {
  const client = useQueryClient()
  const { data: session } = useSession()
  const queryKey = ['dashboards', projectId]
  const { data, error } = useQuery({
    queryKey,
    async queryFn({ signal }): Promise<OwnBoard[]> {
      const { objs } = await json(
        'objects.query',
        { project_id: projectId, filter: boardsFilter, limit: maxBoards },
        { signal },
      )
      return objs.map(({ object_id, val }) => boardOf(object_id, val)).sort((a, b) => a.title.localeCompare(b.title))
    },
    staleTime: 10_000,
  })
  const again = () => client.invalidateQueries({ queryKey })
  const save = useMutation({
    mutationFn: (board: OwnBoard) =>
      json('objects.create', { obj: { project_id: projectId, object_id: board.id, val: storedBoard(board) } }),
    onSuccess: again,
  })
  const remove = useMutation({
    mutationFn: (object_id: string) => json('objects.delete', { project_id: projectId, object_id }),
    onSuccess: again,
  })
  return {
    boards: data,
    save: (board, onDone) => save.mutate(board, onDone && { onSuccess: onDone }),
    remove: (id, onSuccess) => remove.mutate(id, { onSuccess }),
    isBusy: save.isPending || remove.isPending,
    fault: error ?? save.error ?? remove.error,
    reason: mayWrite(session) ? undefined : noWrite,
  }
}
