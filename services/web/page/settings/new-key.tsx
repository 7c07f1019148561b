// Making a key: for whom, what it may do, where, and how long; its text shows once.
import { useState } from 'react'
import { json } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Copy, Field, FormDialog, SelectField, TextField } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { QuickStart } from '../parts/quick-start.tsx'
import { LimitFields, numbersOf } from './key-limits.tsx'
import { type User, useUsers } from './lists.ts'
import {
  type Action,
  actions,
  actionsOfRole,
  fitting,
  lackingOf,
  type Role,
  roleHelp,
  roleOf,
  roles,
} from './rights.ts'

export type Made = { id: string; key: string; expires_at?: string | undefined }

/** The only time that the text of a key is seen. */
export function KeyMade({ made, scopes, onClose }: { made: Made; scopes: readonly string[]; onClose(): void }) {
  const project = scopes.find((scope) => scope.includes('/')) ?? `${scopes[0] === '*' ? 'acme' : scopes[0]}/demo`
  return (
    <Dialog title="Your new key" onClose={onClose}>
      <div className="set-form">
        <p className="told-hint">
          <Icon name="descendant_error" /> Copy this key now. It won’t be shown again.
        </p>
        <div className="key-text">
          <code>{made.key}</code>
          <Copy text={made.key} label="Copy key" />
        </div>
        <QuickStart project={project} apiKey={made.key} />
        <div className="acts end">
          <button type="button" className="first" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  )
}

const scopesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\s,]+/)
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ),
]

export const days = {
  '': 'Never',
  '1': 'In 1 day',
  '7': 'In 7 days',
  '30': 'In 30 days',
  '90': 'In 90 days',
  '365': 'In 1 year',
}
const newUser = '\u0000new'

type Draft = {
  name: string
  user: string
  newId: string
  held: readonly Action[]
  scopes: string
  days: keyof typeof days
  addresses: string
  limits: Record<string, string>
}

async function make(draft: Draft, isAdmin: boolean, users: readonly User[]): Promise<Made> {
  const scopes = scopesOf(draft.scopes)
  const addresses = scopesOf(draft.addresses)
  const key = {
    name: draft.name.trim(),
    actions: [...draft.held],
    scopes,
    ...(draft.days !== '' && { expires_at: new Date(Date.now() + Number(draft.days) * 86_400_000).toISOString() }),
    ...(addresses.length > 0 && { addresses }),
  }
  if (!isAdmin) return json('me.keys_create', key)
  const isNew = draft.user === newUser
  const user_id = isNew ? draft.newId.trim() : draft.user
  if (isNew) {
    if (!users.some(({ id }) => id === user_id)) await json('users.create', { id: user_id, kind: 'service' })
    const role = roleOf(draft.held) ?? roles.find((one) => draft.held.every((a) => actionsOfRole[one].includes(a)))
    for (const scope of scopes) await json('grants.set', { user_id, scope, role: role ?? 'owner' })
  }
  const limits = numbersOf(draft.limits)
  return json('keys.create', { ...key, user_id, ...(Object.keys(limits).length > 0 && { limits }) })
}

function May({ held, onHeld }: { held: readonly Action[]; onHeld(held: readonly Action[]): void }) {
  const role = roleOf(held)
  return (
    <fieldset className="set-group">
      <legend>Permissions</legend>
      <div className="acts">
        <select
          aria-label="Role"
          value={role ?? ''}
          onChange={({ target }) => target.value !== '' && onHeld(actionsOfRole[target.value as Role])}
        >
          {role === undefined && <option value="">Custom</option>}
          {roles.map((one) => (
            <option key={one} value={one}>
              {one}: {roleHelp[one]}
            </option>
          ))}
        </select>
      </div>
      <div className="actions">
        {(Object.keys(actions) as Action[]).map((action) => (
          <label key={action} className="check">
            <input
              type="checkbox"
              checked={held.includes(action)}
              onChange={({ target }) =>
                onHeld(target.checked ? [...held, action] : held.filter((one) => one !== action))
              }
            />
            <span>
              {action} <small className="second">{actions[action]}</small>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Actions that no role of the chosen user holds; a new user is granted a role that does. */
const lackingIn = (draft: Draft, users: readonly User[]) => {
  const user = users.find(({ id }) => id === draft.user)
  return user && lackingOf(user.grants, draft.held, scopesOf(draft.scopes))
}

const lackText = (user: string, { roles, lacking, scope }: NonNullable<ReturnType<typeof lackingOf>>): string =>
  roles.length === 0
    ? `${user} has no role on ${scope}, so this key could do nothing there.`
    : `${user}’s roles on ${scope} (${roles.join(', ')}) don’t include ${lacking.join(', ')}.`

type ForProps = { draft: Draft; change(part: Partial<Draft>): void; users: readonly User[] }

function For({ draft, change, users }: ForProps) {
  const role = roleOf(draft.held)
  const without = lackingIn(draft, users)
  const choose = (user: string) => {
    const grants = users.find(({ id }) => id === user)?.grants
    if (grants === undefined) return change({ user })
    const { held, scopes } = fitting(grants, scopesOf(draft.scopes))
    change({ user, held, scopes: scopes.join(', ') })
  }
  return (
    <>
      <Field label="User" hint="A key can never do more than the roles of its user.">
        <select value={draft.user} onChange={({ target }) => choose(target.value)}>
          <option value={newUser}>New user for a program…</option>
          {users.map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </Field>
      {draft.user === newUser && (
        <TextField
          label="New user ID"
          hint={`Gets the role ${role ?? 'that includes these permissions'}.`}
          value={draft.newId}
          onText={(text) => change({ newId: text })}
        />
      )}
      {without !== undefined && (
        <p className="told-hint" role="status">
          <Icon name="descendant_error" /> {lackText(draft.user, without)} Grant a role under Users, or remove the
          permission.
        </p>
      )}
    </>
  )
}

/** The start of the dialog: the project that is open, else the scopes of the reader. */
function startOf(projectId: string, grants: string[] | '*' | undefined, isAdmin: boolean, own: string): Draft {
  const everything = grants === undefined || grants === '*' ? '*' : grants.join(', ')
  return {
    name: '',
    user: isAdmin ? newUser : own,
    newId: projectId && `${projectId.split('/')[1]}-app`,
    held: actionsOfRole[isAdmin ? 'ingest' : 'reader'],
    scopes: projectId || everything,
    days: '90',
    addresses: '',
    limits: {},
  }
}

export function NewKey({ isAdmin, projectId, onClose }: { isAdmin: boolean; projectId: string; onClose(): void }) {
  const { data: session } = useSession()
  const { items: users = [] } = useUsers(isAdmin)
  const [draft, setDraft] = useState(() => startOf(projectId, session?.grants, isAdmin, session?.user_id ?? ''))
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const [made, setMade] = useState<Made>()
  const scopes = scopesOf(draft.scopes)
  if (made) return <KeyMade made={made} scopes={scopes} onClose={onClose} />
  const isReady =
    draft.held.length > 0 &&
    scopes.length > 0 &&
    lackingIn(draft, users) === undefined &&
    (draft.user !== newUser || draft.newId.trim() !== '' || !isAdmin)
  const run = async () => setMade(await make(draft, isAdmin, users))
  return (
    <FormDialog title="New key" act="Create key" run={run} isReady={isReady} onClose={onClose} onDone={() => undefined}>
      <div className="set-fields">
        <TextField
          label="Name"
          hint="What the key is used for."
          value={draft.name}
          onText={(text) => change({ name: text })}
        />
        {isAdmin && <For draft={draft} change={change} users={users} />}
        <TextField
          label="Scope"
          hint="Projects, entities, or * for everything."
          value={draft.scopes}
          onText={(text) => change({ scopes: text })}
        />
        <SelectField label="Expires" value={draft.days} of={days} onChange={(chosen) => change({ days: chosen })} />
      </div>
      <May held={draft.held} onHeld={(held) => change({ held })} />
      <details>
        <summary>IP addresses and limits</summary>
        <div className="set-form inner">
          <TextField
            label="Allowed IP addresses"
            hint="Ranges such as 10.0.0.0/8. Empty: any address."
            value={draft.addresses}
            onText={(text) => change({ addresses: text })}
          />
          {isAdmin && <LimitFields typed={draft.limits} onTyped={(limits) => change({ limits })} />}
        </div>
      </details>
    </FormDialog>
  )
}
