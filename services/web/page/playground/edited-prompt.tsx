// Shows the edited version of a prompt and saves it: as its next version, or as another prompt.
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { mayWrite, useSession } from '../api/session.ts'
import { createVersion } from '../datasets/versions.ts'
import { Button } from '../parts/button.tsx'
import { FormDialog, TextField } from '../parts/forms.tsx'
import { useProject } from '../parts/project.ts'
import { T } from '../parts/text.tsx'
import { type DraftMessage, isSaid, wireMessage } from './draft.ts'
import { changedPrompt, type Kept, newPrompt, promptIdOf } from './prompt-value.ts'
import { type EditedPrompt, loadPrompt } from './use-start.ts'

type Saved = { objectId: string; versionIndex: number | undefined }

type Props = {
  edited: EditedPrompt | undefined
  messages: readonly DraftMessage[]
  /** @param prompt `<object id>/<digest>`, whose version is loaded */
  onSaved(prompt: string): void
  onReset(): void
}

const noneKept: Kept = new Map()
const nothing = 'There is no message to save'

const isChanged = (edited: EditedPrompt, messages: readonly DraftMessage[]): boolean => {
  const texts = (all: readonly DraftMessage[]) => JSON.stringify(all.filter(isSaid).map(wireMessage))
  return texts(edited.messages) !== texts(messages)
}

export function PromptBar({ edited, messages, onSaved, onReset }: Props) {
  const { entity, project, projectId } = useProject()
  const { data: session } = useSession()
  const client = useQueryClient()
  const [does, setDoes] = useState<'version' | 'other'>()
  const [saved, setSaved] = useState<Saved>()
  const reason = mayWrite(session) ? (messages.some(isSaid) ? undefined : nothing) : "You don't have permission to save"
  const hasChanged = edited !== undefined && isChanged(edited, messages)
  const save = async (objectId: string, value: string) => {
    const digest = await createVersion(projectId, objectId, value)
    await client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('object') })
    const prompt = `${objectId}/${digest}`
    const started = await loadPrompt(client, projectId, prompt)
    setSaved({ objectId, versionIndex: started?.edited?.versionIndex })
    onSaved(prompt)
  }
  const linkOf = (objectId: string, version: string, label: string) => (
    <Link
      to="/p/$entity/$project/prompts/$objectId/$version"
      params={{ entity, project, objectId, version }}
      search={{}}
    >
      <T text={objectId} max={80} /> {label}
    </Link>
  )
  const versionText = (index: number | undefined) => (index === undefined ? '' : `v${index}`)
  return (
    <div className="bar prompt-bar">
      {edited ? (
        <span>
          Editing {linkOf(edited.objectId, edited.digest, versionText(edited.versionIndex))}
          {hasChanged && <span className="second"> · changed</span>}
          {!edited.isLatest && <span className="s-warning"> · there is a later version</span>}
        </span>
      ) : (
        <span className="second">No prompt is open: these messages are kept in this tab only.</span>
      )}
      {saved && !hasChanged && (
        <span className="s-success" role="status">
          Saved {linkOf(saved.objectId, edited?.digest ?? 'latest', versionText(saved.versionIndex))}
        </span>
      )}
      <span className="grow" />
      {hasChanged && <Button onClick={onReset}>Discard changes</Button>}
      {edited && (
        <Button whyNot={reason} onClick={() => setDoes('version')}>
          Save new version…
        </Button>
      )}
      <Button whyNot={reason} onClick={() => setDoes('other')}>
        {edited ? 'Save as…' : 'Save as prompt…'}
      </Button>
      {does === 'version' && edited && (
        <SaveVersion
          edited={edited}
          onClose={() => setDoes(undefined)}
          onSave={(description) =>
            save(edited.objectId, changedPrompt(edited.value, description, messages, edited.kept))
          }
        />
      )}
      {does === 'other' && (
        <SaveAs
          description={edited?.description ?? ''}
          onClose={() => setDoes(undefined)}
          onSave={(name, description) =>
            save(promptIdOf(name), newPrompt(name, description, messages, edited?.kept ?? noneKept))
          }
        />
      )}
    </div>
  )
}

const describedHint = 'Stored with this version, as the description of its value.'

type VersionProps = { edited: EditedPrompt; onSave(description: string): Promise<void>; onClose(): void }

function SaveVersion({ edited, onSave, onClose }: VersionProps) {
  const [description, setDescription] = useState(edited.description)
  return (
    <FormDialog
      title={`New version of ${edited.objectId}`}
      act="Save"
      run={() => onSave(description)}
      onClose={onClose}
    >
      {!edited.isLatest && (
        <p className="told-hint">
          There is a later version than the one that is edited. What it changed is not part of the new one.
        </p>
      )}
      <TextField label="Description" hint={describedHint} maxLength={500} value={description} onText={setDescription} />
    </FormDialog>
  )
}

type OtherProps = { description: string; onSave(name: string, description: string): Promise<void>; onClose(): void }

function SaveAs({ description: first, onSave, onClose }: OtherProps) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState(first)
  const id = promptIdOf(name)
  return (
    <FormDialog
      title="Save as prompt"
      act="Save"
      isReady={/\w/.test(id)}
      run={() => onSave(name, description)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint={id !== '' && id !== name.trim() ? `Stored as ${id}` : 'A prompt of this name gets a new version.'}
        maxLength={120}
        value={name}
        onText={setName}
      />
      <TextField label="Description" hint={describedHint} maxLength={500} value={description} onText={setDescription} />
    </FormDialog>
  )
}
