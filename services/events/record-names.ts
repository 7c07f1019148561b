// Attributes by which senders name the thread and the user of a span or a log record: one table for what reads show, what
// erasures find and what holds keep.

/** Names of the thread of calls. */
export const threadNames = {
  /** Names of a conversation: these go before all others. */
  conversation: ['gen_ai.conversation.id', 'gcp.vertex.agent.session_id'],
  /** Behind the namespace of a vendor. */
  vendor: 'thread_id',
  /** Names of a session: the thread of a span of generative AI that names none of those above. */
  session: [
    'session.id',
    'langfuse.session.id',
    'traceloop.association.properties.session_id',
    'ai.telemetry.metadata.sessionId',
    // LangSmith makes threads of any of these.
    'langsmith.metadata.thread_id',
    'langsmith.metadata.session_id',
    'langsmith.metadata.conversation_id',
  ],
  /** The session of an event of a coding agent, whose call has it as its thread: the first present one counts. */
  agent: ['session.id', 'conversation.id'],
  /** Names of log records alone: no span has its thread by these. */
  records: ['thread_id', 'session_id', 'conversation_id', 'weave.thread_id'],
} as const

/** Names of whom a call is about. */
export const userNames = {
  span: [
    'user.id',
    'enduser.id',
    'langfuse.user.id',
    'traceloop.association.properties.user_id',
    'ai.telemetry.metadata.userId',
  ],
  /** Names of log records alone. */
  records: [
    'user_id',
    'enduser.pseudo.id',
    'user.email',
    'user.name',
    'user.hash',
    'user.account_id',
    'user.account_uuid',
  ],
} as const

const distinct = (all: string[]): string[] => [...new Set(all)]
/** Some senders have `weave` in the place of `gen_ai`. */
const spellings = (name: string): string[] =>
  name.startsWith('gen_ai.') ? [name, name.replace('gen_ai', 'weave')] : [name]

/** Ways to part a name into those of values within each other, joined by line breaks: `a.b.c` may be `b.c` in `a`. */
function pathsOf(name: string): string[] {
  const [first = '', ...rest] = name.split('.')
  return rest.reduce((all, step) => all.flatMap((path) => [`${path}.${step}`, `${path}\n${step}`]), [first]).slice(1)
}

/**
 * The names that a condition looks for, their paths in values that hold others, and all names of attributes that count.
 */
export type RecordNames = { names: string[]; paths: string[]; keys: string[] }

function namesOf(all: readonly string[]): RecordNames {
  const names = distinct(all.flatMap(spellings))
  const paths = distinct(names.flatMap(pathsOf))
  return { names, paths, keys: distinct([...names, ...paths.map((path) => path.slice(0, path.indexOf('\n')))]) }
}

/** Names of the thread of a log record. @param vendors namespaces of attributes */
export function threadNamesOf(vendors: readonly string[]): RecordNames {
  const { conversation, vendor, session, agent, records } = threadNames
  return namesOf([...conversation, ...vendors.map((one) => `${one}.${vendor}`), ...session, ...agent, ...records])
}

/** Names of the user of a log record. */
export const recordUserNames: RecordNames = namesOf([...userNames.span, ...userNames.records])

/**
 * Condition that a log record names one of some values: in its attributes, its resource or its scope, by itself, in a list, or
 * within another value.
 * @param write makes it of its parts, which are parameters
 */
export const recordNames = <Part, Whole>(
  write: (texts: TemplateStringsArray, ...parts: Part[]) => Whole,
  { names, paths, keys, values }: Record<keyof RecordNames | 'values', Part>,
): Whole => write`arrayExists(
    one -> (one.1 IN ${names} AND (one.2 IN ${values}
        OR hasAny(JSONExtract(if(startsWith(one.2, '['), one.2, '[]'), 'Array(String)'), ${values})))
      OR arrayExists(
        path -> hasAny(JSONExtract(if(startsWith(
          arrayFold((json, step) -> JSONExtractRaw(json, step), arrayPopFront(splitByChar(char(10), path)), one.2) AS found, '['),
          found, concat('[', found, ']')), 'Array(String)'), ${values}),
        arrayFilter(path -> startsWith(one.2, '{') AND startsWith(path, concat(one.1, char(10))), ${paths})),
    arrayFilter(one -> one.1 IN ${keys}, arrayConcat(CAST(attributes, 'Array(Tuple(String, String))'),
      CAST(resource, 'Array(Tuple(String, String))'), CAST(scope, 'Array(Tuple(String, String))'))))`
