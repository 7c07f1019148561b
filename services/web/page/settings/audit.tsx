// The audit log of the scopes that the reader administers, the newest events first.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { lines } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { moment } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Field, SectionHead, TextField } from '../parts/forms.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'
import { Second, T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import { useZone } from '../preferences.ts'
import type { Shapes } from '../routes.gen.ts'
import './audit.css'

type Event = Shapes['audit.query']['line']

const pageEvents = 100
const ranges = { '': 'All time', '1': 'Last 24 hours', '7': 'Last 7 days', '30': 'Last 30 days' }
const kinds = {
  '': 'Everything',
  'key.*': 'Keys',
  'user.*': 'Users',
  'grant.*': 'Roles',
  'auth.*': 'Sign-ins and refusals',
  'session.*': 'Sign-outs',
  'limits.*': 'Limits',
  'retention.*': 'Retention',
  'masking.*': 'Masking',
  'secret.*': 'Secrets',
  'hold.*': 'Holds',
  'price.*': 'Prices',
  'calls.*': 'Deleted calls',
  'objects.*': 'Deleted objects',
  'data.*': 'Reads',
  'audit.*': 'Audit log',
}
const pillOf = { done: 'good', begun: 'warn', failed: 'bad', refused: 'bad' } as const

type Asked = { scope: string; action: string; actor: string; target: string; days: string }

const useEvents = (asked: Asked) =>
  useList<Event>({
    key: ['settings', 'audit', asked],
    pages: { by: 'more', size: pageEvents },
    keeps: 'audit',
    async read({ limit, after, signal }) {
      const { scope, action, actor, target, days } = asked
      const from = days === '' ? undefined : Date.now() / 1000 - Number(days) * 86_400
      const body = {
        scope,
        limit,
        ...(action !== '' && { action }),
        ...(actor !== '' && { actor }),
        ...(target !== '' && { target }),
        ...(from !== undefined && { from }),
        ...(after !== undefined && { after: after.id }),
      }
      return lines('audit.query', body, { signal })
    },
  })

function Entry({ event, zone }: { event: Event; zone: string }) {
  const { at, action, target, actor, actor_kind, key_id, address, request_id, outcome, scope, details } = event
  const facts = { at, scope, actor: `${actor} (${actor_kind})`, key: key_id, address, request: request_id }
  return (
    <li>
      <details className="event">
        <summary>
          <time className="second num" dateTime={at} title={at}>
            {moment(at, zone)}
          </time>
          <span className="event-action">
            <code>{action}</code> <T text={target === '' ? scope : target} max={120} />
          </span>
          <Second text={actor === '' ? actor_kind : actor} max={60} />
          <span>
            <span className={`pill ${pillOf[outcome]}`}>{outcome}</span>
          </span>
        </summary>
        <dl className="event-facts">
          {Object.entries(facts)
            .filter(([, value]) => value !== '')
            .map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <T text={value} />
                </dd>
              </div>
            ))}
        </dl>
        {Object.keys(details).length > 0 && (
          <pre tabIndex={0} role="group" aria-label="Details">
            {JSON.stringify(details, null, 2)}
          </pre>
        )}
      </details>
    </li>
  )
}

type TypedProps = { placeholder: string; value: string; onValue(value: string): void }

/** The typed text counts from Enter on, or when the field is left: only whole names are found. */
function Typed({ placeholder, value, onValue }: TypedProps) {
  const [text, setText] = useState(value)
  const take = () => text.trim() !== value && onValue(text.trim())
  return (
    <Input
      type="search"
      placeholder={placeholder}
      value={text}
      onText={setText}
      onBlur={take}
      onKeyDown={({ key }) => key === 'Enter' && take()}
    />
  )
}

type FiltersProps = { asked: Asked; scopes: readonly string[]; change(part: Partial<Asked>): void }

function Filters({ asked, scopes, change }: FiltersProps) {
  return (
    <div className="set-fields tight">
      <Field label="What">
        <Select value={asked.action} of={kinds} onValue={(value) => change({ action: value })} />
      </Field>
      <Field label="When">
        <Select value={asked.days} of={ranges} onValue={(value) => change({ days: value })} />
      </Field>
      <Field label="In">
        <Select
          value={asked.scope}
          of={scopes.map((scope) => [scope, scope === '*' ? 'everything' : scope] as const)}
          onValue={(value) => change({ scope: value })}
        />
      </Field>
      <TextField
        label="Who"
        type="search"
        placeholder="user"
        value={asked.actor}
        onText={(text) => change({ actor: text })}
      />
      <Field label="Target">
        <Typed placeholder="ID of a user, key, …" value={asked.target} onValue={(target) => change({ target })} />
      </Field>
    </div>
  )
}

export function AuditLog({ projectId }: { projectId: string }) {
  const { data: session } = useSession()
  const zone = useZone(undefined)
  const grants = session?.grants === undefined || session.grants === '*' ? ['*'] : session.grants
  const entity = projectId.split('/')[0] ?? ''
  const scopes = [...new Set([...grants, ...(projectId === '' ? [] : [entity, projectId])])]
  const search = useSearch({ from: '/signed-in/settings/$section' })
  const navigate = useNavigate()
  const { action = '', actor = '', target = '', days = '', scope = scopes[0] ?? '*' } = search
  const asked: Asked = { scope, action, actor, target, days }
  const change = (part: Partial<Asked>) =>
    void navigate({
      to: '/settings/$section',
      params: { section: 'audit' },
      replace: true,
      search: { ...search, ...part },
    })
  const { items: events, error, refetch, hasNext, more, isLoading, isOld } = useEvents(asked)
  return (
    <>
      <SectionHead title="Audit log">
        Who changed what, with which key and from where. Newest first. Times in {zone}.
      </SectionHead>
      <Filters asked={asked} scopes={scopes} change={change} />
      {error && <FaultBox error={error} onRetry={refetch} />}
      {!error && events === undefined && (
        <div className="waiting">
          <span className="hidden" role="status">
            Loading events
          </span>
        </div>
      )}
      {events?.length === 0 && !isOld && <p className="none second">No matching events.</p>}
      {events !== undefined && events.length > 0 && (
        <ul className={`events ${isOld ? 'pale' : ''}`} aria-label="Events">
          {events.map((event) => (
            <Entry key={event.id} event={event} zone={zone} />
          ))}
        </ul>
      )}
      {hasNext && (
        <div className="acts">
          <Button disabled={isLoading} onClick={more}>
            Older events
          </Button>
        </div>
      )}
    </>
  )
}
