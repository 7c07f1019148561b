// Retention of a project: its days, the dates of removal, and holds.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { moment, plural } from '../engine/format.ts'
import { daysAfter, newlyHidden } from '../engine/retention-days.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Confirm, SaveForm, SectionHead } from '../parts/forms.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'
import { useZone } from '../preferences.ts'
import type { Shapes } from '../routes.gen.ts'
import { Erasures } from './erasures.tsx'
import { Holds } from './holds.tsx'
import { partsOf } from './project.ts'
import { RemoveProject } from './remove-project.tsx'

type Asked = Shapes['projects.retention_update']['in']
type Now = Shapes['projects.retention_read']['out']
type Name = Exclude<keyof Asked & keyof Now, 'feedback'>

const names: Record<Name, { label: string; hint: string }> = {
  calls_days: { label: 'Calls', hint: 'Older calls no longer appear.' },
  payloads_days: { label: 'Payloads', hint: 'Inputs, output, attributes and summary of older calls appear empty.' },
  files_days: { label: 'Files', hint: 'Unreferenced files are deleted after this time. Default: kept forever.' },
  stats_days: { label: 'Statistics', hint: 'How far back statistics go. Default: as long as calls.' },
  logs_days: { label: 'Log records', hint: 'Older records no longer appear.' },
}
const all = Object.keys(names) as Name[]

type Typed = Record<Name, { kind: 'default' | 'ever' | 'days'; days: string }>

const typedOf = (set: Asked, now: Now): Typed =>
  Object.fromEntries(
    all.map((name) => {
      const value = set[name]
      const kind = value === undefined ? 'default' : value === null ? 'ever' : 'days'
      return [name, { kind, days: String(value ?? now[name] ?? 90) }]
    }),
  ) as Typed

const askedOf = (typed: Typed): Asked =>
  Object.fromEntries(
    all.flatMap((name) => {
      const { kind, days } = typed[name]
      return kind === 'default' ? [] : [[name, kind === 'ever' ? null : Number(days)]]
    }),
  )

/** The days of the server, where there are any. */
function defaultText(name: Name, { calls_days, logs_days }: Now['defaults']): string {
  if (name === 'calls_days')
    return ` Server default: ${calls_days === null ? 'kept forever' : plural(calls_days, 'day')}.`
  return name === 'logs_days' ? ` Default: as long as calls, at most ${plural(logs_days, 'day')}.` : ''
}

type DaysProps = { typed: Typed; defaults: Now['defaults']; onTyped(typed: Typed): void }

function Days({ typed, defaults, onTyped }: DaysProps) {
  const change = (name: Name, part: Partial<Typed[Name]>) => onTyped({ ...typed, [name]: { ...typed[name], ...part } })
  return (
    <div className="set-fields">
      {all.map((name) => (
        <fieldset key={name} className="set-group">
          <legend>{names[name].label}</legend>
          <div className="pair">
            <Select
              aria-label={`${names[name].label} retention`}
              value={typed[name].kind}
              of={{ default: 'Server default', ever: 'Forever', days: 'Days:' }}
              onValue={(value) => change(name, { kind: value as 'default' })}
            />
            {typed[name].kind === 'days' && (
              <Input
                type="number"
                aria-label={`Days to keep ${names[name].label.toLowerCase()}`}
                min={1}
                max={36_500}
                required
                value={typed[name].days}
                onText={(text) => change(name, { days: text })}
              />
            )}
          </div>
          <small className="second">
            {names[name].hint}
            {defaultText(name, defaults)}
          </small>
        </fieldset>
      ))}
    </div>
  )
}

function Facts({ now, zone }: { now: Now; zone: string }) {
  const before = (at: string | null) => (at === null ? 'none' : `before ${moment(at, zone)}`)
  return (
    <dl className="set-facts">
      <div>
        <dt>Hidden calls</dt>
        <dd>{before(now.calls_before)}</dd>
      </div>
      <div>
        <dt>Hidden payloads</dt>
        <dd>{before(now.payloads_before)}</dd>
      </div>
      <div>
        <dt>Hidden log records</dt>
        <dd>{before(now.logs_before)}</dd>
      </div>
      <div>
        <dt>Hidden, not yet deleted</dt>
        <dd>{plural(now.hidden_calls, 'call')}</dd>
      </div>
      <div>
        <dt>Permanently deleted</dt>
        <dd>
          {now.removed_within_days === null
            ? 'never while everything is under a hold'
            : `within ${plural(now.removed_within_days, 'day')} (database), ${plural(now.bytes_within_days ?? 0, 'day')} (files)${now.held ? ', except data under a hold' : ''}`}
        </dd>
      </div>
    </dl>
  )
}

const dayS = 86_400

/** Calls that are older than some days. */
async function countOlder(projectId: string, days: number): Promise<number> {
  const before = { $literal: Math.floor(Date.now() / 1000) - days * dayS }
  const query = { $expr: { $not: [{ $gte: [{ $getField: 'started_at' }, before] }] } }
  return (await json('calls.query_stats', { project_id: projectId, query })).count
}

/** Sentences about what a change hides at once. */
async function hiddenBy(projectId: string, asked: Asked, now: Now): Promise<string[]> {
  const hides = async (days: number | undefined, what: (calls: string) => string): Promise<string[]> => {
    if (days === undefined) return []
    const older = await countOlder(projectId, days)
    return older === 0 ? [] : [what(plural(older, 'call'))]
  }
  const { calls: hidden, payloads } = newlyHidden(daysAfter(asked, now.defaults), now)
  return [
    ...(await hides(hidden, (calls) => `${calls} will be hidden.`)),
    ...(await hides(payloads, (calls) => `Inputs and outputs of ${calls} will be hidden.`)),
  ]
}

function Form({ projectId, set, now }: { projectId: string; set: Asked; now: Now }) {
  const [typed, setTyped] = useState(() => typedOf(set, now))
  const [feedback, setFeedback] = useState(now.feedback)
  const asked = { ...askedOf(typed), ...(feedback === 'keep' && { feedback }) }
  const [hidden, setHidden] = useState<string[]>()
  const save = () => json('projects.retention_update', asked, { params: partsOf(projectId) })
  const saveOrAsk = async () => {
    const found = await hiddenBy(projectId, asked, now)
    if (found.length === 0) return save()
    setHidden(found)
  }
  return (
    <>
      <SaveForm
        act="Save"
        run={saveOrAsk}
        isChanged={
          feedback !== now.feedback || JSON.stringify(askedOf(typed)) !== JSON.stringify(askedOf(typedOf(set, now)))
        }
        hint="Applies from the next request."
      >
        <Days typed={typed} defaults={now.defaults} onTyped={setTyped} />
        <fieldset className="set-group">
          <legend>Feedback</legend>
          <Select
            aria-label="Feedback on hidden calls"
            value={feedback}
            of={{ with_calls: 'Hidden with its calls', keep: 'Kept' }}
            onValue={(value) => setFeedback(value as Now['feedback'])}
          />
        </fieldset>
      </SaveForm>
      {hidden && (
        <Confirm title="Save retention" act="Save and hide" run={save} onClose={() => setHidden(undefined)}>
          {hidden.join(' ')} What is hidden is permanently deleted within{' '}
          {plural(Math.max(1, now.removed_within_days ?? 1), 'day')}.
        </Confirm>
      )}
    </>
  )
}

export function Retention({ projectId }: { projectId: string }) {
  const zone = useZone(undefined)
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'retention', projectId],
    async queryFn({ signal }) {
      const options = { params: partsOf(projectId), signal }
      const [{ retention }, now] = await Promise.all([
        json('projects.settings_read', undefined, options),
        json('projects.retention_read', undefined, options),
      ])
      const { calls_days, payloads_days, files_days, stats_days, logs_days } = retention
      return { set: { calls_days, payloads_days, files_days, stats_days, logs_days } as Asked, now }
    },
  })
  return (
    <>
      <SectionHead title="Retention">
        How long {projectId} keeps its calls. Objects and tables are kept until they are deleted.
      </SectionHead>
      {error && data === undefined && <FaultBox error={error} onRetry={() => void refetch()} />}
      {!error && data === undefined && <div className="waiting" />}
      {data && (
        <>
          <Facts now={data.now} zone={zone} />
          <section className="part" aria-label="Days">
            <Form key={JSON.stringify(data.set)} projectId={projectId} set={data.set} now={data.now} />
          </section>
        </>
      )}
      <Holds projectId={projectId} zone={zone} />
      <Erasures projectId={projectId} zone={zone} />
      <RemoveProject projectId={projectId} />
    </>
  )
}
