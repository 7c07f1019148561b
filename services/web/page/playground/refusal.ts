// Messages of the server or a provider when it refuses a request to a model.

export type RunRefusal = {
  message: string
  /** The name of an API key that the server does not have. */
  secret: string | null
}

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** @param text of the answer, JSON or not */
export function runRefusalOf(text: string): RunRefusal {
  try {
    const { error, reason, detail, api_key } = membersOf(JSON.parse(text))
    const { message, code } = membersOf(error)
    const first = Array.isArray(detail) ? membersOf(detail[0]).msg : detail
    const secret = code === 'missing_secret' && typeof api_key === 'string' ? api_key : null
    return { message: String(message ?? reason ?? first ?? text), secret }
  } catch {
    return { message: text, secret: null }
  }
}
