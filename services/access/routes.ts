// Routes of the directory: users, grants, keys and holds.
import type { Route } from '../core/http/route.ts'
import { type AccessDeps, accessParts } from './changes.ts'
import { grantRoutes } from './grants.ts'
import { holdRoutes } from './holds.ts'
import { keyRoutes } from './keys.ts'
import { ownKeyRoutes } from './own-keys.ts'
import { userRoutes } from './users.ts'

export function createAccessRoutes(deps: AccessDeps): Route[] {
  const parts = accessParts(deps)
  return [
    ...userRoutes(parts),
    ...grantRoutes(parts),
    ...keyRoutes(parts),
    ...ownKeyRoutes(parts),
    ...holdRoutes(parts),
  ]
}
