// Limits of one key: how much it may take in a minute.
import { useState } from 'react'
import { json } from '../api/client.ts'
import { bytes, count } from '../engine/format.ts'
import { FormDialog, TextField } from '../parts/forms.tsx'
import type { Key } from './lists.ts'

type Limits = NonNullable<Key['limits']>
type Name = keyof Limits

const keyLimitLabels: Record<Name, string> = {
  requests_per_minute: 'Requests per minute',
  calls_per_minute: 'Calls per minute',
  bytes_per_minute: 'Bytes per minute',
}
const names = Object.keys(keyLimitLabels) as Name[]

export const limitsText = (limits: Limits): string =>
  names
    .flatMap((name) => {
      const limit = limits[name]
      if (!limit) return []
      return `${name === 'bytes_per_minute' ? bytes(limit) : `${count(limit)} ${name.split('_')[0]}`}/min`
    })
    .join(', ')

/** Limits as their fields show them: none is empty. */
export const textsOf = (limits: Partial<Record<string, number | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit ? String(limit) : '']))

/** The typed numbers, without empty ones. */
export const numbersOf = <Of extends string>(typed: Partial<Record<Of, string>>): Partial<Record<Of, number>> =>
  Object.fromEntries(
    Object.entries<string | undefined>(typed).flatMap(([name, text]) =>
      text === undefined || text.trim() === '' ? [] : [[name, Number(text)]],
    ),
  ) as Partial<Record<Of, number>>

export function LimitFields({
  typed,
  onTyped,
}: {
  typed: Record<string, string>
  onTyped(t: Record<string, string>): void
}) {
  return (
    <div className="set-fields">
      {names.map((name) => (
        <TextField
          key={name}
          label={keyLimitLabels[name]}
          type="number"
          min={0}
          step={1}
          placeholder="no limit"
          value={typed[name] ?? ''}
          onText={(text) => onTyped({ ...typed, [name]: text })}
        />
      ))}
    </div>
  )
}

export function KeyLimits({ of, onClose }: { of: Key; onClose(): void }) {
  const [typed, setTyped] = useState(() => textsOf(of.limits ?? {}))
  const save = () => json('keys.limits_update', numbersOf(typed), { params: { id: of.id } })
  return (
    <FormDialog title={`Limits of ${of.name || of.id}`} act="Save" run={save} onClose={onClose}>
      <p className="second">Requests over a limit get status 429. Limits apply from the next request.</p>
      <LimitFields typed={typed} onTyped={setTyped} />
    </FormDialog>
  )
}
