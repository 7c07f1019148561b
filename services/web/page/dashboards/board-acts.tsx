// Actions on a project's own dashboard, and on each of its panels.
import { type FormEvent, type HTMLAttributes, useState } from 'react'
import { maxTitle, type Panel } from '../engine/boards.ts'
import { plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../parts/input.tsx'
import { Menu } from '../parts/menu.tsx'
import { T } from '../parts/text.tsx'
import { maxPanels, type OwnBoard } from './own-boards.ts'
import { PanelForm } from './panel-form.tsx'
import type { OwnBoards } from './use-own-boards.ts'

type HeadProps = { board: OwnBoard; own: OwnBoards; onGone(): void }

/** Name, a new chart, a new name, deleting. */
export function BoardHead({ board, own, onGone }: HeadProps) {
  const [does, setDoes] = useState<'add' | 'rename' | 'delete'>()
  const [typed, setTyped] = useState(board.title)
  const isFixed = own.reason !== undefined
  const done = () => setDoes(undefined)
  const isFull = board.panels.length >= maxPanels
  const rename = (event: FormEvent) => {
    event.preventDefault()
    if (typed.trim() !== '') own.save({ ...board, title: typed.trim() }, done)
  }
  return (
    <header className="board-head">
      {does === 'rename' ? (
        <form onSubmit={rename}>
          <Input aria-label="New dashboard name" maxLength={maxTitle} value={typed} autoFocus onText={setTyped} />
          <button type="submit" className="line" disabled={typed.trim() === '' || own.isBusy}>
            Rename
          </button>
          <button type="button" onClick={done}>
            Cancel
          </button>
        </form>
      ) : (
        <h2>
          <T text={board.title} max={100} />
        </h2>
      )}
      {does === 'delete' ? (
        <>
          <span>Delete this dashboard?</span>
          <button
            type="button"
            className="line danger"
            disabled={own.isBusy}
            onClick={() => own.remove(board.id, onGone)}
          >
            Delete
          </button>
          <button type="button" onClick={done}>
            Cancel
          </button>
        </>
      ) : (
        <>
          <Button
            disabled={isFixed || isFull}
            title={own.reason ?? (isFull ? `At most ${maxPanels} charts` : undefined)}
            onClick={() => setDoes('add')}
          >
            Add chart
          </Button>
          <button type="button" disabled={isFixed} title={own.reason} onClick={() => setDoes('rename')}>
            Rename
          </button>
          <button type="button" disabled={isFixed} title={own.reason} onClick={() => setDoes('delete')}>
            Delete
          </button>
        </>
      )}
      {board.others.length > 0 && (
        <span className="second">
          {plural(board.others.length, 'chart')} not shown: this page does not support their type
        </span>
      )}
      {own.fault && (
        <span className="s-error" role="alert">
          {own.fault.message.slice(0, 300)}
        </span>
      )}
      {does === 'add' && (
        <PanelForm
          panel={undefined}
          isBusy={own.isBusy}
          onClose={done}
          onSave={(panel) => own.save({ ...board, panels: [...board.panels, panel] }, done)}
        />
      )}
    </header>
  )
}

/** Panels in another order. */
export const movedPanel = (panels: readonly Panel[], from: number, to: number): readonly Panel[] =>
  panels.toSpliced(from, 1).toSpliced(to, 0, panels[from] as Panel)

type PanelActsProps = {
  board: OwnBoard
  place: number
  own: OwnBoards
  /** Attributes of the handle by which the panel is dragged. */
  handle: HTMLAttributes<HTMLElement>
}

/** Editing, moving, widening and removing of one panel. */
export function PanelActs({ board, place, own, handle }: PanelActsProps) {
  const [isEdited, setEdited] = useState(false)
  const { panels } = board
  const panel = panels[place] as Panel
  const save = (next: readonly Panel[], onDone?: () => void) => own.save({ ...board, panels: next }, onDone)
  const acts: readonly (readonly [name: string, does: () => void, isOff?: boolean])[] = [
    ['Edit', () => setEdited(true)],
    ['Move earlier', () => save(movedPanel(panels, place, place - 1)), place === 0],
    ['Move later', () => save(movedPanel(panels, place, place + 1)), place === panels.length - 1],
    [panel.isWide ? 'Half width' : 'Full width', () => save(panels.with(place, { ...panel, isWide: !panel.isWide }))],
    ['Remove', () => save(panels.toSpliced(place, 1))],
  ]
  if (own.reason !== undefined) return null
  return (
    <>
      <span {...handle} className="panel-handle" title="Drag to move" aria-hidden="true">
        <Icon name="grip" />
      </span>
      <Menu label={`Change ${panel.title.slice(0, 60)}`} className="quiet icon" button={<Icon name="down" />}>
        {(close) => (
          <div className="views">
            {acts.map(([name, does, isOff = false]) => (
              <button
                key={name}
                type="button"
                className="item"
                disabled={isOff || own.isBusy}
                onClick={() => {
                  close()
                  does()
                }}
              >
                {name}
              </button>
            ))}
          </div>
        )}
      </Menu>
      {isEdited && (
        <PanelForm
          panel={panel}
          isBusy={own.isBusy}
          onClose={() => setEdited(false)}
          onSave={(next) => save(panels.with(place, next), () => setEdited(false))}
        />
      )}
    </>
  )
}
