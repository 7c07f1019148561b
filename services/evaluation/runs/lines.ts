// JSON Lines of records that are read as they are written out: a few at a time, whatever their number.
import type { CallTexts } from './calls.ts'

/** Records of one chunk; fewer when they are large. */
const maxRecords = 200
const maxCharacters = 2 ** 20

/** @param textsOf records of some calls, as JSON texts in their order */
export async function* linesOf(
  calls: AsyncIterable<CallTexts>,
  textsOf: (some: readonly CallTexts[]) => Promise<string[]>,
): AsyncGenerator<string> {
  let some: CallTexts[] = []
  let size = 0
  const take = async () => {
    const texts = await textsOf(some)
    some = []
    size = 0
    return texts.map((text) => `${text}\n`).join('')
  }
  for await (const call of calls) {
    some.push(call)
    size += call.inputs.length + call.output.length + call.attributes.length + call.summary.length
    if (some.length >= maxRecords || size >= maxCharacters) yield await take()
  }
  if (some.length > 0) yield await take()
}
