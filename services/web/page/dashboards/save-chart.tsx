// A chart of a list of calls, or of a dashboard that every project has, is put into one of the project's own.
import { useState } from 'react'
import { boardIdOf, maxTitle, type Panel } from '../engine/boards.ts'
import { Input } from '../parts/input.tsx'
import { maxPanels } from './own-boards.ts'
import { LabelledChoice, PanelForm } from './panel-form.tsx'
import type { OwnBoards } from './use-own-boards.ts'

type Props = {
  own: OwnBoards
  panel: Panel
  /** Called with the dashboard once it is saved. */
  onSaved(board: { id: string; title: string }): void
  onClose(): void
}

export function SaveChart({ own, panel, onSaved, onClose }: Props) {
  const boards = own.boards ?? []
  const [chosen, setChosen] = useState<string>()
  const [typed, setTyped] = useState('')
  const id = chosen ?? boards.find(({ panels }) => panels.length < maxPanels)?.id ?? ''
  const board = boards.find((one) => one.id === id)
  const name = typed.trim()
  const isTaken = boards.some((one) => one.title === name || one.id === boardIdOf(name))
  const whyNot = () => {
    if (own.boards === undefined) return own.fault?.message.slice(0, 200) ?? 'Loading dashboards'
    if (own.reason !== undefined) return own.reason
    if (board !== undefined)
      return board.panels.length >= maxPanels ? `A dashboard has at most ${maxPanels} charts` : undefined
    return name === ''
      ? 'Enter a name for the dashboard'
      : isTaken
        ? 'A dashboard with this name already exists'
        : undefined
  }
  const save = (made: Panel) => {
    const to = board ?? { id: boardIdOf(name), title: name, panels: [], others: [] }
    own.save({ ...to, panels: [...to.panels, made] }, () => onSaved(to))
  }
  return (
    <PanelForm
      panel={panel}
      heading="Save as chart"
      isBusy={own.isBusy}
      whyNot={whyNot()}
      onSave={save}
      onClose={onClose}
    >
      <LabelledChoice
        label="Dashboard"
        value={id}
        options={[...boards.map((one) => [one.id, one.title] as const), ['', 'New dashboard']]}
        onChange={setChosen}
      />
      {board === undefined && (
        <label className="field wide">
          <span>Dashboard name</span>
          <Input maxLength={maxTitle} value={typed} onText={setTyped} />
        </label>
      )}
      {own.fault && own.boards !== undefined && (
        <p className="s-error" role="alert">
          {own.fault.message.slice(0, 300)}
        </p>
      )}
    </PanelForm>
  )
}
