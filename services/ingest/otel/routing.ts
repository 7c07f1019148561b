// Chooses the project of a resource's spans: the header, the attributes of the resource, or the key (OTLP, section 1).
import type { Caller } from '../../core/http/route.ts'
import { lookup } from './expand.ts'
import { textOf } from './find.ts'
import { projectAttribute, projectNamed } from './senders.ts'
import type { Branch } from './values.ts'

export const projectHeader = 'project_id'

export type RoutingOptions = {
  otelVendorNamespaces: readonly string[]
  /** Attribute of the resource whose value names a project of the key's entity, such as service.name. */
  otelProjectAttribute: string
}

/** `<entity>/<project>` of the first vendor namespace that names both, null when none does or a name is malformed. */
function namedByVendor(resource: Branch, vendorNamespaces: readonly string[]): string | null {
  for (const vendor of vendorNamespaces) {
    const entity = textOf(lookup(resource, [vendor, 'entity']))
    const project = textOf(lookup(resource, [vendor, 'project']))
    if (entity !== '' && project !== '')
      return entity.includes('/') || project.includes('/') ? null : `${entity}/${project}`
  }
  return null
}

/** The project of a resource that no header names; null when nothing says it. */
export function projectOfResource(
  resource: Branch,
  { otelVendorNamespaces, otelProjectAttribute }: RoutingOptions,
  caller: Pick<Caller, 'entity' | 'onlyProject'>,
): string | null {
  const named = namedByVendor(resource, otelVendorNamespaces)
  if (named !== null) return named
  if (otelProjectAttribute !== '') {
    const project = projectNamed(textOf(lookup(resource, otelProjectAttribute.split('.'))), caller)
    if (project !== null) return project
  }
  // Phoenix names one always, "default" where nobody did: that does not count against a key of one project.
  return caller.onlyProject ?? projectNamed(textOf(lookup(resource, projectAttribute.split('.'))), caller)
}
