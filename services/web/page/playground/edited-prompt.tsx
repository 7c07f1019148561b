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
import { changedPrompt, type Kept, newPrompt, type PromptTexts, promptIdOf } from './prompt-value.ts'
import { type EditedPrompt, loadPrompt } from './use-start.ts'

type Saved = { objectId: string; versionIndex: number | undefined }

type Props = {
  edited: EditedPrompt | undefined
  messages: readonly DraftMessage[]
  /** Name of the first model that the messages are tried with. */
  model: string
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

export function PromptBar({ edited, messages, model, onSaved, onReset }: Props) {
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
          model={model}
          onClose={() => setDoes(undefined)}
          onSave={(texts) => save(edited.objectId, changedPrompt(edited.value, texts, messages, edited.kept))}
        />
      )}
      {does === 'other' && (
        <SaveAs
          first={{ description: edited?.texts.description ?? '', model }}
          onClose={() => setDoes(undefined)}
          onSave={(name, texts) => save(promptIdOf(name), newPrompt(name, texts, messages, edited?.kept ?? noneKept))}
        />
      )}
    </div>
  )
}

const describedHint = 'Stored with this version, as the description of its value.'

function TextFields({ texts, onChange }: { texts: PromptTexts; onChange(texts: PromptTexts): void }) {
  return (
    <>
      <TextField
        label="Model"
        hint="Opened with this prompt in the playground. Leave empty for any model."
        list="models"
        spellCheck={false}
        maxLength={200}
        value={texts.model}
        onText={(model) => onChange({ ...texts, model })}
      />
      <TextField
        label="Description"
        hint={describedHint}
        maxLength={500}
        value={texts.description}
        onText={(description) => onChange({ ...texts, description })}
      />
    </>
  )
}

type VersionProps = {
  edited: EditedPrompt
  model: string
  onSave(texts: PromptTexts): Promise<void>
  onClose(): void
}

function SaveVersion({ edited, model, onSave, onClose }: VersionProps) {
  // A prompt for any model stays one, whichever it is tried with.
  const [texts, setTexts] = useState({ ...edited.texts, model: edited.texts.model && model })
  return (
    <FormDialog title={`New version of ${edited.objectId}`} act="Save" run={() => onSave(texts)} onClose={onClose}>
      {!edited.isLatest && (
        <p className="told-hint">
          There is a later version than the one that is edited. What it changed is not part of the new one.
        </p>
      )}
      <TextFields texts={texts} onChange={setTexts} />
    </FormDialog>
  )
}

type OtherProps = { first: PromptTexts; onSave(name: string, texts: PromptTexts): Promise<void>; onClose(): void }

function SaveAs({ first, onSave, onClose }: OtherProps) {
  const [name, setName] = useState('')
  const [texts, setTexts] = useState(first)
  const id = promptIdOf(name)
  return (
    <FormDialog
      title="Save as prompt"
      act="Save"
      isReady={/\w/.test(id)}
      run={() => onSave(name, texts)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint={id !== '' && id !== name.trim() ? `Stored as ${id}` : 'A prompt of this name gets a new version.'}
        maxLength={120}
        value={name}
        onText={setName}
      />
      <TextFields texts={texts} onChange={setTexts} />
    </FormDialog>
  )
}
