// The form of a row in the table of message dialects.

export type PartForm = {
  /** Kind of the content: `compaction` is the summary of earlier messages, `json` is shown as it is. */
  is: 'text' | 'reasoning' | 'refusal' | 'compaction' | 'call' | 'answer' | 'media' | 'json'
  /** Words of its type; of `-`, `.` and `_` one is as good as another. */
  types?: readonly string[]
  /** Members of which one holds it, where no type says what it is. */
  in?: readonly string[]
  /** A path where something must be, or this value. */
  where?: readonly [path: string, value?: unknown]
  /** Path of its value, where it is not under one of the usual names. */
  at?: string
  /** Role of the content, whatever message it is in. */
  role?: 'system' | 'user'
}

/** Names are looked up in the order of the rows. Paths have `/` between their names. */
export type Dialect = {
  /** Its golden file is test/golden/conversations/<name>.json. */
  name: string
  /** Publication of its form. */
  source: string
  /** Its words for roles, names of types, classes and events, in small letters. */
  roles?: Readonly<Record<string, 'system' | 'user' | 'assistant' | 'tool'>>
  /** Paths of the messages to a model, and of its answer. */
  asked?: readonly string[]
  answered?: readonly string[]
  /** Places of earlier content: instructions, and earlier messages. */
  system?: readonly string[]
  history?: readonly string[]
  /** A text that the user says where there is no list of messages. */
  prompt?: readonly string[]
  /** Members beside a text, of which one says that a model wrote it. */
  ended?: readonly string[]
  /** Members that hold the message itself. */
  wraps?: readonly string[]
  /** Members of a message: what it says, what was thought before, calls of tools, further lists of parts. */
  content?: readonly string[]
  thought?: readonly string[]
  calls?: readonly string[]
  also?: readonly string[]
  parts?: readonly PartForm[]
  /** Members of parts. */
  text?: readonly string[]
  callId?: readonly string[]
  answerId?: readonly string[]
  toolName?: readonly string[]
  arguments?: readonly string[]
  result?: readonly string[]
}
