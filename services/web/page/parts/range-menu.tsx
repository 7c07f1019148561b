// The time range of the page and the zone that its times are in.
import { type FormEvent, useState } from 'react'
import { boundsOf, ranges, typedRange } from '../engine/calls-search.ts'
import { moment } from '../engine/format.ts'
import { useKeys } from '../keys.ts'
import { Icon } from './icon.tsx'
import { Input } from './input.tsx'
import { Menu } from './menu.tsx'

const names: Record<string, string> = {
  '15m': 'last 15 minutes',
  '1h': 'last hour',
  '6h': 'last 6 hours',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
}

/** Days that menus offer, as they may be typed. */
const days = ['today', 'yesterday']

function rangeName(range: string | undefined, zone: string): string {
  if (range === undefined) return 'all time'
  const name = Object.hasOwn(names, range) ? names[range] : undefined
  if (name !== undefined) return name
  const { from, to } = boundsOf(range, 0) ?? {}
  const at = (s: number | undefined) => (s === undefined ? '' : moment(new Date(s * 1000).toISOString(), zone))
  return `${at(from)} – ${at(to) || 'now'}`
}

/** Calls whose texts are searched, in words: those of a range or all. */
export function callsOf(range: string | undefined, zone: string): string {
  if (range === undefined) return 'all calls'
  const name = rangeName(range, zone)
  return name.startsWith('last') ? `the ${name}` : name
}

/** The period before a range: `previous 7 days`. */
export const previousOf = (range: string): string =>
  Object.hasOwn(names, range) ? (names[range] as string).replace('last', 'previous') : 'previous period'

type RangeProps = { range: string | undefined; zone: string; onChange(range: string | undefined): void }

export function RangeMenu({ range, zone, onChange }: RangeProps) {
  const [typed, setTyped] = useState('')
  const [isBad, setBad] = useState(false)
  useKeys({ range: () => document.getElementById('range-menu')?.click() })
  const submit = (close: () => void) => (event: FormEvent) => {
    event.preventDefault()
    const found = typedRange(typed, zone)
    setBad(found === undefined)
    if (found === undefined) return
    onChange(found === 'all' ? undefined : found)
    setTyped('')
    close()
  }
  return (
    <Menu
      id="range-menu"
      label={`Time range: ${rangeName(range, zone)}, ${zone}`}
      className="line"
      button={
        <>
          <Icon name="clock" /> {rangeName(range, zone)} <span className="dim">{zone}</span> <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <>
          {[...Object.keys(ranges), ...days, undefined].map((one) => (
            <button
              key={one ?? 'all'}
              type="button"
              className="item"
              aria-pressed={one === range}
              onClick={() => {
                onChange(one && typedRange(one, zone))
                close()
              }}
            >
              {one !== undefined && days.includes(one) ? one : rangeName(one, zone)}
            </button>
          ))}
          <hr />
          <form onSubmit={submit(close)} style={{ padding: '0 8px 4px', display: 'grid', gap: 4 }}>
            <Input
              aria-label="Custom range"
              aria-invalid={isBad}
              placeholder="yesterday, 2026-01-05 12:00 to 13:00"
              value={typed}
              onText={setTyped}
            />
            {isBad && (
              <span className="s-error">Try “today”, “yesterday”, “last 3 days” or “2026-01-05 12:00 to 13:00”</span>
            )}
          </form>
        </>
      )}
    </Menu>
  )
}
