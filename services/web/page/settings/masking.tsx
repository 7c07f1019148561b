// Masking of a project: its sets and rules, tried on a text while they are written.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { Button } from '../parts/button.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { SaveForm, SectionHead, SelectField, TextField } from '../parts/forms.tsx'
import { MaskPreview } from './mask-preview.tsx'
import { emptyRule, MaskRule, type Rule, type RuleDraft, ruleOf } from './mask-rule.tsx'
import { partsOf } from './project.ts'
import './masking.css'

type Rules = NonNullable<Parameters<typeof json<'masking.update'>>[1]>
type SetName = NonNullable<Rules['sets']>[number]
type Mode = NonNullable<Rules['mode']>

const sets: Record<SetName, string> = {
  '@credentials': 'known API key formats, tokens, private keys, passwords',
  '@payment': 'card numbers, IBANs',
  '@contact': 'email addresses, phone numbers',
}
const modes: Record<Mode, string> = {
  on: 'On: values are masked before they are stored',
  dry_run: 'Dry run: values are stored unchanged, matches are counted',
  off: 'Off: rules are kept but not applied',
}

const contents = { keep: 'stored', drop: 'dropped; uploads are rejected' }
const objectChoices = { left: 'not masked', masked: 'masked, which changes their digests' }

type Draft = Pick<Required<Stored>, 'mode' | 'sets' | 'content' | 'objects'> & { allow: string; rules: RuleDraft[] }

let lastKey = 0
function draftOf({
  mode = 'on',
  sets: chosen = [],
  content = 'keep',
  objects = false,
  allow = [],
  rules = [],
}: Stored): Draft {
  return {
    mode,
    content,
    objects,
    sets: chosen,
    allow: allow.join('\n'),
    rules: rules.map((rule) => ({ ...emptyRule(++lastKey), ...textsOf(rule) })),
  }
}

type Stored = {
  mode?: Mode
  sets?: readonly string[]
  content?: 'keep' | 'drop'
  objects?: boolean
  allow?: readonly string[]
  rules?: readonly Rule[]
}

/** A rule as its fields show it. */
function textsOf({ id, detect, keys, path, pattern, in: where = [], action }: Rule): Partial<RuleDraft> {
  const way = detect !== undefined ? 'detect' : keys ? 'keys' : path !== undefined ? 'path' : 'pattern'
  const value = detect ?? keys?.join(', ') ?? path ?? pattern ?? ''
  return { id, way, value, where: where.join(', '), action }
}

const rulesOf = ({ mode, sets: chosen, content, objects, allow, rules }: Draft): Rules =>
  ({
    mode,
    content,
    objects,
    sets: [...chosen],
    allow: allow.split('\n').filter((line) => line.trim() !== ''),
    rules: rules.map(ruleOf),
  }) as Rules

type EditorProps = { draft: Draft; floor: readonly string[]; change(part: Partial<Draft>): void }

function Sets({ draft, floor, change }: EditorProps) {
  return (
    <fieldset className="set-group">
      <legend>Sets</legend>
      {(Object.keys(sets) as SetName[]).map((name) => (
        <label key={name} className="check">
          <input
            type="checkbox"
            checked={floor.includes(name) || draft.sets.includes(name)}
            disabled={floor.includes(name)}
            onChange={({ target }) =>
              change({ sets: target.checked ? [...draft.sets, name] : draft.sets.filter((one) => one !== name) })
            }
          />
          <span>
            <code>{name}</code> <span className="second">{sets[name]}</span>
            {floor.includes(name) && <span className="dim"> always on here</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function Editor({ draft, floor, change }: EditorProps) {
  const { rules } = draft
  return (
    <>
      <div className="set-fields">
        <SelectField label="Mode" value={draft.mode} of={modes} onChange={(mode) => change({ mode })} />
        <SelectField
          label="Files in payloads"
          value={draft.content}
          of={contents}
          onChange={(content) => change({ content })}
        />
        <SelectField
          label="Objects and tables"
          value={draft.objects ? 'masked' : 'left'}
          of={objectChoices}
          onChange={(choice) => change({ objects: choice === 'masked' })}
        />
      </div>
      <Sets draft={draft} floor={floor} change={change} />
      <fieldset className="set-group">
        <legend>Rules</legend>
        {rules.length === 0 && <p className="second">No custom rules.</p>}
        {rules.map((rule, place) => (
          <MaskRule
            key={rule.key}
            rule={rule}
            place={place + 1}
            onRule={(next) => change({ rules: rules.map((one) => (one.key === rule.key ? next : one)) })}
            onRemove={() => change({ rules: rules.filter((one) => one.key !== rule.key) })}
          />
        ))}
        <div className="acts">
          <Button onClick={() => change({ rules: [...rules, emptyRule(++lastKey, rules.length + 1)] })}>
            Add rule
          </Button>
        </div>
      </fieldset>
      <TextField
        label="Exceptions"
        hint="Patterns of values that are never masked, one per line."
        rows={2}
        value={draft.allow}
        onText={(text) => change({ allow: text })}
      />
    </>
  )
}

type FormProps = { projectId: string; stored: Stored; floor: readonly string[]; version: number }

function Form({ projectId, stored, floor, version }: FormProps) {
  const [start] = useState(() => draftOf(stored))
  const [draft, setDraft] = useState(start)
  const rules = rulesOf(draft)
  const isChanged = JSON.stringify(rules) !== JSON.stringify(rulesOf(start))
  return (
    <>
      <SaveForm
        act="Save rules"
        run={() => json('masking.update', rules, { params: partsOf(projectId) })}
        isChanged={isChanged}
        hint="Applies to new data only."
        rest={`Version ${version}.`}
      >
        <Editor draft={draft} floor={floor} change={(part) => setDraft((before) => ({ ...before, ...part }))} />
      </SaveForm>
      <MaskPreview projectId={projectId} rules={rules} />
    </>
  )
}

export function Masking({ projectId }: { projectId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'masking', projectId],
    queryFn: ({ signal }) => json('masking.read', undefined, { params: partsOf(projectId), signal }),
  })
  return (
    <>
      <SectionHead title="Masking">
        Sensitive values of {projectId} are removed in memory, before anything is stored. Rules of its entity and global
        rules also apply.
      </SectionHead>
      {error && data === undefined && <FaultBox error={error} onRetry={() => void refetch()} />}
      {!error && data === undefined && <div className="waiting" />}
      {data && (
        <Form key={data.version} projectId={projectId} stored={data.rules} floor={data.floor} version={data.version} />
      )}
    </>
  )
}
