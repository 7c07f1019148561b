// Providers of a project: where inference may be had beside those of the operator, with the models of each.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, FormDialog, RowButton, SectionHead, TextField } from '../parts/forms.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import { partsOf } from './project.ts'

type Model = { objectId: string; name: string; maxTokens: number }
type Provider = { name: string; baseUrl: string; keyName: string; headers: unknown; models: Model[] }

const objectIdOf = (provider: string, model: string): string =>
  `${provider}-${model.replaceAll(/[^\w.-]+/g, '-')}`.slice(0, 128)
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Models belong to the provider that their id begins with, as requests name them. */
async function read(projectId: string, signal: AbortSignal): Promise<Provider[]> {
  const asked = {
    project_id: projectId,
    filter: { base_object_classes: ['Provider', 'ProviderModel'], latest_only: true },
  }
  const { objs } = await json('objects.query', asked, { signal })
  const all = objs.map((one) => ({ ...one, val: (one.val ?? {}) as Record<string, unknown> }))
  const providers = all
    .filter((one) => one.base_object_class === 'Provider')
    .map(({ object_id, val }): Provider => {
      const { base_url, api_key_name, extra_headers } = val
      return {
        name: object_id,
        baseUrl: text(base_url),
        keyName: text(api_key_name),
        headers: extra_headers,
        models: [],
      }
    })
  const longestFirst = [...providers].sort((a, b) => b.name.length - a.name.length)
  for (const { object_id, base_object_class, val } of all)
    if (base_object_class === 'ProviderModel')
      longestFirst
        .find(({ name }) => object_id.startsWith(`${name}-`))
        ?.models.push({ objectId: object_id, name: text(val.name) || object_id, maxTokens: Number(val.max_tokens) })
  return providers.sort((a, b) => a.name.localeCompare(b.name))
}

type Draft = { name: string; baseUrl: string; keyName: string; models: string; maxTokens: string }

async function save(projectId: string, draft: Draft, of: Provider | undefined): Promise<void> {
  const name = draft.name.trim()
  const create = (object_id: string, builtin_object_class: string, val: object) =>
    json('objects.create', { obj: { project_id: projectId, object_id, builtin_object_class, val } })
  const val = { base_url: draft.baseUrl.trim(), api_key_name: draft.keyName.trim(), extra_headers: of?.headers ?? {} }
  const { digest } = await create(name, 'Provider', { name, ...val, return_type: 'openai' })
  const models = [...new Set(draft.models.split('\n').map((one) => one.trim()))].filter((one) => one !== '')
  // Models of the version of the provider that has just been made.
  for (const model of models) {
    const known = of?.models.find((one) => one.name === model)
    const max_tokens = known?.maxTokens ?? Number(draft.maxTokens)
    const value = { name: model, provider: digest, max_tokens, mode: 'chat' }
    await create(known?.objectId ?? objectIdOf(name, model), 'ProviderModel', value)
  }
  for (const { objectId, name: gone } of of?.models ?? [])
    if (!models.includes(gone)) await json('objects.delete', { project_id: projectId, object_id: objectId })
}

type EditProps = { projectId: string; of: Provider | undefined; onClose(): void }

function Edit({ projectId, of, onClose }: EditProps) {
  const [draft, setDraft] = useState<Draft>({
    name: of?.name ?? '',
    baseUrl: of?.baseUrl ?? '',
    keyName: of?.keyName ?? '',
    maxTokens: '4096',
    models: (of?.models ?? []).map(({ name }) => name).join('\n'),
  })
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const isReady = /^[\w.-]{1,100}$/.test(draft.name.trim()) && draft.baseUrl.trim() !== ''
  return (
    <FormDialog
      title={of ? `Edit ${of.name}` : 'New provider'}
      act="Save provider"
      run={() => save(projectId, draft, of)}
      isReady={isReady}
      onClose={onClose}
    >
      {!of && (
        <TextField
          label="Name"
          hint="Letters, digits, _ . and -. Models are named custom::name::model."
          value={draft.name}
          onText={(text) => change({ name: text })}
        />
      )}
      <TextField
        label="Address"
        hint="Base URL of an OpenAI-compatible API."
        placeholder="https://api.example.com/v1"
        value={draft.baseUrl}
        onText={(text) => change({ baseUrl: text })}
      />
      <TextField
        label="Secret"
        hint="Name of a secret that may be sent to this address."
        placeholder="EXAMPLE_API_KEY"
        value={draft.keyName}
        onText={(text) => change({ keyName: text })}
      />
      <TextField
        label="Models"
        hint="As named by the provider, one per line."
        rows={4}
        value={draft.models}
        onText={(text) => change({ models: text })}
      />
      <TextField
        label="Max tokens"
        hint="Default for new models."
        type="number"
        min={1}
        required
        value={draft.maxTokens}
        onText={(text) => change({ maxTokens: text })}
      />
    </FormDialog>
  )
}

type Do = { edit(provider: Provider): void; remove(provider: Provider): void }

const columnsOf = (projectId: string, whyNot: string | undefined, { edit, remove }: Do): ShortColumn<Provider>[] => [
  {
    head: 'Provider',
    width: 'minmax(12rem, 1.5fr)',
    cell: ({ name, keyName }) => (
      <span>
        <T text={name} />
        {keyName !== '' && <small className="dim">by {keyName}</small>}
      </span>
    ),
  },
  {
    head: 'Address',
    width: 'minmax(14rem, 2fr)',
    cell: ({ baseUrl }) => (
      <code>
        <T text={baseUrl} />
      </code>
    ),
  },
  {
    head: 'Models',
    width: 'minmax(14rem, 2fr)',
    cell: ({ name: provider, models }) => (
      <span className="tags">
        {models.map(({ objectId, name }) => (
          <Link
            key={objectId}
            className="tag"
            title={`Try ${name} in the playground`}
            to="/p/$entity/$project/playground"
            params={partsOf(projectId)}
            search={{ model: `custom::${provider}::${name}` }}
          >
            <code>
              <T text={name} />
            </code>
          </Link>
        ))}
      </span>
    ),
  },
  {
    head: 'Actions',
    width: '15rem',
    cell: (provider) => (
      <span className="acts">
        <RowButton name="Edit" of={provider.name} run={() => edit(provider)} whyNot={whyNot} />
        <RowButton name="Remove…" of={provider.name} run={() => remove(provider)} isDangerous whyNot={whyNot} />
      </span>
    ),
  },
]

export function ProjectProviders({ projectId }: { projectId: string }) {
  const { data: session } = useSession()
  const whyNot = mayWrite(session) ? undefined : noWrite
  const [editing, setEditing] = useState<Provider | 'new'>()
  const [leaving, setLeaving] = useState<Provider>()
  const list = useList({
    key: ['settings', 'providers', projectId],
    read: ({ signal }) => read(projectId, signal),
  })
  const remove = async () => {
    for (const object_id of [...(leaving?.models ?? []).map(({ objectId }) => objectId), leaving?.name ?? ''])
      await json('objects.delete', { project_id: projectId, object_id })
  }
  return (
    <>
      <SectionHead
        title="Providers"
        acts={
          <>
            <Link to="/p/$entity/$project/playground" params={partsOf(projectId)} search={{}} className="line">
              Try in the playground
            </Link>
            <Button className="first" whyNot={whyNot} onClick={() => setEditing('new')}>
              New provider
            </Button>
          </>
        }
      >
        Model providers of {projectId}, in addition to those configured on the server. Stored as versioned objects of
        the project.
      </SectionHead>
      <ShortTable
        label="Providers"
        columns={columnsOf(projectId, whyNot, { edit: setEditing, remove: setLeaving })}
        list={list}
        idOf={({ name }) => name}
        none="No custom providers. Those configured on the server apply."
      />
      {editing && (
        <Edit
          projectId={projectId}
          of={editing === 'new' ? undefined : editing}
          onClose={() => setEditing(undefined)}
        />
      )}
      {leaving && (
        <Confirm title="Remove provider" act="Remove" run={remove} onClose={() => setLeaving(undefined)}>
          Requests to <strong>{leaving.name}</strong> ({plural(leaving.models.length, 'model')}) then get status 404.
          Recorded calls are kept.
        </Confirm>
      )}
    </>
  )
}
