// Which project the spans of a resource go to: the header, or the attributes of the resource (OTLP, section 1).
import { lookup } from './expand.ts'
import { textOf } from './find.ts'
import type { Branch } from './values.ts'

export const projectHeader = 'project_id'

/** `<entity>/<project>` of the first vendor namespace that names both, null when none does or a name is malformed. */
export function projectOfResource(resource: Branch, vendorNamespaces: readonly string[]): string | null {
  for (const vendor of vendorNamespaces) {
    const entity = textOf(lookup(resource, [vendor, 'entity']))
    const project = textOf(lookup(resource, [vendor, 'project']))
    if (entity !== '' && project !== '')
      return entity.includes('/') || project.includes('/') ? null : `${entity}/${project}`
  }
  return null
}
