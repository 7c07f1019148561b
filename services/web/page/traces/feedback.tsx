// What people and programs said of a call: reactions, notes, scores, annotations; and saying something.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { mayAnnotate, useSession } from '../api/session.ts'
import { moment } from '../engine/format.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'

type Item = { id: string; feedback_type: string; payload: Record<string, unknown>; created_at: string }

const shown = 500
const reactions = [
  ['👍', 'Good'],
  ['👎', 'Bad'],
] as const

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** What an item says, in words. */
function saidBy({ feedback_type: type, payload }: Item): [title: string, text: string] {
  const name = type.replace(/^\w+\.(?=\w+\.)/, '')
  if (name === 'reaction.1') return ['Reaction', asText(payload.emoji)]
  if (name === 'note.1') return ['Note', asText(payload.note)]
  if (name.startsWith('annotation.')) return [name.slice('annotation.'.length), asText(payload.value)]
  if (name.startsWith('runnable.')) return [name.slice('runnable.'.length), asText(payload.output)]
  return [type, asText(payload)]
}

export function Feedback({ projectId, id, zone }: { projectId: string; id: string; zone: string }) {
  const client = useQueryClient()
  const { data: session } = useSession()
  const [note, setNote] = useState('')
  const ref = `weave:///${projectId}/call/${id}`
  const queryKey = ['feedback', projectId, id]
  const { data, error, refetch } = useQuery({
    queryKey,
    async queryFn({ signal }) {
      const query = { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: ref }] } }
      const sort_by = [{ field: 'created_at', direction: 'asc' as const }]
      const { result } = await json(
        'feedback.query',
        { project_id: projectId, query, sort_by, limit: shown },
        { signal },
      )
      return result as unknown as (Item & Record<string, unknown>)[]
    },
  })
  const prefix = session?.server.feedback_prefix ?? 'wandb'
  const isReadOnly = session !== undefined && !mayAnnotate(session)
  const reason = isReadOnly ? 'This key may only read' : undefined
  const add = useMutation({
    mutationFn: (item: { feedback_type: string; payload: Record<string, unknown> }) =>
      json('feedback.create', { project_id: projectId, weave_ref: ref, ...item }),
    onSuccess: () => client.invalidateQueries({ queryKey }),
  })
  const remove = useMutation({
    mutationFn: (item: string) =>
      json('feedback.purge', {
        project_id: projectId,
        query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: item }] } },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (note.trim() === '') return
    add.mutate({ feedback_type: `${prefix}.note.1`, payload: { note } }, { onSuccess: () => setNote('') })
  }
  const failed = add.error ?? remove.error
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  return (
    <div className="feedback scroll" tabIndex={0} role="group" aria-label="Feedback of this call">
      <form onSubmit={submit} aria-label="Give feedback">
        {reactions.map(([emoji, name]) => (
          <button
            key={emoji}
            type="button"
            className="line"
            disabled={isReadOnly || add.isPending}
            title={reason}
            onClick={() => add.mutate({ feedback_type: `${prefix}.reaction.1`, payload: { emoji } })}
          >
            <span aria-hidden="true">{emoji}</span> {name}
          </button>
        ))}
        <input
          type="text"
          aria-label="Note"
          placeholder={reason ?? 'A note'}
          maxLength={1_024}
          disabled={isReadOnly}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
        <button
          type="submit"
          className="line"
          disabled={isReadOnly || note.trim() === '' || add.isPending}
          title={reason}
        >
          Add
        </button>
      </form>
      {failed && (
        <p className="s-error" role="alert">
          {failed.message}
        </p>
      )}
      {data?.length === 0 && <p className="dim">Nobody has said anything of this call yet.</p>}
      <ul>
        {data?.map((item) => {
          const [title, text] = saidBy(item)
          const by = item.creator ?? item.platform_user_id ?? item.wb_user_id
          const isOwn = (item.platform_user_id ?? item.wb_user_id) === session?.user_id
          return (
            <li key={item.id}>
              <h3>
                <T text={title} max={80} />{' '}
                <span className="dim">
                  <T text={typeof by === 'string' ? by : ''} max={80} /> {moment(item.created_at, zone)}
                </span>
                {isOwn && !isReadOnly && (
                  <button
                    type="button"
                    className="icon"
                    aria-label={`Remove ${title}`}
                    onClick={() => remove.mutate(item.id)}
                  >
                    <Icon name="close" />
                  </button>
                )}
              </h3>
              <div className="said" dir="auto">
                <T text={text} max={20_000} />
              </div>
            </li>
          )
        })}
      </ul>
      {data?.length === shown && <p className="dim">The first {shown} are shown.</p>}
    </div>
  )
}
