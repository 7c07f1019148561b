// Masks texts that have the form of a ref: what stands in the places of names is looked at, ids and digests stay.
import { encodeRefValue } from '../refs.ts'

/** Ids of calls, digests and versions: what looks like anything in them does so by chance. */
const idForm =
  /^(?:[\da-f]{16}|[\da-f]{32}|[\da-f]{64}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[A-Za-z\d]{43}|v\d{1,9}|latest|\*)$/

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * @param look masks a part; `key`: the name that it would have as a member; `isOwner`: it names an entity or a project
 * @returns null where nothing is found
 */
export function maskRefParts(
  ref: string,
  look: (part: string, key: string, isOwner: boolean) => string | null,
): string | null {
  const lead = ref.indexOf(':///') + 4
  let isMasked = false
  const masked = (part: string, key: string, isOwner: boolean): string => {
    if (part === '' || (key === 'id' && idForm.test(part))) return part
    const text = decoded(part)
    const kept = look(text, key, isOwner)
    if (kept === null) return part
    isMasked = true
    return text === part ? kept : encodeRefValue(kept)
  }
  const [entity = '', project = '', kind = '', ...rest] = ref.slice(lead).split('/')
  const isNamed = kind === 'object' || kind === 'op'
  const parts = rest.map((part, n) => {
    if (!isNamed) return masked(part, 'id', false)
    if (n > 0) return masked(part, rest[n - 1] === 'id' ? 'id' : '', false)
    const [name = '', version = ''] = part.split(':')
    return `${masked(name, '', false)}:${masked(version, 'id', false)}`
  })
  // The third part of an artifact's ref is the id.
  const third = rest.length === 0 ? masked(kind, 'id', false) : kind
  const text = [masked(entity, '', true), masked(project, '', true), third, ...parts].join('/')
  return isMasked ? ref.slice(0, lead) + text : null
}
