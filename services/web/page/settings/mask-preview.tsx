// Preview of rules on a text, while they are written; nothing of it is stored.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { json } from '../api/client.ts'
import { count } from '../engine/format.ts'
import { Fault, TextField } from '../parts/forms.tsx'
import type { Shapes } from '../routes.gen.ts'

type Rules = Shapes['masking.update']['in']

const example = `{
  "question": "Where is order ACME-123456? Write to ann@example.com",
  "card": "4111 1111 1111 1111",
  "api_key": "sk-proj-0123456789abcdefghijklmnop"
}`
const pauseMs = 250

/** The value that stays the same while somebody types. */
function useSettled<Value>(value: Value, text: string): Value {
  const [settled, setSettled] = useState(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: its text says when it is another one
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

function contentOf(text: string): { value: unknown } | { text: string } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { value } : { text }
  } catch {
    return { text }
  }
}

export function MaskPreview({ projectId, rules }: { projectId: string; rules: Rules }) {
  const [text, setText] = useState(example)
  const now = { project_id: projectId, rules: { ...rules, mode: 'on' as const }, ...contentOf(text) }
  const asked = useSettled(now, JSON.stringify(now))
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['settings', 'mask preview', JSON.stringify(asked)],
    queryFn: ({ signal }) => json('masking.preview', asked, { signal }),
    placeholderData: (before) => before,
    retry: false,
    enabled: text.trim() !== '',
  })
  const shown = data?.text ?? (data && JSON.stringify(data.value, null, 2)) ?? ''
  const hits = Object.entries(data?.hits ?? {})
  return (
    <section className="part" aria-labelledby="preview">
      <h2 id="preview">Try it</h2>
      <div className="preview">
        <TextField
          label="A text or JSON"
          hint="Treated as the inputs of a call. Nothing is stored."
          rows={8}
          spellCheck={false}
          value={text}
          onText={setText}
        />
        <div className="set-field">
          <strong id="stored">What is stored</strong>
          <pre tabIndex={0} role="group" aria-labelledby="stored" className={isPlaceholderData ? 'pale' : ''}>
            {error ? '' : shown}
          </pre>
          <p role="status" className="tags">
            {!error &&
              hits.map(([id, times]) => (
                <span key={id} className="tag">
                  <code>{id}</code> {count(times)}
                </span>
              ))}
            {!error && data && hits.length === 0 && <span className="second">No rule matches.</span>}
          </p>
        </div>
      </div>
      <Fault error={error} />
    </section>
  )
}
