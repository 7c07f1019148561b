// Secrets of a project: keys of providers that its inference uses. Their values go to the server and never come back.
import { useState } from 'react'
import { json } from '../api/client.ts'
import { Confirm, FormDialog, RowButton, SectionHead, TextField } from '../parts/forms.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { AgeBy, T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import type { Shapes } from '../routes.gen.ts'
import { partsOf } from './project.ts'

type Secret = Shapes['secrets.set']['out']

function SetSecret({ projectId, of, onClose }: { projectId: string; of: Secret | undefined; onClose(): void }) {
  const [name, setName] = useState(of?.name ?? '')
  const [value, setValue] = useState('')
  const [origins, setOrigins] = useState((of?.origins ?? []).join('\n'))
  const list = origins.split(/\s+/).filter((one) => one !== '')
  const save = () =>
    json(
      'secrets.set',
      { value, ...(list.length > 0 && { origins: list }) },
      { params: { ...partsOf(projectId), name: name.trim() } },
    )
  return (
    <FormDialog
      title={of ? `Replace ${of.name}` : 'New secret'}
      act="Save"
      run={save}
      isReady={value !== '' && name.trim() !== ''}
      onClose={onClose}
    >
      {!of && (
        <TextField
          label="Name"
          hint="Letters, digits and _, such as OPENAI_API_KEY."
          placeholder="OPENAI_API_KEY"
          pattern="\w{1,100}"
          value={name}
          onText={setName}
        />
      )}
      <TextField
        label="Value"
        hint="Stored encrypted and never shown again."
        type="password"
        autoComplete="off"
        value={value}
        onText={setValue}
      />
      <TextField
        label="May be sent to"
        hint="Addresses, one per line. Empty: the providers configured on the server."
        rows={2}
        placeholder="https://api.example.com/v1"
        value={origins}
        onText={setOrigins}
      />
    </FormDialog>
  )
}

const columnsOf = (replace: (secret: Secret) => void, remove: (secret: Secret) => void): ShortColumn<Secret>[] => [
  {
    head: 'Name',
    width: 'minmax(16rem, 1.5fr)',
    cell: ({ name, last4 }) => (
      <span>
        <code>{name}</code>
        {last4 && <small className="dim">ends with {last4}</small>}
      </span>
    ),
  },
  {
    head: 'May be sent to',
    width: 'minmax(16rem, 2fr)',
    cell: ({ origins }) =>
      origins === undefined ? (
        <span className="second">providers configured on the server</span>
      ) : (
        <span className="tags">
          {origins.map((origin) => (
            <code key={origin} className="tag">
              <T text={origin} />
            </code>
          ))}
        </span>
      ),
  },
  { head: 'Version', width: '6.4rem', isNumber: true, cell: ({ version }) => version },
  {
    head: 'Updated',
    width: '16rem',
    cell: ({ updated_at, updated_by }) => <AgeBy at={updated_at} by={updated_by} />,
  },
  {
    head: 'Actions',
    width: '17rem',
    cell: (secret) => (
      <span className="acts">
        <RowButton name="Replace" of={secret.name} run={() => replace(secret)} />
        <RowButton name="Remove…" of={secret.name} run={() => remove(secret)} isDangerous />
      </span>
    ),
  },
]

export function Secrets({ projectId }: { projectId: string }) {
  const [setting, setSetting] = useState<Secret | 'new'>()
  const [leaving, setLeaving] = useState<Secret>()
  const list = useList({
    key: ['settings', 'secrets', projectId],
    read: async ({ signal }) => (await json('secrets.list', undefined, { params: partsOf(projectId), signal })).secrets,
  })
  const remove = () =>
    json('secrets.delete', undefined, { params: { ...partsOf(projectId), name: leaving?.name ?? '' } })
  return (
    <>
      <SectionHead
        title="Secrets"
        acts={
          <button type="button" className="first" onClick={() => setSetting('new')}>
            New secret
          </button>
        }
      >
        API keys of model providers for {projectId}. Values are encrypted and never shown.
      </SectionHead>
      <ShortTable
        label="Secrets"
        columns={columnsOf(setSetting, setLeaving)}
        list={list}
        idOf={({ name }) => name}
        none="No secrets yet. Secrets shared by the server apply."
      />
      {setting && (
        <SetSecret
          projectId={projectId}
          of={setting === 'new' ? undefined : setting}
          onClose={() => setSetting(undefined)}
        />
      )}
      {leaving && (
        <Confirm title="Remove secret" act="Remove" run={remove} onClose={() => setLeaving(undefined)}>
          Requests that need <code>{leaving.name}</code> then fail.
        </Confirm>
      )}
    </>
  )
}
