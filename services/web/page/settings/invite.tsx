// Inviting somebody: a user, a role on a project, and a link that signs in with a key that is made for it.
import { useState } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Copy, Field, FormDialog, SelectField, TextField } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Select } from '../parts/select.tsx'
import type { User } from './lists.ts'
import { days, KeyMade, type Made } from './new-key.tsx'
import { actionsOfRole, type Role, roleHelp, roles } from './rights.ts'

type GrantFieldsProps = { role: Role | ''; scope: string; onRole(role: Role | ''): void; onScope(scope: string): void }

export function GrantFields({ role, scope, onRole, onScope, isFree }: GrantFieldsProps & { isFree: boolean }) {
  return (
    <>
      <Field label="Role" hint={role === '' ? 'No permissions until a role is granted.' : `${roleHelp[role]}.`}>
        <select value={role} onChange={({ target }) => onRole(target.value as Role | '')}>
          {isFree && <option value="">No role</option>}
          {roles.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </Field>
      {role !== '' && (
        <TextField label="Scope" hint="A project, an entity, or * for everything." value={scope} onText={onScope} />
      )}
    </>
  )
}

/** The link as the first start prints it; the page takes the key out of the address (sign-in/fragment.ts). */
const linkOf = (key: string): string => `${baseUrl}sign-in#key=${encodeURIComponent(key)}`

type InvitedProps = { id: string; role: Role; scope: string; made: Made; onClose(): void }

/** The only time that the link is seen. */
function Invited({ id, role, scope, made, onClose }: InvitedProps) {
  const link = linkOf(made.key)
  return (
    <Dialog title={`Invitation for ${id.slice(0, 60)}`} onClose={onClose}>
      <div className="set-form">
        <p>
          Anyone who opens this link is signed in as <strong>{id}</strong>, {role} of{' '}
          {scope === '*' ? 'everything' : <code>{scope}</code>}.
        </p>
        <p className="told-hint">
          <Icon name="descendant_error" /> Copy this link now. It won’t be shown again. Send it to {id} alone.
        </p>
        <div className="key-text">
          <code>{link}</code>
          <Copy text={link} label="Copy link" />
        </div>
        <div className="acts end">
          <button type="button" className="first" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  )
}

export function Invite({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const [id, setId] = useState('')
  const [kind, setKind] = useState<User['kind']>('person')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role | ''>('reader')
  const [scope, setScope] = useState(projectId)
  const [ends, setEnds] = useState<keyof typeof days>('90')
  const [wantsKey, setWantsKey] = useState(true)
  const [isMade, setMade] = useState(false)
  const [key, setKey] = useState<Made>()
  const user_id = id.trim()
  const on = scope.trim()
  const hasKey = wantsKey && role !== ''
  const make = async () => {
    if (!isMade) await json('users.create', { id: user_id, kind, ...(name.trim() !== '' && { name: name.trim() }) })
    setMade(true)
    if (role === '') return onClose()
    await json('grants.set', { user_id, scope: on, role })
    if (!wantsKey) return onClose()
    // `metrics` counts on everything only.
    const actions = actionsOfRole[role].filter((one) => one !== 'metrics' || on === '*')
    const expires_at = new Date(Date.now() + Number(ends) * 86_400_000).toISOString()
    const of = { user_id, name: kind === 'person' ? 'invitation' : '', actions, scopes: [on] }
    setKey(await json('keys.create', { ...of, ...(ends !== '' && { expires_at }) }))
  }
  if (key !== undefined && role !== '')
    return kind === 'service' ? (
      <KeyMade made={key} scopes={[on]} onClose={onClose} />
    ) : (
      <Invited id={user_id} role={role} scope={on} made={key} onClose={onClose} />
    )
  const isReady = user_id !== '' && (role === '' || on !== '')
  return (
    <FormDialog
      title="Invite"
      act={hasKey ? (kind === 'person' ? 'Create invitation link' : 'Create user and key') : 'Create user'}
      run={make}
      isReady={isReady}
      onClose={onClose}
      onDone={() => undefined}
    >
      <div className="set-fields">
        <TextField
          label="User ID"
          hint="Appears in logs and can’t be changed."
          value={id}
          disabled={isMade}
          onText={setId}
        />
        <TextField label="Name" value={name} disabled={isMade} onText={setName} />
        <Field label="Kind">
          <Select
            value={kind}
            disabled={isMade}
            of={{ person: 'A person', service: 'A program' }}
            onValue={(value) => setKind(value as User['kind'])}
          />
        </Field>
        <GrantFields role={role} scope={scope} onRole={setRole} onScope={setScope} isFree />
        {hasKey && <SelectField label="Key expires" value={ends} of={days} onChange={setEnds} />}
      </div>
      {role !== '' && (
        <label className="check">
          <input type="checkbox" checked={wantsKey} onChange={({ target }) => setWantsKey(target.checked)} />
          {kind === 'person' ? 'Also create a sign-in link, with a key for it' : 'Also create a key'}
        </label>
      )}
      {isMade && <p className="second">The user was created. Try again to finish.</p>}
    </FormDialog>
  )
}
