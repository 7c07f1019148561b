// Redirects the links that published SDKs print: the page's own paths for calls, ops, objects, evaluations and
// projects.

const segment = (text: string): string => encodeURIComponent(text)

/**
 * @param rest what follows `/weave/` of the link; '' for the project itself
 * @returns a path below the page's base, without a slash at its beginning
 */
export function pagePathOf(entity: string, project: string, rest: string): string {
  const home = `p/${segment(entity)}/${segment(project)}`
  const [kind = '', name, , digest] = rest.split('/')
  if (kind === 'calls' || kind === 'traces') return name ? `${home}/calls/${segment(name)}` : `${home}/calls`
  const version = `${segment(name ?? '')}/${segment(digest || 'latest')}`
  if (kind === 'ops' && name) return `${home}/objects/${version}?op=1`
  if (kind === 'objects' && name) return `${home}/objects/${version}`
  if (kind === 'leaderboards' || kind === 'evaluations') return `${home}/evaluations`
  return `${home}/calls`
}

export const callPathOf = (entity: string, project: string, id: string): string =>
  `p/${segment(entity)}/${segment(project)}/calls/${segment(id)}`
