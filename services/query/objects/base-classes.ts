// Reads the base classes that the live versions of a name have: the write path asks for them before it binds a name.

import type { BoundName, ReadBaseClasses } from '../../content/name-binding.ts'
import { type Freshness, latestOfLog } from '../../core/log/freshness.ts'
import { param, sql } from '../../core/store/sql.ts'
import { type Query, type Store, StoreError } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'

export const baseClassesQuery = ({ projectId, kind, objectId }: BoundName): Query =>
  projectQuery('objects.base-classes', projectId, (project) => {
    const where = sql`object_id = ${param('String', objectId)} AND kind = ${param('String', kind)}`
    return sql`SELECT DISTINCT base_object_class FROM (
      SELECT argMaxIf(base_object_class, clock, event = 'created') AS base_object_class
      ${project.from('object_events', { where })}
      GROUP BY digest HAVING maxIf(clock, event = 'created') > maxIf(clock, event = 'deleted')
    )`
  })

/** A write is not refused because reading is slow or down: the answer is null then. */
export const createBaseClasses =
  ({ store, freshness }: { store: Pick<Store, 'rows'>; freshness: Freshness }): ReadBaseClasses =>
  async (name, signal) => {
    const stale = await freshness.wait(latestOfLog(signal), ['objects'])
    if (Object.keys(stale).length > 0) return null
    try {
      const rows = await store.rows<{ base_object_class: string }>(baseClassesQuery(name), { signal })
      return rows.map((row) => row.base_object_class)
    } catch (error) {
      if (error instanceof StoreError && ['outage', 'timeout', 'busy'].includes(error.kind)) return null
      throw error
    }
  }
