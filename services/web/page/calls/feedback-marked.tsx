// A reaction, a note, or both, for all marked calls.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { count, plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { ErrorLine } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../parts/input.tsx'
import { signs } from '../parts/reactions.tsx'
import { callRef } from '../parts/use-feedback.ts'

/** Items of one request. */
const batchItems = 500

type Props = { projectId: string; ids: readonly string[]; onClose(): void }

export function FeedbackMarked({ projectId, ids, onClose }: Props) {
  const client = useQueryClient()
  const { data: session } = useSession()
  const [sign, setSign] = useState('')
  const [note, setNote] = useState('')
  const [given, setGiven] = useState(0)
  const prefix = session?.server.feedback_prefix ?? 'wandb'
  const kinds = [
    ...(sign === '' ? [] : [{ feedback_type: `${prefix}.reaction.1`, payload: { emoji: sign } }]),
    ...(note.trim() === '' ? [] : [{ feedback_type: `${prefix}.note.1`, payload: { note } }]),
  ]
  const give = useMutation({
    async mutationFn() {
      const step = Math.floor(batchItems / kinds.length)
      let done = given
      // After a fault it goes on behind what was given.
      for (let from = given; from < ids.length; from += step) {
        const some = ids.slice(from, from + step)
        const batch = some.flatMap((id) =>
          kinds.map((kind) => ({ project_id: projectId, weave_ref: callRef(projectId, id), ...kind })),
        )
        const { res } = await json('feedback.batch_create', { batch })
        done += res.length / kinds.length
        setGiven(from + some.length)
      }
      return done
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['feedback', projectId] }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    give.mutate()
  }
  const calls = `${plural(ids.length, 'call')}`
  return (
    <Dialog title={`Add feedback to ${calls}`} onClose={onClose}>
      {give.isSuccess ? (
        <div className="delete-calls">
          <p role="status">Added to {give.data === ids.length ? calls : `${count(give.data)} of ${calls}`}.</p>
          <DialogActs onClose={onClose} close="Done" />
        </div>
      ) : (
        <form className="delete-calls" onSubmit={submit}>
          <div className="acts" role="group" aria-label="Reaction">
            {signs.map(({ emoji, name, icon }) => (
              <Button
                key={emoji}
                disabled={given > 0}
                aria-pressed={sign === emoji}
                onClick={() => setSign(sign === emoji ? '' : emoji)}
              >
                <Icon name={icon} /> {name}
              </Button>
            ))}
          </div>
          <label className="field">
            Note <Input maxLength={1_024} value={note} disabled={given > 0} onText={setNote} />
          </label>
          <p role="status">{give.isPending || given > 0 ? `Added to ${count(given)} of ${calls}.` : ''}</p>
          <ErrorLine text={give.error?.message} />
          <DialogActs onClose={onClose}>
            <button type="submit" className="first" disabled={kinds.length === 0 || give.isPending}>
              {given > 0 ? 'Continue' : 'Add'}
            </button>
          </DialogActs>
        </form>
      )}
    </Dialog>
  )
}
