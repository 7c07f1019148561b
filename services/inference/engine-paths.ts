// Paths of the default engine for every reader of a project: those that the operator listed.

/** One segment that no server in between takes for more than one, or for a step back. */
const plain = /^(?!\.{1,2}$)[^%\\/\p{Cc}]+$/u

/**
 * @param listed `batches`, `batches/*`: a `*` stands for one segment
 * @param path as it was asked for, with its escapes taken away once
 */
export function isEnginePath(listed: readonly string[], path: string): boolean {
  const segments = path.split('/')
  return listed.some((entry) => {
    const wanted = entry.split('/')
    return (
      wanted.length === segments.length &&
      wanted.every((name, i) => (name === '*' ? plain.test(segments[i] as string) : name === segments[i]))
    )
  })
}
