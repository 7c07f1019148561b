// Routes of the directory: users, grants, keys and holds.
import type { Route } from '../core/http/route.ts'
import { type AccessDeps, createChanges } from './changes.ts'
import { createHoldRoutes } from './holds.ts'
import { createKeyRoutes } from './keys.ts'
import { createUserRoutes } from './users.ts'

export function createAccessRoutes(deps: AccessDeps): Route[] {
  const change = createChanges(deps)
  return [...createUserRoutes(deps, change), ...createKeyRoutes(deps, change), ...createHoldRoutes(deps, change)]
}
