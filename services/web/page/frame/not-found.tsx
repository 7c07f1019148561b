// A path that no page has.
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
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
          <input
            type="search"
            aria-label="Project"
            placeholder="entity/project"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <button type="submit" className="line">
            Go to
          </button>
        </form>
      </div>
    </Frame>
  )
}
