// The sources of an answer and the probability of its parts, by the names that providers use.

/** A part of the text, and how likely the model found it. */
export type Token = { text: string; logprob: number }
/** A source of an answer, as its provider names it; without an address it has a title. */
export type Citation = { address: string; title: string }
export type Grounds = { tokens: Token[]; citations: Citation[] }

type Members = Record<string, unknown>
const asObject = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
/** Also one that was kept as it is spelled. */
const asNumber = (value: unknown): number =>
  typeof value === 'number' ? value : Number(asText(asObject(value).rawJSON) || Number.NaN)

const maxTokens = 10_000
const maxCitations = 100

function tokensOf(source: Members): Token[] {
  const { logprobs } = source
  const gemini = asObject(source.logprobsResult ?? source.logprobs_result)
  const all = [
    ...asList(Array.isArray(logprobs) ? logprobs : asObject(logprobs).content),
    ...asList(gemini.chosenCandidates ?? gemini.chosen_candidates),
  ]
  return all.flatMap((one) => {
    const { token, logprob, logProbability, log_probability } = asObject(one)
    const known = asNumber(logprob ?? logProbability ?? log_probability)
    return typeof token === 'string' && !Number.isNaN(known) ? [{ text: token, logprob: known }] : []
  })
}

/** Annotations of OpenAI and Anthropic, chunks of Gemini, lists of addresses or of results that were found. */
function citationsOf(source: Members): Citation[] {
  const found = asObject(source.groundingMetadata ?? source.grounding_metadata)
  const cited = asObject(source.citationMetadata ?? source.citation_metadata)
  const all = [
    source.annotations,
    source.search_results,
    source.citations,
    found.groundingChunks ?? found.grounding_chunks,
    cited.citationSources ?? cited.citations,
  ].flatMap(asList)
  return all.flatMap((one) => {
    const { url_citation, web, retrievedContext, retrieved_context, ...own } = asObject(one)
    const source = asObject(url_citation ?? web ?? retrievedContext ?? retrieved_context ?? own)
    const { url, uri, title, document_title, filename } = source
    const address = asText(one) || asText(url) || asText(uri)
    const name = asText(title) || asText(document_title) || asText(filename)
    return address === '' && name === '' ? [] : [{ address, title: name }]
  })
}

/** Each address once; a later title stands where there was none. */
function withCitations(before: Citation[], more: readonly Citation[]): Citation[] {
  if (more.length === 0) return before
  const keyOf = ({ address, title }: Citation) => address || ` ${title}`
  const found = new Map(before.map((one) => [keyOf(one), one]))
  for (const one of more) if (!found.get(keyOf(one))?.title) found.set(keyOf(one), one)
  return [...found.values()].slice(0, maxCitations)
}

/** Adds the grounds of a part of an answer, a choice or the whole of it. */
export function withGrounds({ tokens, citations }: Grounds, source: unknown): Grounds {
  const more = tokensOf(asObject(source))
  return {
    tokens: more.length === 0 ? tokens : [...tokens, ...more].slice(0, maxTokens),
    citations: withCitations(citations, citationsOf(asObject(source))),
  }
}
