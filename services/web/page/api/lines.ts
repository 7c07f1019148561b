// JSON Lines as they come, parsed one by one: only what the caller keeps of each record stays.

/** @throws what the stream throws; lines that came before were given */
export async function eachLine(response: Response, use: (record: Record<string, unknown>) => void): Promise<void> {
  if (response.body === null) return
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
    let from = 0
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', from)) {
      if (end > from) use(JSON.parse(rest.slice(from, end)) as Record<string, unknown>)
      from = end + 1
    }
    rest = rest.slice(from)
    if (done) break
  }
  if (rest.trim() !== '') use(JSON.parse(rest) as Record<string, unknown>)
}
