// Users of what the reader administers, and the roles that they are granted.
import { useState } from 'react'
import { json } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { IconButton } from '../parts/button.tsx'
import { Confirm, FormDialog, RowMenu, SectionHead } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../parts/input.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { GrantFields, Invite } from './invite.tsx'
import { type User, useUsers } from './lists.ts'
import type { Role } from './rights.ts'

type Grant = User['grants'][number]
type Asked =
  | { what: 'new' }
  | { what: 'grant' | 'off' | 'on' | 'remove'; user: User }
  | { what: 'ungrant'; user: User; grant: Grant }

function Roles({ user, isSelf, ask }: { user: User; isSelf: boolean; ask(asked: Asked): void }) {
  if (user.grants.length === 0) return <span className="dim">none</span>
  return (
    <span className="tags">
      {user.grants.map((grant) => (
        <span key={`${grant.scope} ${grant.source}`} className="tag granted">
          <strong>{grant.role}</strong>
          <code>{grant.scope === '*' ? 'everything' : <T text={grant.scope} />}</code>
          {grant.source === 'oidc' ? (
            <span className="dim" title="Granted through a group of the sign-in provider">
              by group
            </span>
          ) : (
            <IconButton
              icon="close"
              disabled={isSelf}
              title={isSelf ? 'You cannot change your own roles' : undefined}
              label={`Remove ${grant.role} on ${grant.scope} from ${user.id}`}
              onClick={() => ask({ what: 'ungrant', user, grant })}
            />
          )}
        </span>
      ))}
    </span>
  )
}

const acts = {
  grant: 'Grant role…',
  off: 'Deactivate…',
  on: 'Activate',
  remove: 'Remove…',
} as const

function columnsOf(own: string | null | undefined, ask: (asked: Asked) => void): ShortColumn<User>[] {
  return [
    {
      head: 'User',
      width: 'minmax(14rem, 1fr)',
      cell: ({ id, name, email }) => (
        <span>
          <T text={id} />
          {id === own && <span className="dim"> (you)</span>}
          {(name ?? email) !== undefined && (
            <small className="second">
              <T text={[name, email].filter(Boolean).join(', ')} />
            </small>
          )}
        </span>
      ),
    },
    {
      head: 'Kind',
      width: '8rem',
      cell: ({ kind }) => <span className="second">{kind === 'service' ? 'program' : 'person'}</span>,
    },
    {
      head: 'Roles',
      width: 'minmax(20rem, 2.5fr)',
      cell: (user) => <Roles user={user} isSelf={user.id === own} ask={ask} />,
    },
    {
      head: 'Status',
      width: '8rem',
      cell: ({ is_off }) => <span className={`pill ${is_off ? 'off' : 'good'}`}>{is_off ? 'Inactive' : 'Active'}</span>,
    },
    {
      head: 'Actions',
      width: '6.4rem',
      cell: (user) =>
        user.id === own ? (
          <span />
        ) : (
          <RowMenu
            of={user.id}
            acts={(['grant', user.is_off ? 'on' : 'off', 'remove'] as const).map((what) => ({
              name: acts[what],
              run: () => ask({ what, user }),
              isDangerous: what === 'remove',
            }))}
          />
        ),
    },
  ]
}

function GiveRole({ user, projectId, onClose }: { user: User; projectId: string; onClose(): void }) {
  const [role, setRole] = useState<Role | ''>('reader')
  const [scope, setScope] = useState(projectId)
  const held = user.grants.find((one) => one.scope === scope.trim() && one.source === 'manual')
  const give = () => json('grants.set', { user_id: user.id, scope: scope.trim(), role: role as Role })
  return (
    <FormDialog
      title={`Grant a role to ${user.id}`}
      act="Grant role"
      run={give}
      isReady={scope.trim() !== ''}
      onClose={onClose}
    >
      <div className="set-fields">
        <GrantFields role={role} scope={scope} onRole={setRole} onScope={setScope} isFree={false} />
      </div>
      {held && (
        <p className="told-hint">
          <Icon name="descendant_error" /> Replaces {held.role}: a user has one role per scope.
        </p>
      )}
      <p className="second">All keys of the user change immediately.</p>
    </FormDialog>
  )
}

/** The questions before a change of a user. */
function Ask({ asked, projectId, onClose }: { asked: Asked; projectId: string; onClose(): void }) {
  if (asked.what === 'new') return <Invite projectId={projectId} onClose={onClose} />
  const { user } = asked
  const params = { id: user.id }
  if (asked.what === 'grant') return <GiveRole user={user} projectId={projectId} onClose={onClose} />
  if (asked.what === 'ungrant')
    return (
      <Confirm
        title="Remove role"
        act="Remove"
        run={() => json('grants.set', { user_id: user.id, scope: asked.grant.scope, role: null })}
        onClose={onClose}
      >
        <strong>{user.id}</strong> is no longer {asked.grant.role} on {asked.grant.scope}. All keys of the user change
        immediately.
      </Confirm>
    )
  if (asked.what === 'remove')
    return (
      <Confirm
        title="Remove user"
        act="Remove"
        run={() => json('users.delete', undefined, { params })}
        onClose={onClose}
      >
        Keys, sessions and roles of <strong>{user.id}</strong> end; name and email address are deleted. The ID stays in
        logs.
      </Confirm>
    )
  return (
    <Confirm
      title={asked.what === 'off' ? 'Deactivate user' : 'Activate user'}
      act={asked.what === 'off' ? 'Deactivate' : 'Activate'}
      run={() => json(asked.what === 'off' ? 'users.off' : 'users.on', undefined, { params })}
      onClose={onClose}
    >
      {asked.what === 'off' ? 'Keys and sessions of ' : 'Keys of '}
      <strong>{user.id}</strong>{' '}
      {asked.what === 'off' ? 'stop working until the user is activated again.' : 'work again.'}
    </Confirm>
  )
}

export function Users({ projectId }: { projectId: string }) {
  const { data: session } = useSession()
  const [text, setText] = useState('')
  const [asked, setAsked] = useState<Asked>()
  const list = useUsers()
  const words = text.trim().toLowerCase()
  const shown = list.items?.filter(
    ({ id, name = '', email = '', grants }) =>
      words === '' ||
      [id, name, email, ...grants.flatMap(({ scope, role }) => [scope, role])].some((one) =>
        one.toLowerCase().includes(words),
      ),
  )
  return (
    <>
      <SectionHead
        title="Users"
        acts={
          <button type="button" className="first" onClick={() => setAsked({ what: 'new' })}>
            Invite
          </button>
        }
      >
        People and programs with roles on your projects. You can only grant roles you have.
      </SectionHead>
      <div className="filters">
        <Input
          type="search"
          aria-label="Search users"
          placeholder="ID, name, role or project"
          value={text}
          onText={setText}
        />
      </div>
      <ShortTable
        label="Users"
        columns={columnsOf(session?.user_id, setAsked)}
        list={list}
        items={shown}
        idOf={({ id }) => id}
        rowClass={({ is_off }) => (is_off ? 'over' : '')}
        none={
          list.items?.length === 0 ? 'No users yet. Users from the configuration are not shown.' : 'No matching users.'
        }
      />
      {asked && <Ask asked={asked} projectId={projectId} onClose={() => setAsked(undefined)} />}
    </>
  )
}
