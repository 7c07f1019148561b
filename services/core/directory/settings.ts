// Changes of what is set for a project or an entity.
import type { Change } from './directory.ts'
import { scopedKey, type Value } from './items.ts'
import type { DirectoryState } from './state.ts'

/** The item with the members that are given; the others stay. @param scope `acme` or `acme/app` */
export function settingChange(
  { projects, entities }: DirectoryState,
  scope: string,
  value: Value<'project'> | Value<'entity'>,
): Change {
  const kind = scope.includes('/') ? 'project' : 'entity'
  const before = (kind === 'project' ? projects : entities).get(scope)
  return { key: scopedKey(kind, scope), value: { ...before, ...value } }
}
