// Feedback on a call: reactions, notes, scores, annotations; and giving some.
import { type FormEvent, useState } from 'react'
import { saidBy } from '../engine/feedback.ts'
import { moment } from '../engine/format.ts'
import { IconButton } from '../parts/button.tsx'
import { ErrorLine, FaultBox } from '../parts/fault.tsx'
import { Input } from '../parts/input.tsx'
import { Reactions } from '../parts/reactions.tsx'
import { T } from '../parts/text.tsx'
import { maxFeedback, useFeedback, useGiving } from '../parts/use-feedback.ts'
import { Annotate } from './annotate.tsx'

export function Feedback({ projectId, id, zone }: { projectId: string; id: string; zone: string }) {
  const giving = useGiving(projectId)
  const { add, remove, isReadOnly, isBusy, reason, prefix, isOwn, fault } = giving
  const [note, setNote] = useState('')
  const { data, error, refetch, isPlaceholderData } = useFeedback(projectId, [id])
  const items = isPlaceholderData ? undefined : data?.of(id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (note.trim() === '') return
    add.mutate({ id, feedback_type: `${prefix}.note.1`, payload: { note } }, { onSuccess: () => setNote('') })
  }
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  return (
    <div className="feedback scroll" tabIndex={0} role="group" aria-label="Feedback of this call">
      <form onSubmit={submit} aria-label="Give feedback">
        <Reactions id={id} giving={giving} items={items} />
        <Input
          aria-label="Note"
          placeholder={reason ?? 'Add a note'}
          maxLength={1_024}
          disabled={isReadOnly}
          value={note}
          onText={setNote}
        />
        <button type="submit" className="line" disabled={isReadOnly || note.trim() === '' || isBusy} title={reason}>
          Add
        </button>
      </form>
      <Annotate projectId={projectId} id={id} giving={giving} items={items ?? []} />
      <ErrorLine text={fault?.message} />
      {items?.length === 0 && <p className="dim">No feedback on this call yet.</p>}
      <ul>
        {items?.map((item) => {
          const [title, text] = saidBy(item)
          const by = item.creator ?? item.platform_user_id ?? item.wb_user_id
          return (
            <li key={item.id}>
              <h3>
                <T text={title} max={80} />{' '}
                <span className="dim">
                  <T text={typeof by === 'string' ? by : ''} max={80} /> {moment(item.created_at, zone)}
                </span>
                {isOwn(item) && !isReadOnly && (
                  <IconButton icon="close" label={`Remove ${title}`} onClick={() => remove.mutate(item.id)} />
                )}
              </h3>
              <div className="said" dir="auto">
                <T text={text} max={20_000} />
              </div>
            </li>
          )
        })}
      </ul>
      {data?.isCut && <p className="dim">The first {maxFeedback} are shown.</p>}
    </div>
  )
}
