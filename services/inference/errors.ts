// Faults of the inference routes: the body that OpenAI clients read, merged with the server's own.
import { Fault, type FaultStatus } from '../core/http/errors.ts'

const types: Partial<Record<FaultStatus, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

const typeOf = (status: FaultStatus): string =>
  types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')

export type FaultDetails = {
  code?: string | null
  /** Instead of the one that the status has. */
  type?: string
  param?: string | null
  /** Further members of the body. */
  extra?: Record<string, unknown>
  headers?: Record<string, string>
}

/** The `error` member of a fault's body, which streams send as an event. */
export const errorObject = (
  status: FaultStatus,
  message: string,
  { code = null, param = null, type = typeOf(status) }: FaultDetails = {},
) => ({
  message,
  type,
  param,
  code,
})

export function inferenceFault(status: FaultStatus, message: string, details: FaultDetails = {}): Fault {
  const body = { error: errorObject(status, message, details), reason: message, ...details.extra }
  return new Fault(status, body, details.headers ?? {})
}

/** A fault of another part of the server in the body of these routes; validation failures stay as they are. */
export function asInferenceFault(fault: Fault): Fault {
  if ('error' in fault.body || 'detail' in fault.body) return fault
  const { status, headers, body, message } = fault
  return new Fault(status, { error: errorObject(status, message), ...body, reason: message }, headers)
}
