// Agent dashboards: rebuilt with defaults and class data, closed to unknown keys.
import { describe, expect, it } from 'vitest'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { createCall } from '../fixtures/route-call.ts'

const binding = createNameBinding(async () => [])

async function create(definition: unknown, more: Record<string, unknown> = {}) {
  const log = createMemoryLog()
  const config = { allowPrivateNetworks: false }
  const call = createCall(createObjectWriteRoutes({ log, clock: createClock(), binding, config }))
  const obj = { project_id: 'e/p', object_id: 'x', val: { label: 'l', definition, ...more } }
  const answer = await call('/obj/create', { json: { obj: { ...obj, builtin_object_class: 'AgentDashboard' } } })
  return { status: answer.status, val: log.rows('objects')[0]?.val as Record<string, unknown> | undefined }
}

const layout = { x: 0, y: 0, w: 24, h: 1 }
const panel = (panel_type: string, query: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => ({
  id: 'a',
  layout,
  panel_type,
  settings: { query: { metric: 'calls', ...query } },
  ...more,
})
const named = (name: string, ...above: string[]) => ({
  _type: name,
  _class_name: name,
  _bases: [...above, 'DashboardConfigModel', 'BaseModel'],
})

describe('a dashboard', () => {
  it('gets defaults and class data in every part', async () => {
    const { status, val } = await create(
      { panels: [panel('kpi'), panel('timeline', { limit: 50 }), panel('breakdown', { groupBy: 'op' })] },
      { surplus: 1 },
    )
    expect(status).toBe(200)
    const shared = { version: 1, metric: 'calls', filter: '', format: null }
    const shown = (name: string, query: Record<string, unknown>) => ({
      id: 'a',
      layout: { ...layout, ...named('PanelGridLayout') },
      panel_type: name.toLowerCase(),
      settings: {
        query: { ...shared, ...query, ...named(`${name}PanelQueryConfig`, 'PanelQueryConfig') },
        title: null,
        ...named(`${name}PanelSettings`),
      },
      ...named(`${name}DashboardPanel`, 'DashboardPanelBase'),
    })
    expect(val).toEqual({
      name: null,
      description: null,
      label: 'l',
      definition: {
        panels: [
          shown('Kpi', {}),
          shown('Timeline', { groupBy: null, limit: 50 }),
          shown('Breakdown', { groupBy: 'op', limit: 6 }),
        ],
        ...named('AgentDashboardDefinition'),
      },
      _type: 'AgentDashboard',
      _class_name: 'AgentDashboard',
      _bases: ['BaseObject', 'BaseModel'],
    })
  })

  it.each([
    [{}],
    [{ panels: [], more: 1 }],
    [{ panels: {} }],
    [{ panels: [1] }],
    [{ panels: [panel('pie')] }],
    [{ panels: [panel('kpi', { limit: 3 })] }],
    [{ panels: [panel('kpi', { version: 2 })] }],
    [{ panels: [panel('kpi', { metric: '' })] }],
    [{ panels: [panel('kpi', { format: 'bytes' })] }],
    [{ panels: [panel('timeline', { limit: 51 })] }],
    [{ panels: [panel('timeline', { limit: '5' })] }],
    [{ panels: [panel('breakdown')] }],
    [{ panels: [panel('breakdown', { groupBy: 'op', limit: 0 })] }],
    [{ panels: [panel('kpi', {}, { id: '' })] }],
    [{ panels: [panel('kpi', {}, { extra: null })] }],
    [{ panels: [panel('kpi', {}, { layout: { ...layout, x: 1 } })] }],
    [{ panels: [panel('kpi', {}, { layout: { ...layout, x: -1 } })] }],
    [{ panels: [panel('kpi', {}, { layout: { ...layout, h: 0 } })] }],
    [{ panels: [panel('kpi', {}, { layout: { ...layout, y: 0.5 } })] }],
    [null],
  ])('%# that does not fit is refused with 400', async (definition) => {
    expect(await create(definition)).toEqual({ status: 400, val: undefined })
  })
})
