// Names of objects as the server takes them: what is wrong with one that is typed, and one that would be right.

const maxLength = 120

/** The nearest name that is one; '' where nothing of it is left. */
const nameNear = (typed: string): string =>
  typed
    .trim()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\w.-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, maxLength)

/** Undefined for a name that can be taken, and for nothing yet. */
export function nameFault(typed: string, taken: readonly string[] = []): string | undefined {
  if (typed === '') return undefined
  if (taken.includes(typed)) return 'This name is already used'
  if (typed.length > maxLength) return `Use at most ${maxLength} characters`
  if (/^[\w.-]*\w[\w.-]*$/.test(typed)) return undefined
  const near = nameNear(typed)
  return `Use letters A to Z, digits, ".", "_" and "-" only${/\w/.test(near) ? `, such as ${near}` : ''}`
}
