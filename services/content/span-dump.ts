// References in the dump of a span, each in place of a text that another payload of the same row holds.

// Texts are stored without carriage returns, so what follows one is a reference. With it the text is still JSON.
const lead = '\r'

/** References by the text that they stand for. */
export const references = {
  /** The value of the only member of inputs, or of output. */
  inputsMember: `${lead}1`,
  inputs: `${lead}2`,
  outputMember: `${lead}3`,
  output: `${lead}4`,
  attributes: `${lead}5`,
} as const

/** First character of every reference. */
export const referenceLead = lead

type Texts = { attributes?: Buffer; inputs?: Buffer; output?: Buffer }

const nothing = Buffer.alloc(0)

/** `{"key":value}` is cut to `value`; keys of such texts hold no quotes. */
const memberOf = (text: Buffer): Buffer => text.subarray(text.indexOf('":') + 2, text.length - 1)

const standsFor: Record<string, (texts: Texts) => Buffer> = {
  [references.inputsMember]: ({ inputs }) => memberOf(inputs ?? nothing),
  [references.inputs]: ({ inputs }) => inputs ?? nothing,
  [references.outputMember]: ({ output }) => memberOf(output ?? nothing),
  [references.output]: ({ output }) => output ?? nothing,
  [references.attributes]: ({ attributes }) => attributes ?? nothing,
}
const referenceLength = references.inputs.length

export const hasReferences = (dump: Buffer): boolean => dump.includes(lead)

/** The raw span as it was received, from texts of one row of payloads. */
export function spliced(dump: Buffer, texts: Texts): Buffer {
  let at = dump.indexOf(lead)
  if (at === -1) return dump
  const pieces: Buffer[] = []
  let from = 0
  for (; at !== -1; at = dump.indexOf(lead, from)) {
    const reference = dump.toString('latin1', at, at + referenceLength)
    const text = standsFor[reference]
    if (text === undefined) throw new Error('a raw span holds an unknown reference')
    pieces.push(dump.subarray(from, at), text(texts))
    from = at + referenceLength
  }
  pieces.push(dump.subarray(from))
  return Buffer.concat(pieces)
}
