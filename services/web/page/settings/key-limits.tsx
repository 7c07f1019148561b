// Limits of one key: how much it may take in a minute.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { bytes, count } from '../engine/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Key } from './lists.ts'
import { Fault, Field } from './parts.tsx'

type Limits = NonNullable<Key['limits']>
type Name = keyof Limits

const keyLimitLabels: Record<Name, string> = {
  requests_per_minute: 'Requests a minute',
  calls_per_minute: 'Calls a minute',
  bytes_per_minute: 'Bytes a minute',
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

/** What was typed, without what is empty. */
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
        <Field key={name} label={keyLimitLabels[name]}>
          <input
            type="number"
            min={0}
            step={1}
            placeholder="no limit"
            value={typed[name] ?? ''}
            onChange={({ target }) => onTyped({ ...typed, [name]: target.value })}
          />
        </Field>
      ))}
    </div>
  )
}

export function KeyLimits({ of, onClose }: { of: Key; onClose(): void }) {
  const client = useQueryClient()
  const [typed, setTyped] = useState<Record<string, string>>(
    Object.fromEntries(Object.entries(of.limits ?? {}).map(([name, limit]) => [name, limit ? String(limit) : ''])),
  )
  const save = useMutation({
    mutationFn: () => json('keys.limits_update', numbersOf(typed), { params: { id: of.id } }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['settings', 'keys'] })
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Dialog title={`Limits of ${of.name || of.id}`} onClose={onClose}>
      <form className="set-form" onSubmit={submit}>
        <p className="second">Over a limit requests are answered 429. They hold from the next request on.</p>
        <LimitFields typed={typed} onTyped={setTyped} />
        <Fault error={save.error} />
        <div className="acts end">
          <button type="submit" className="first" disabled={save.isPending}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  )
}
