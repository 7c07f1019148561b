// Comments without a subject: a comment has a subject and a verb, or is a noun phrase that names the thing.

const rooms = /^(?:services|schemas|scripts)\//

/** Folders whose comments are older than the rule. The list only becomes shorter. */
const earlier = ['services/web/page/calls/', 'services/worker/calls/']

/** First words of clauses and participles that say nothing of their subject. Others, such as "Where", begin sentences too. */
const withoutSubject = /^(?:What|Which|Whose|Whom|Who|How|Why|Told|Asked|Of)\b/

/** First lines of comments, without the marks. A line after another line of the same comment is none. */
function firstLines(text: string): { line: number; comment: string }[] {
  const lines = text.split('\n')
  return lines.flatMap((one, at) => {
    const before = lines[at - 1] ?? ''
    const [, slashes] = /^\s*\/\/ (.*)$/.exec(one) ?? []
    if (slashes !== undefined) return /^\s*\/\//.test(before) ? [] : [{ line: at + 1, comment: slashes }]
    const [, starred] = /^\s*\/\*\* (.*)$/.exec(one) ?? []
    if (starred !== undefined) return [{ line: at + 1, comment: starred }]
    const [, inner] = /^\s*\/\*\*\s*$/.test(before) ? (/^\s*\* (.*)$/.exec(one) ?? []) : []
    return inner === undefined ? [] : [{ line: at + 1, comment: inner }]
  })
}

/** One line for each comment without a subject. @param sources text of each file by its path */
export function commentFaults(sources: ReadonlyMap<string, string>): string[] {
  return [...sources]
    .filter(([file]) => rooms.test(file) && !earlier.some((folder) => file.startsWith(folder)))
    .flatMap(([file, text]) =>
      firstLines(text)
        .filter(({ comment }) => withoutSubject.test(comment))
        .map(({ line, comment }) => `${file}:${line} begins with "${comment.slice(0, 30)}": name the subject`),
    )
}
