// Tokens of captured requests, worked out from what the model of the capture said: it asks for a tool, then it answers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

type Row = { op_name: string; summary: { usage: Record<string, Record<string, number>> } }
const folder = join(import.meta.dirname, '../golden/otel')
const usagesOf = (capture: string) =>
  (JSON.parse(readFileSync(join(folder, `${capture}.expected.json`), 'utf8')) as Row[]).flatMap(
    ({ op_name, summary }) =>
      Object.entries(summary.usage).map(([model, { input_tokens, output_tokens, total_tokens, ...counts }]) => [
        op_name.replace(/^.*\/op\/|:.*$/g, ''),
        model,
        input_tokens,
        output_tokens,
        total_tokens,
        counts.cache_read_input_tokens ?? 0,
      ]),
  )

/** Name, model, input, output, both, and what of the input was cached. The first request has 110 and 15, the second 130 and 9. */
it.each(
  Object.entries({
    'pydantic-ai-1': [
      ['chat_gpt-4o', 'gpt-4o-2024-08-06', 110, 15, 125, 0],
      ['chat_gpt-4o', 'gpt-4o-2024-08-06', 130, 9, 139, 100],
      // It names no model.
      ['agent_run', 'usage', 240, 24, 264, 100],
    ],
    sentry: [
      ['chat_gpt-4o', 'gpt-4o-2024-08-06', 110, 15, 125, 0],
      ['chat_gpt-4o', 'gpt-4o-2024-08-06', 130, 9, 139, 100],
    ],
    strands: [
      ['chat', 'gpt-4o', 110, 15, 125, 0],
      ['chat', 'gpt-4o', 130, 9, 139, 100],
      // The sum of both, of which the agent counts nothing for itself.
      ['invoke_agent_forecaster', 'gpt-4o', 240, 24, 264, 100],
    ],
    // The second time Gemini thinks 4 tokens, which it counts beside the 9, and the span among them.
    'google-adk': [
      ['generate_content_gemini-2.5-flash', 'gemini-2.5-flash', 110, 15, 125, 0],
      ['generate_content_gemini-2.5-flash', 'gemini-2.5-flash', 130, 13, 143, 100],
    ],
    langsmith: [
      ['chatopenai', 'gpt-4o-2024-08-06', 110, 15, 125, 0],
      ['chatopenai', 'gpt-4o-2024-08-06', 130, 9, 139, 100],
    ],
  }),
)('%s', (capture, expected) => {
  expect(usagesOf(capture)).toEqual(expected)
})
