// Tables that routes declare and read in some cases only.

/** Deletes of more calls than were asked for, costs of calls whose header does not tell their usage, spans below others with usage, looks at what is held. */
export const seldom: Record<string, string[]> = {
  'feedback.purge': ['calls', 'call_keys', 'call_patches'],
  'feedback.replace': ['feedback', 'calls', 'call_keys', 'call_patches'],
  'calls.delete': ['calls_deleted'],
  'logs.query': ['calls', 'call_keys'],
  'erasures.create': ['calls_deleted', 'feedback_by_ref', 'orphan_roots'],
  'calls.usage': ['payloads', 'usage_shares'],
  'traces.usage': ['usage_shares'],
}
