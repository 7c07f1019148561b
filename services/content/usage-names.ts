// Spellings of counts in usages: the names of the Weave SDKs, which are added, and those of providers' own APIs, of
// which the first counts where there are none of the others (clickhouse/migrations/0045_billed_names.sql has the same).

type Spelling = { added: readonly string[]; others: readonly string[] }

/** Google's REST API and its SDK, Bedrock's Converse and its metrics, Vercel AI SDK 4 and later, watsonx. */
export const usageSpellings = {
  input: {
    added: ['prompt_tokens', 'input_tokens'],
    others: [
      'promptTokenCount',
      'prompt_token_count',
      'inputTokens',
      'inputTokenCount',
      'input_token_count',
      'promptTokens',
    ],
  },
  output: {
    added: ['completion_tokens', 'output_tokens'],
    others: [
      'candidatesTokenCount',
      'candidates_token_count',
      'outputTokens',
      'outputTokenCount',
      'generated_token_count',
      'completionTokens',
    ],
  },
  total: { added: ['total_tokens'], others: ['totalTokenCount', 'total_token_count', 'totalTokens'] },
} as const satisfies Record<string, Spelling>

/** @param count the number under a name, 0 where there is none */
export function spelled(of: keyof typeof usageSpellings, count: (name: string) => number): number {
  const { added, others }: Spelling = usageSpellings[of]
  const sum = added.reduce((all, name) => all + count(name), 0)
  if (sum !== 0) return sum
  for (const name of others) {
    const found = count(name)
    if (found > 0) return found
  }
  return 0
}
