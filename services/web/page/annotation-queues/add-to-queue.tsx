// Puts marked calls into a queue: which one, and what of the calls its annotators see.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { count, plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { ErrorLine } from '../parts/fault.tsx'
import { Select } from '../parts/select.tsx'
import { NewQueue } from './new-queue.tsx'
import { itemsKey, useQueues } from './use-queues.ts'
import './queues.css'

/** Ids of one request. */
const batchRows = 1_000
const fields = ['inputs', 'output', 'attributes', 'summary'] as const

type AddProps = { projectId: string; ids: readonly string[]; onClose(): void }

export function AddToQueue({ projectId, ids, onClose }: AddProps) {
  const client = useQueryClient()
  const { items: queues } = useQueues(projectId)
  const [chosen, setChosen] = useState('')
  const [shown, setShown] = useState<readonly string[]>(['inputs', 'output'])
  const [isMaking, setMaking] = useState(false)
  const queue_id = chosen || (queues?.[0]?.id ?? '')
  const add = useMutation({
    async mutationFn() {
      const sum = { added: 0, duplicates: 0 }
      for (let from = 0; from < ids.length; from += batchRows) {
        const asked = { project_id: projectId, call_ids: ids.slice(from, from + batchRows), display_fields: [...shown] }
        const { added_count, duplicates } = await json('annotation_queues.items_add', asked, { params: { queue_id } })
        sum.added += added_count
        sum.duplicates += duplicates
      }
      return { ...sum, gone: Math.max(0, ids.length - sum.added - sum.duplicates) }
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: itemsKey(projectId, queue_id) })
      await client.invalidateQueries({ queryKey: ['queues', projectId] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  if (isMaking)
    return (
      <NewQueue
        onClose={() => setMaking(false)}
        onMade={(id) => {
          setChosen(id)
          setMaking(false)
        }}
      />
    )
  return (
    <Dialog title={`Add ${plural(ids.length, 'call')} to queue`} onClose={onClose}>
      {add.data ? (
        <div className="stack" role="status">
          <p>
            {count(add.data.added)} of {count(ids.length)} added
            {add.data.duplicates > 0 && `, ${count(add.data.duplicates)} already in the queue`}
            {add.data.gone > 0 && `, ${count(add.data.gone)} no longer exist`}.
          </p>
          <DialogActs onClose={onClose} close="Done" />
        </div>
      ) : (
        <form className="stack" onSubmit={submit}>
          <label className="field wide">
            <span>Queue</span>
            <Select
              value={queue_id}
              of={(queues ?? []).map(({ id, name }) => [id, name.slice(0, 80)] as const)}
              onValue={setChosen}
              disabled={!queues?.length}
            />
          </label>
          <fieldset className="question">
            <legend>Annotators see</legend>
            {fields.map((name) => (
              <label key={name} className="field">
                <input
                  type="checkbox"
                  checked={shown.includes(name)}
                  onChange={() =>
                    setShown((before) =>
                      before.includes(name) ? before.filter((one) => one !== name) : [...before, name],
                    )
                  }
                />
                {name}
              </label>
            ))}
          </fieldset>
          <ErrorLine text={add.error?.message} />
          <DialogActs onClose={onClose}>
            <Button onClick={() => setMaking(true)}>New queue</Button>
            <button type="submit" className="first" disabled={queue_id === '' || shown.length === 0 || add.isPending}>
              Add
            </button>
          </DialogActs>
        </form>
      )}
    </Dialog>
  )
}
