// Saves the messages as a version of a prompt: a `MessagesPrompt`, as the Weave SDK publishes and the server fills it.
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, useSession } from '../api/session.ts'
import { nameFault } from '../engine/object-names.ts'
import { useProject } from '../frame/project-page.tsx'
import { Dialog } from '../parts/dialog.tsx'
import type { DraftMessage } from './draft.ts'

export function SavePrompt({ messages }: { messages: readonly DraftMessage[] }) {
  const { entity, project, projectId } = useProject()
  const { data: session } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const objectId = name
  const fault = nameFault(name)
  const reason = mayWrite(session) ? undefined : 'This key may not write'
  const save = useMutation({
    mutationFn: () =>
      json('objects.create', {
        obj: {
          project_id: projectId,
          object_id: objectId,
          val: {
            _type: 'MessagesPrompt',
            _class_name: 'MessagesPrompt',
            _bases: ['Prompt', 'Object', 'BaseModel'],
            name,
            description: null,
            messages: messages.filter(({ text }) => text !== '').map(({ role, text }) => ({ role, content: text })),
          },
        },
      }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <>
      <button
        type="button"
        className="line"
        disabled={reason !== undefined || messages.every(({ text }) => text === '')}
        title={reason}
        onClick={() => {
          save.reset()
          setOpen(true)
        }}
      >
        Save as prompt
      </button>
      {isOpen && (
        <Dialog title="Save as prompt" onClose={() => setOpen(false)}>
          {save.data ? (
            <p role="status">
              Saved:{' '}
              <Link
                to="/p/$entity/$project/objects/$objectId/$version"
                params={{ entity, project, objectId, version: save.data.digest }}
                search={{}}
              >
                {objectId}
              </Link>
            </p>
          ) : (
            <form className="stack" onSubmit={submit}>
              <label className="field wide">
                <span>Name of the prompt; an existing one gets a new version</span>
                <input type="text" autoFocus value={name} onChange={({ target }) => setName(target.value)} />
              </label>
              {fault !== undefined && (
                <p className="s-error" role="alert">
                  {fault}
                </p>
              )}
              {save.error && (
                <p className="s-error" role="alert">
                  {save.error.message.slice(0, 300)}
                </p>
              )}
              <button type="submit" className="first" disabled={name === '' || fault !== undefined || save.isPending}>
                Save
              </button>
            </form>
          )}
        </Dialog>
      )}
    </>
  )
}
