// The menu of a project's own dashboards: opening one, and making one, empty or as a copy of what is shown.
import { type FormEvent, useState } from 'react'
import { type Board, boardIdOf, freeTitle, maxTitle, templates } from '../engine/boards.ts'
import { ErrorLine } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../parts/input.tsx'
import { Menu } from '../parts/menu.tsx'
import { T } from '../parts/text.tsx'
import type { OwnBoards } from './use-own-boards.ts'

type MenuProps = {
  own: OwnBoards
  /** The shown dashboard, of which a copy may be made. */
  shown: Board
  shownId: string
  onOpen(id: string): void
}

export function BoardMenu({ own, shown, shownId, onOpen }: MenuProps) {
  return (
    <Menu
      label="Custom dashboards"
      className="line"
      button={
        <>
          Custom <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <div className="views">
          {own.boards?.length === 0 && <p className="dim">No custom dashboards yet.</p>}
          <ul>
            {own.boards?.map(({ id, title }) => (
              <li key={id}>
                <button
                  type="button"
                  className="item"
                  aria-pressed={id === shownId}
                  onClick={() => {
                    close()
                    onOpen(id)
                  }}
                >
                  <T text={title} max={60} />
                </button>
              </li>
            ))}
          </ul>
          <NewBoard
            own={own}
            label="Name of a copy of this dashboard"
            placeholder={`Copy ${shown.title.slice(0, 40)} to edit as…`}
            act="Copy"
            onName={(title, done) => {
              const id = boardIdOf(title)
              own.save({ id, title, panels: shown.panels, others: [] }, () => {
                done()
                close()
                onOpen(id)
              })
            }}
          />
          <NewBoard
            own={own}
            label="Name of a new dashboard"
            placeholder="New dashboard…"
            act="Create"
            onName={(title, done) => {
              const id = boardIdOf(title)
              own.save({ id, title, panels: [], others: [] }, () => {
                done()
                close()
                onOpen(id)
              })
            }}
          />
          <p className="dim">Templates</p>
          <ul aria-label="Templates">
            {templates.map(({ title, panels }) => (
              <li key={title}>
                <button
                  type="button"
                  className="item"
                  disabled={own.reason !== undefined || own.isBusy || own.boards === undefined}
                  title={own.reason ?? 'Creates a dashboard with these charts that you can edit'}
                  onClick={() => {
                    const free = freeTitle(title, own.boards ?? [])
                    const id = boardIdOf(free)
                    own.save({ id, title: free, panels, others: [] }, () => {
                      close()
                      onOpen(id)
                    })
                  }}
                >
                  {title}
                </button>
              </li>
            ))}
          </ul>
          <ErrorLine text={own.fault?.message} />
        </div>
      )}
    </Menu>
  )
}

type NameProps = {
  own: OwnBoards
  label: string
  placeholder: string
  act: string
  onName(name: string, done: () => void): void
}

function NewBoard({ own, label, placeholder, act, onName }: NameProps) {
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const isTaken = own.boards?.some(({ id, title }) => title === name || id === boardIdOf(name)) === true
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name !== '' && !isTaken) onName(name, () => setTyped(''))
  }
  return (
    <>
      <form onSubmit={submit}>
        <Input
          aria-label={label}
          placeholder={placeholder}
          value={typed}
          maxLength={maxTitle}
          disabled={own.reason !== undefined}
          title={own.reason}
          onText={setTyped}
        />
        <button
          type="submit"
          className="line"
          disabled={name === '' || isTaken || own.isBusy || own.boards === undefined}
        >
          {act}
        </button>
      </form>
      {isTaken && <p className="second">A dashboard with this name already exists</p>}
    </>
  )
}
