// Marks in the raw span of a call, each in place of a text that another payload of the same row holds.

// Texts are stored without carriage returns, so what follows one is a mark. With it the text is still JSON.
const lead = '\r'

/** By what a mark stands for. */
export const marks = {
  /** The value of the only member of inputs, or of output. */
  inputsMember: `${lead}1`,
  inputs: `${lead}2`,
  outputMember: `${lead}3`,
  output: `${lead}4`,
  attributes: `${lead}5`,
} as const

/** First character of every mark. */
export const markLead = lead
