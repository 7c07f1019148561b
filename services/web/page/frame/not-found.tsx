// A path that no page has.
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Input } from '../parts/input.tsx'
import { Frame } from './frame.tsx'

export function NotFound() {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const [entity, project] = text.trim().split('/')
    if (entity && project) void navigate({ to: '/p/$entity/$project/calls', params: { entity, project }, search: {} })
    else void navigate({ to: '/', search: { all: '1' } })
  }
  return (
    <Frame title="Not found" crumbs={<span className="at">Not found</span>}>
      <div className="center">
        <h1>Page not found</h1>
        <form role="search" onSubmit={submit} style={{ display: 'flex', gap: 8 }}>
          <Input type="search" aria-label="Project" placeholder="entity/project" value={text} onText={setText} />
          <button type="submit" className="line">
            Go to
          </button>
        </form>
      </div>
    </Frame>
  )
}
