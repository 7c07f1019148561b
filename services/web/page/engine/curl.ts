// A request to the server as a line for a shell. The key is the variable KEY of that shell, never a key.

/** The text quoted for a shell as one word. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** @param body JSON text; none = no body */
export function curlOf(address: URL, method: string, body?: string): string {
  const parts = ['curl -sS', ...(method === 'GET' ? [] : [`-X ${method}`]), quoted(address.href)]
  parts.push('-H "Authorization: Bearer $KEY"')
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(body)}`)
  return parts.join(' ')
}
