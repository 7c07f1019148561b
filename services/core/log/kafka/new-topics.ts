// Errors of brokers while a topic is new: it takes them a moment until they know it, and longer until it has a leader.

const types = new Set<unknown>(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'])

const isAboutNewTopic = (error: unknown): boolean =>
  error instanceof Error && (types.has((error as { type?: unknown }).type) || isAboutNewTopic(error.cause))

/**
 * Whether a step that needs the topic is worth another attempt. kafkajs says of what it has tried some times itself that
 * it is not to be tried again, also when the topic is merely new.
 */
export const mayPassForNewTopic = (error: unknown): boolean =>
  (error as { retriable?: unknown }).retriable === true || isAboutNewTopic(error)
