// Dashboards of a project's own: objects of the class `CallhouseDashboard`, whose versions are what they were before.

import {
  type Board,
  boardClass,
  boardTitle,
  cutText,
  fieldAsked,
  groupNamesOf,
  groupsOf,
  maxTitle,
  type Panel,
  type PanelType,
  panelTypes,
  rankedGroups,
} from '../engine/boards.ts'
import { parsed } from '../engine/calls-search.ts'
import { sentNameOf } from '../engine/completion.ts'
import { maxGroups } from './figures.ts'
import { heatAsked } from './heat.ts'
import { boundsAsked } from './histogram.ts'
import { fieldOf, isOfFeedback, measureNamed } from './measures.ts'

/** `others` are charts that this page cannot show: they stay in the object. */
export type OwnBoard = Board & { id: string; others: readonly unknown[] }

export const maxPanels = 30

/** Charts used to keep the last path of a name that programs send, which has two. */
function groupOf(stored: unknown): string | undefined {
  const by = cutText(stored, 200)
  return by?.startsWith('attributes.otel_span.attributes.') ? sentNameOf(by) : by
}

/** A chart as it is stored; undefined where this page cannot show it. */
function panelOf(stored: unknown): Panel | undefined {
  const { title, type, measure, group_by, filter, size } = (stored ?? {}) as Record<string, unknown>
  const [by, by2] = Array.isArray(group_by) ? group_by : []
  const known = cutText(measure, 220)
  if (typeof type !== 'string' || !Object.hasOwn(panelTypes, type)) return undefined
  if (known === undefined || (measureNamed(known) === undefined && !isOfFeedback(known))) return undefined
  // Numbers of a field alone have ranges.
  if (type === 'histogram' && fieldOf(known) === undefined) return undefined
  // Without its filter it would show something else.
  if (filter !== undefined && (typeof filter !== 'string' || parsed(filter).fault)) return undefined
  return {
    title: cutText(title, maxTitle) ?? 'Chart',
    type: type as PanelType,
    measure: known,
    by: groupOf(by),
    by2: groupOf(by2),
    filter: filter || undefined,
    isWide: size === 12,
  }
}

export function boardOf(id: string, value: unknown): OwnBoard {
  const { charts } = (value ?? {}) as Record<string, unknown>
  const all = (Array.isArray(charts) ? charts : []).map((stored) => ({ stored, panel: panelOf(stored) }))
  const panels = all.flatMap(({ panel }) => panel ?? [])
  const others = all.flatMap(({ stored, panel }) => (panel === undefined ? [stored] : []))
  return { id, title: boardTitle(id, value), panels, others }
}

/** The request of a chart; of feedback there is none. */
function requestOf({ type, measure, by, by2, filter }: Panel): object | undefined {
  if (isOfFeedback(measure)) return undefined
  const counts = parsed(filter).rows === 'traces' && { count: 'traces' }
  if (type === 'heat') return { ...heatAsked, ...counts }
  if (type === 'histogram') return { metrics: boundsAsked(fieldAsked(fieldOf(measure) ?? '')), ...counts }
  const groups = by !== undefined && {
    group_by: groupsOf({ by, by2 }),
    top: type === 'table' ? rankedGroups : maxGroups,
  }
  return { metrics: measureNamed(measure)?.asked ?? [], ...groups, ...counts }
}

/** A dashboard with the request of each chart in the form of POST /calls/aggregate, for other programs. */
export const storedBoard = ({ title, panels, others }: OwnBoard): object => ({
  _type: boardClass,
  _class_name: boardClass,
  _bases: ['Object', 'BaseModel'],
  label: title,
  charts: [
    ...panels.map((panel) => {
      const { title, type, measure, by, by2, filter, isWide } = panel
      const request = requestOf(panel)
      return {
        title,
        type,
        measure,
        group_by: groupNamesOf({ by, by2 }),
        filter: filter ?? '',
        size: isWide ? 12 : 6,
        ...(request && { request }),
      }
    }),
    ...others,
  ],
})
