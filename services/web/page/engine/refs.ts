// Refs of recorded things, `weave:///entity/project/kind/name:version/…`, as far as the page has a place for them.

export type Ref = {
  entity: string
  project: string
  kind: 'call' | 'object' | 'op' | 'table'
  /** Name of an object or op, id of a call, digest of a table. */
  name: string
  /** Version of objects and ops; undefined for all versions. */
  version: string | undefined
}

const form = /^weave:\/\/\/([^/\s?#]+)\/([^/\s?#]+)\/(call|object|op|table)\/([^/\s?#]+)(?:[/?#]\S*)?$/

function plain(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function parsedRef(text: string): Ref | undefined {
  const [, entity = '', project = '', kind, rest = ''] = form.exec(text) ?? []
  if (kind === undefined) return undefined
  const own = { entity: plain(entity), project: plain(project), kind: kind as Ref['kind'] }
  if (kind === 'call' || kind === 'table') return { ...own, name: plain(rest), version: undefined }
  const colon = rest.lastIndexOf(':')
  const [name, version] = colon < 0 ? [rest, ''] : [rest.slice(0, colon), rest.slice(colon + 1)]
  if (name === '') return undefined
  return { ...own, name: plain(name), version: version === '' || version === '*' ? undefined : plain(version) }
}

export type OpVersion = { objectId: string; digest: string }

/** The version of an op of this project that a call names; undefined for plain names and ops of other projects. */
/** Digest of the op objects of spans, which come without source code (content/op-objects.ts). */
export const digestWithoutSource = 'sv75tbuMv7SVFFoqD1xIGW2c6Jp2eYmJeGXwCPx8NGM'

/** The op of a call whose source code is stored. */
export function opVersionOf(projectId: string, opName: string): OpVersion | undefined {
  const ref = parsedRef(opName)
  if (ref?.kind !== 'op' || ref.version === undefined || `${ref.entity}/${ref.project}` !== projectId) return undefined
  if (ref.version === digestWithoutSource) return undefined
  return { objectId: ref.name, digest: ref.version }
}
