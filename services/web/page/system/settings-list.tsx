// The settings of the process that answers, with their help: those that were given first, any of them by a word of it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Input } from '../parts/input.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import type { Shapes } from '../routes.gen.ts'

type Setting = Shapes['server.settings']['out']['settings'][number]

const columns: ShortColumn<Setting>[] = [
  {
    head: 'Setting',
    width: 'minmax(20rem, 3fr)',
    cell: ({ env, help }) => (
      <span className="setting">
        <code>{env}</code>
        <span className="second">{help}</span>
      </span>
    ),
  },
  {
    head: 'Value',
    width: 'minmax(12rem, 2fr)',
    cell: ({ value }) =>
      value === null ? (
        <span className="dim">secret</span>
      ) : value === '' ? (
        <span className="dim">none</span>
      ) : (
        <code>
          <T text={value} max={400} />
        </code>
      ),
  },
  {
    head: 'From',
    width: '8rem',
    cell: ({ is_default }) => (is_default ? <span className="dim">default</span> : 'given'),
  },
]

export function SettingsList() {
  const [word, setWord] = useState('')
  const { data, error, refetch } = useQuery({
    queryKey: ['system', 'settings'],
    queryFn: ({ signal }) => json('server.settings', undefined, { signal }),
    staleTime: 60_000,
  })
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  const needle = word.trim().toLowerCase()
  const fits = ({ env, flag, help }: Setting) => `${env} ${flag} ${help}`.toLowerCase().includes(needle)
  const items = data?.settings.filter(fits).sort((a, b) => Number(a.is_default) - Number(b.is_default))
  return (
    <>
      <Input
        type="search"
        className="find-setting"
        aria-label="Find a setting"
        placeholder="Find a setting"
        value={word}
        onText={setWord}
      />
      <ShortTable
        label="Settings"
        columns={columns}
        items={items}
        idOf={({ env }) => env}
        none="No matching settings."
      />
      {data !== undefined && data.secrets.length > 0 && (
        <p className="second">Provider secrets: {data.secrets.join(', ')}</p>
      )}
    </>
  )
}
