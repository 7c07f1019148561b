// Keys: those that the reader administers, or one's own; making, rotating, limiting and revoking them.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { mayAdminister, useSession } from '../api/session.ts'
import { age, moment } from '../engine/format.ts'
import { Confirm, RowMenu, SectionHead } from '../parts/forms.tsx'
import { Input } from '../parts/input.tsx'
import { placeOf } from '../parts/sections.ts'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import { KeyLimits, limitsText } from './key-limits.tsx'
import { type Key, useAllKeys } from './lists.ts'
import { KeyMade, type Made, NewKey } from './new-key.tsx'
import { roleOf } from './rights.ts'

type State = { kind: 'good' | 'warn' | 'off'; text: string; at?: string | undefined }

/** Whether a key counts, and until when. */
function stateOf({ revoked_at, ends_at, expires_at }: Key, nowMs = Date.now()): State {
  const has = (at: string | undefined) => at !== undefined && Date.parse(at) <= nowMs
  if (revoked_at !== undefined) return { kind: 'off', text: 'Revoked', at: revoked_at }
  if (has(expires_at) || has(ends_at)) return { kind: 'off', text: 'Expired', at: expires_at ?? ends_at }
  if (ends_at !== undefined) return { kind: 'warn', text: 'Replaced', at: ends_at }
  const isSoon = expires_at !== undefined && Date.parse(expires_at) - nowMs < 14 * 86_400_000
  return { kind: isSoon ? 'warn' : 'good', text: isSoon ? 'Expires soon' : 'Active', at: expires_at }
}

const isOver = (key: Key): boolean => stateOf(key).kind === 'off'
const nameOf = ({ name, id }: Key): string => (name === '' ? id : name)

const acts = { rotate: 'Rotate…', limits: 'Limits…', revoke: 'Revoke…' }

type Asked = { key: Key; what: 'revoke' | 'rotate' | 'limits' }

function columnsOf(zone: string, isAdmin: boolean, ask: (asked: Asked) => void): ShortColumn<Key>[] {
  return [
    {
      head: 'Key',
      width: 'minmax(14rem, 1.4fr)',
      cell: ({ name, id }) => (
        <span>
          {name === '' ? <span className="dim">Unnamed</span> : <T text={name} />}
          <small className="dim">{id}</small>
        </span>
      ),
    },
    { head: 'User', width: 'minmax(8rem, 1fr)', cell: ({ user_id }) => <T text={user_id} /> },
    {
      head: 'Permissions',
      width: 'minmax(9rem, 1fr)',
      cell: ({ actions, limits }) => (
        <span title={actions.join(', ')}>
          {roleOf(actions) ?? actions.join(', ')}
          {limits && limitsText(limits) !== '' && <small className="dim">{limitsText(limits)}</small>}
        </span>
      ),
    },
    {
      head: 'Scope',
      width: 'minmax(11rem, 1.2fr)',
      cell: ({ scopes, addresses }) => (
        <span className="tags" title={addresses && `from ${addresses.join(', ')}`}>
          {scopes.map((scope) => (
            <code key={scope} className="tag">
              {scope === '*' ? 'everything' : <T text={scope} />}
            </code>
          ))}
        </span>
      ),
    },
    {
      head: 'Status',
      width: '16rem',
      cell: (key) => {
        const { kind, text, at } = stateOf(key)
        return (
          <span>
            <span className={`pill ${kind}`}>{text}</span>
            {at !== undefined && (
              <small className="second" title={at}>
                {kind === 'off' ? 'at' : 'until'} {moment(at, zone)}
              </small>
            )}
          </span>
        )
      },
    },
    {
      head: 'Created',
      width: '9rem',
      cell: ({ created_at, created_by, last_used_at }) => (
        <span className="second" title={`${created_at} by ${created_by}`}>
          {age(created_at)}
          {last_used_at !== undefined && (
            <small className="dim" title={last_used_at}>
              used {age(last_used_at)}
            </small>
          )}
        </span>
      ),
    },
    {
      head: 'Actions',
      width: '6.4rem',
      cell: (key) =>
        isOver(key) ? (
          <span />
        ) : (
          <RowMenu
            of={nameOf(key)}
            acts={(['rotate', 'limits', 'revoke'] as const)
              .filter((what) => isAdmin || what === 'revoke')
              .map((what) => ({ name: acts[what], run: () => ask({ key, what }), isDangerous: what === 'revoke' }))}
          />
        ),
    },
  ]
}

function Rotate({ of, onClose }: { of: Key; onClose(): void }) {
  const [made, setMade] = useState<Made>()
  if (made) return <KeyMade made={made} scopes={of.scopes} onClose={onClose} />
  return (
    <Confirm
      title="Rotate key"
      act="Rotate"
      run={async () => setMade(await json('keys.rotate', {}, { params: { id: of.id } }))}
      onClose={onClose}
      onDone={() => undefined}
    >
      Creates a new key with the same permissions as <strong>{nameOf(of)}</strong>. The old key works for another 24
      hours, so that you can update your programs.
    </Confirm>
  )
}

function Revoke({ of, isAdmin, onClose }: { of: Key; isAdmin: boolean; onClose(): void }) {
  const run = () => json(isAdmin ? 'keys.delete' : 'me.keys_delete', undefined, { params: { id: of.id } })
  return (
    <Confirm title="Revoke key" act="Revoke" run={run} onClose={onClose}>
      Programs that use <strong>{nameOf(of)}</strong> lose access immediately, and sessions signed in with it end. This
      cannot be undone.
    </Confirm>
  )
}

export function Keys({ projectId }: { projectId: string }) {
  const { data: session } = useSession()
  const isAdmin = mayAdminister(session)
  const zone = useZone(undefined)
  const [text, setText] = useState('')
  const [showsOver, setShowsOver] = useState(false)
  const navigate = useNavigate()
  const search = useSearch({ from: '/signed-in/settings/$section' })
  // A link may ask for the dialog.
  const [asked, setAsked] = useState<Asked | 'new' | undefined>(search.new === '1' ? 'new' : undefined)
  const list = useAllKeys(isAdmin ? 'keys.list' : 'me.keys')
  const words = text.trim().toLowerCase()
  const all = list.items?.filter(
    ({ id, name, user_id, scopes }) =>
      words === '' || [id, name, user_id, ...scopes].some((one) => one.toLowerCase().includes(words)),
  )
  const shown = all?.filter((key) => showsOver || !isOver(key)).sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  const over = all?.filter(isOver).length ?? 0
  const close = () => {
    setAsked(undefined)
    if (search.new === '1') void navigate({ ...placeOf('keys'), search: { ...search, new: undefined }, replace: true })
  }
  return (
    <>
      <SectionHead
        title="Keys"
        acts={
          <button type="button" className="first" onClick={() => setAsked('new')}>
            New key
          </button>
        }
      >
        {isAdmin
          ? 'Keys for the projects you administer. A key can do what both its permissions and the roles of its user allow.'
          : 'Your keys with no more permissions than the one you signed in with.'}
      </SectionHead>
      <div className="filters">
        <Input type="search" aria-label="Search keys" placeholder="Search keys" value={text} onText={setText} />
        <label className="check">
          <input type="checkbox" checked={showsOver} onChange={({ target }) => setShowsOver(target.checked)} />
          Revoked and expired ({over})
        </label>
      </div>
      <ShortTable
        label="Keys"
        columns={columnsOf(zone, isAdmin, setAsked)}
        list={list}
        items={shown}
        idOf={({ id }) => id}
        rowClass={(key) => (isOver(key) ? 'over' : '')}
        none={
          list.items?.length === 0
            ? 'No keys yet. Keys from the configuration are not shown.'
            : words === ''
              ? 'No active keys.'
              : 'No matching keys.'
        }
      />
      {asked === 'new' && <NewKey isAdmin={isAdmin} projectId={projectId} onClose={close} />}
      {typeof asked === 'object' && asked.what === 'rotate' && <Rotate of={asked.key} onClose={close} />}
      {typeof asked === 'object' && asked.what === 'revoke' && (
        <Revoke of={asked.key} isAdmin={isAdmin} onClose={close} />
      )}
      {typeof asked === 'object' && asked.what === 'limits' && <KeyLimits of={asked.key} onClose={close} />}
    </>
  )
}
