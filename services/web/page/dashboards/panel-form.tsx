// The form of a panel: its title, its measure, its groups, and its calls.
import { type FormEvent, type ReactNode, useState } from 'react'
import { maxTitle, type Panel, type PanelType, panelTypes } from '../engine/boards.ts'
import { parsedOf } from '../engine/calls-search.ts'
import { countIn, filterOfRows } from '../engine/dashboard-filters.ts'
import type { RowsOf } from '../engine/filter-fields.ts'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'
import { feedbackMeasures, fieldAggregates, isOfFeedback, measureNames, measures } from './measures.ts'

const groups: readonly (readonly [by: string, name: string])[] = [
  ['', 'Nothing'],
  ['op_name', 'Operation'],
  ['model', 'Model'],
  ['end_user', 'End user'],
  ['user', 'Key owner'],
  ['status', 'Status'],
  ['error_kind', 'Error'],
  ['exception', 'Error message'],
  ['field', 'A field'],
]
const isListed = (by: string) => groups.some(([one]) => one === by && one !== 'field')

/** Rows that a chart may count, in the words of lists. */
const countedNames: readonly (readonly [rows: RowsOf, name: string])[] = [
  ['calls', 'All calls'],
  ['traces', 'Traces'],
]

type Draft = {
  title: string
  rows: RowsOf
  type: PanelType
  /** `field` for one of the calls' own. */
  measure: string
  as: string
  field: string
  by: string
  byField: string
  by2: string
  filter: string
}

const emptyDraft: Draft = {
  title: '',
  rows: 'calls',
  type: 'lines',
  measure: 'calls',
  as: 'avg',
  field: '',
  by: '',
  byField: '',
  by2: '',
  filter: '',
}

function draftOf(panel: Panel | undefined): Draft {
  if (panel === undefined) return emptyDraft
  const { title, type, measure, by = '', by2 = '' } = panel
  const named = measureNames.some((one) => one === measure) || isOfFeedback(measure)
  const [, as = 'avg', field = ''] = /^(\S+) (.*)$/.exec(measure) ?? []
  return {
    title,
    type,
    ...countIn(panel.filter),
    measure: named ? measure : 'field',
    as,
    field: named ? '' : field,
    by2,
    ...(isListed(by) ? { by, byField: '' } : { by: 'field', byField: by }),
  }
}

/** Values of feedback are drawn over time, each as a series. */
const overTime: readonly PanelType[] = ['lines', 'bars', 'stack']
const isGrouped = ({ type, measure }: Draft): boolean =>
  (overTime.includes(type) || type === 'table') && !isOfFeedback(measure)
/** A histogram is of a field, whatever was measured before. */
const isOfField = ({ type, measure }: Draft): boolean =>
  type === 'histogram' || (type !== 'heat' && measure === 'field')

function measureOf(draft: Draft): string {
  if (draft.type === 'heat') return 'calls'
  if (draft.type === 'histogram') return `count ${draft.field.trim()}`
  return draft.measure === 'field' ? `${draft.as} ${draft.field.trim()}` : draft.measure
}

/** A table has a row per group. */
const needsGroup = ({ type, by }: Draft): boolean => type === 'table' && by === ''

function panelOfDraft(draft: Draft, old: Panel | undefined): Panel {
  const { title, rows, type, by, byField, by2, filter } = draft
  const group = by === 'field' ? byField.trim() : by
  return {
    title: title.trim(),
    type,
    measure: measureOf(draft),
    by: group === '' || !isGrouped(draft) ? undefined : group,
    by2: group === '' || by2 === '' || by2 === group || !isGrouped(draft) ? undefined : by2,
    filter: isOfAllCalls(draft) ? undefined : filterOfRows(filter.trim(), rows) || undefined,
    isWide: old?.isWide,
  }
}

/** Feedback is of all calls. */
const isOfAllCalls = ({ type, measure }: Draft): boolean => isOfFeedback(measure) && overTime.includes(type)

/** The reason why it cannot be saved. */
function faultOf(draft: Draft): string | undefined {
  if (draft.title.trim() === '') return 'Enter a title'
  if (isOfField(draft) && draft.field.trim() === '') return 'Choose a field'
  if (isOfFeedback(draft.measure) && ['table', 'number'].includes(draft.type))
    return 'Feedback can only be shown over time'
  if (isGrouped(draft) && draft.by === 'field' && draft.byField.trim() === '') return 'Choose a field to group by'
  if (needsGroup(draft)) return 'A table needs a grouping'
  if (draft.rows === 'traces' && isGrouped(draft) && [draft.by, draft.by && draft.by2].includes('model'))
    return 'A trace has the models of all its calls: choose All calls to group by model'
  return parsedOf(draft.filter, draft.rows).fault?.message
}

type Props = {
  /** The panel that the form begins with. */
  panel: Panel | undefined
  heading?: string
  isBusy: boolean
  /** The reason why the rest of the form cannot be saved. */
  whyNot?: string | undefined
  /** Before the fields of the chart. */
  children?: ReactNode
  onSave(panel: Panel): void
  onClose(): void
}

export function PanelForm({ panel, heading, isBusy, whyNot, children, onSave, onClose }: Props) {
  const [draft, setDraft] = useState(() => draftOf(panel))
  const set = (next: Partial<Draft>) => setDraft({ ...draft, ...next })
  const fault = whyNot ?? faultOf(draft)
  const write = (name: 'title' | 'field' | 'byField' | 'filter', text: string) =>
    set({ [name]: text, ...(name === 'filter' && countIn(text).rows === 'traces' && { rows: 'traces' as const }) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (fault === undefined) onSave(panelOfDraft(draft, panel))
  }
  const written = (name: 'title' | 'field' | 'byField' | 'filter', label: string, placeholder: string) => (
    <label className="field wide">
      <span>{label}</span>
      <Input
        value={draft[name]}
        placeholder={placeholder}
        maxLength={name === 'title' ? maxTitle : 200}
        spellCheck={false}
        onText={(text) => write(name, text)}
      />
    </label>
  )
  return (
    <Dialog title={heading ?? (panel === undefined ? 'New chart' : 'Edit chart')} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {children}
        {written('title', 'Title', 'Answers per hour')}
        <LabelledChoice
          label="Chart type"
          value={draft.type}
          options={Object.entries(panelTypes)}
          onChange={(type) => set({ type: type as PanelType })}
        />
        {!isOfAllCalls(draft) && (
          <LabelledChoice
            label="Count"
            value={draft.rows}
            options={countedNames}
            onChange={(rows) => set({ rows: rows as RowsOf })}
          />
        )}
        {draft.type !== 'heat' && draft.type !== 'histogram' && (
          <LabelledChoice
            label="Metric"
            value={draft.measure}
            options={[
              ...measureNames.map((name) => [name, measures[draft.rows][name].label] as const),
              ...Object.entries(feedbackMeasures).map(([name, { label }]) => [name, label] as const),
              ['field', 'A field'],
            ]}
            onChange={(measure) => set({ measure })}
          />
        )}
        {isOfField(draft) && written('field', 'Field', 'output.score')}
        {isOfField(draft) && draft.type !== 'histogram' && (
          <LabelledChoice
            label="Aggregation"
            value={draft.as}
            options={fieldAggregates.map((as) => [as, as] as const)}
            onChange={(as) => set({ as })}
          />
        )}
        {isGrouped(draft) && (
          <LabelledChoice
            label="Group by"
            value={draft.by}
            options={groups}
            // Programs name the end user at the root of a trace, tokens and costs are of calls below it.
            onChange={(by) => set({ by, ...(by === 'end_user' && { rows: 'traces' }) })}
          />
        )}
        {isGrouped(draft) && draft.by === 'field' && written('byField', 'Group by field', 'inputs.language')}
        {isGrouped(draft) && draft.by !== '' && (
          <LabelledChoice
            label="Then by"
            value={draft.by2}
            options={[
              ...groups.filter(([by]) => by !== 'field' && by !== draft.by),
              ...(isListed(draft.by2) ? [] : [[draft.by2, draft.by2] as const]),
            ]}
            onChange={(by2) => set({ by2 })}
          />
        )}
        {!isOfAllCalls(draft) && written('filter', 'Filter', 'op:answer  latency>2s')}
        <DialogActs onClose={onClose}>
          <span className="second" role="status">
            {fault}
          </span>
          <button type="submit" className="first" disabled={fault !== undefined || isBusy}>
            Save
          </button>
        </DialogActs>
      </form>
    </Dialog>
  )
}

type ChoiceProps = {
  label: string
  value: string
  options: readonly (readonly [value: string, name: string])[]
  onChange(value: string): void
}

export const LabelledChoice = ({ label, value, options, onChange }: ChoiceProps) => (
  <label className="field wide">
    <span>{label}</span>
    <Select value={value} of={options} onValue={onChange} />
  </label>
)
