// Routes of the directory: users, grants and keys.
import type { Route } from '../core/http/route.ts'
import { type AccessDeps, createChanges } from './changes.ts'
import { createKeyRoutes } from './keys.ts'
import { createUserRoutes } from './users.ts'

export function createAccessRoutes(deps: AccessDeps): Route[] {
  const change = createChanges(deps)
  return [...createUserRoutes(deps, change), ...createKeyRoutes(deps, change)]
}
