// The builtin class AgentDashboard: panels on a grid of 24 columns, each closed to keys that it does not know.

import { fault } from '../../core/http/errors.ts'
import { members } from '../../core/json/canonical.ts'
import {
  array,
  defaulted,
  integerShape,
  model,
  oneOf,
  optional,
  required,
  type Shape,
  type ShapeField,
  string,
  where,
} from './shapes.ts'

const gridColumns = 24

const closed = (name: string, fields: Record<string, ShapeField>, above: readonly string[] = []): Shape =>
  model({ name, bases: [...above, 'DashboardConfigModel', 'BaseModel'], fields, unknown: 'refuse' })

const between = (least: number, most: number): Shape =>
  where(integerShape, (value: number) => value >= least && value <= most, `an integer from ${least} to ${most}`)
const filled = where(string, (value: string) => value !== '', 'a non-empty string')

const gridLayout = closed('PanelGridLayout', {
  x: required(between(0, gridColumns - 1)),
  y: required(between(0, Number.MAX_SAFE_INTEGER)),
  w: required(between(1, gridColumns)),
  h: required(between(1, Number.MAX_SAFE_INTEGER)),
})

const layout: Shape = (text, at) => {
  const kept = gridLayout(text, at)
  const sent = members(text)
  if (Number(sent?.get('x')) + Number(sent?.get('w')) > gridColumns)
    throw fault(400, `${at} reaches beyond the ${gridColumns} columns of the grid`)
  return kept
}

const queries: Record<string, Record<string, ShapeField>> = {
  Kpi: {},
  Timeline: { groupBy: optional(string), limit: optional(between(1, 50)) },
  Breakdown: { groupBy: required(filled), limit: defaulted(between(1, 50), '6') },
}

const panelOf = (name: string): Shape => {
  const query = closed(
    `${name}PanelQueryConfig`,
    {
      version: defaulted(between(1, 1), '1'),
      metric: required(filled),
      filter: defaulted(string, '""'),
      format: optional(oneOf('number', 'percent', 'cost', 'duration')),
      ...queries[name],
    },
    ['PanelQueryConfig'],
  )
  return closed(
    `${name}DashboardPanel`,
    {
      id: required(filled),
      layout: required(layout),
      panel_type: required(oneOf(name.toLowerCase())),
      settings: required(closed(`${name}PanelSettings`, { query: required(query), title: optional(string) })),
    },
    ['DashboardPanelBase'],
  )
}

const panels = new Map(Object.keys(queries).map((name) => [`"${name.toLowerCase()}"`, panelOf(name)]))

const panel: Shape = (text, at) => {
  const shape = panels.get(members(text)?.get('panel_type') ?? '')
  if (shape === undefined) throw fault(400, `${at}.panel_type must be one of kpi, timeline, breakdown`)
  return shape(text, at)
}

export const agentDashboard: Shape = model({
  name: 'AgentDashboard',
  bases: ['BaseObject', 'BaseModel'],
  fields: {
    name: optional(string),
    description: optional(string),
    label: required(string),
    definition: required(closed('AgentDashboardDefinition', { panels: required(array(panel)) })),
  },
})
