// Sources of an answer and probabilities of its parts, by the names of each provider; what is none is left out.
import { describe, expect, it } from 'vitest'
import { type Grounds, withGrounds } from '../../services/web/page/engine/grounds.ts'
import { parsedAsSpelled } from '../../services/web/page/engine/message-parts.ts'

const none: Grounds = { tokens: [], citations: [] }
const citationsOf = (source: unknown) =>
  withGrounds(none, source).citations.map(({ address, title }) => [address, title])
const tokensOf = (source: unknown) => withGrounds(none, source).tokens.map(({ text, logprob }) => [text, logprob])

describe('sources of an answer', () => {
  it.each<[name: string, source: unknown, ...citations: [address: string, title: string][]]>([
    [
      'OpenAI chat, of a search',
      {
        annotations: [
          {
            type: 'url_citation',
            url_citation: { start_index: 0, end_index: 5, url: 'https://a.example', title: 'A' },
          },
        ],
      },
      ['https://a.example', 'A'],
    ],
    [
      'OpenAI responses, of a search and of files',
      {
        annotations: [
          { type: 'url_citation', start_index: 0, end_index: 5, url: 'https://b.example', title: 'B' },
          { type: 'file_citation', index: 3, file_id: 'file-1', filename: 'prices.pdf' },
        ],
      },
      ['https://b.example', 'B'],
      ['', 'prices.pdf'],
    ],
    [
      'Anthropic, of a search and of documents',
      {
        citations: [
          { type: 'web_search_result_location', url: 'https://c.example', title: 'C', cited_text: 'x' },
          { type: 'char_location', cited_text: 'x', document_index: 0, document_title: 'Terms', start_char_index: 0 },
          { type: 'search_result_location', source: 's', title: 'Found', cited_text: 'x' },
        ],
      },
      ['https://c.example', 'C'],
      ['', 'Terms'],
      ['', 'Found'],
    ],
    [
      'Gemini, of a search',
      { groundingMetadata: { groundingChunks: [{ web: { uri: 'https://d.example', title: 'd.example' } }] } },
      ['https://d.example', 'd.example'],
    ],
    [
      'Gemini in Python, of its own documents',
      { grounding_metadata: { grounding_chunks: [{ retrieved_context: { uri: 'gs://b/t.pdf', title: 'T' } }] } },
      ['gs://b/t.pdf', 'T'],
    ],
    [
      'Vertex, of its own documents',
      { groundingMetadata: { groundingChunks: [{ retrievedContext: { title: 'Handbook', text: 'x' } }] } },
      ['', 'Handbook'],
    ],
    [
      'Gemini, of texts that it repeats',
      { citationMetadata: { citationSources: [{ startIndex: 1, uri: 'https://e.example' }] } },
      ['https://e.example', ''],
    ],
    [
      'Vertex',
      { citationMetadata: { citations: [{ uri: 'https://f.example', title: 'F' }] } },
      ['https://f.example', 'F'],
    ],
    ['Perplexity, addresses alone', { citations: ['https://g.example'] }, ['https://g.example', '']],
    [
      'Perplexity, with results',
      { citations: ['https://h.example'], search_results: [{ title: 'H', url: 'https://h.example', date: '2026' }] },
      ['https://h.example', 'H'],
    ],
  ])('%s', (_, source, ...citations) => {
    expect(citationsOf(source)).toEqual(citations)
  })

  it.each([
    undefined,
    null,
    'text',
    5,
    [],
    {},
    { citations: 'https://a.example' },
    { citations: { url: 'https://a.example' } },
    { citations: [null, 5, '', [], {}, { url: '' }, { url: 5, title: {} }] },
    { annotations: [{ url_citation: null }, { url_citation: 'x' }] },
    { groundingMetadata: [{ groundingChunks: [{ web: { uri: 'x' } }] }] },
    { groundingMetadata: { groundingChunks: [{ web: null }] } },
  ])('are none in %j', (source) => {
    expect(withGrounds(none, source)).toEqual(none)
  })

  it('are each there once, in their order, with the first title that there is', () => {
    const first = withGrounds(none, { citations: ['https://a.example', { title: 'Terms' }, 'https://b.example'] })
    const all = withGrounds(first, {
      citations: [
        { url: 'https://b.example', title: 'B' },
        { title: 'Terms' },
        { url: 'https://a.example' },
        { url: 'https://b.example', title: 'Other' },
        { url: 'https://c.example', title: '__proto__' },
      ],
    })
    expect(all.citations).toEqual([
      { address: 'https://a.example', title: '' },
      { address: '', title: 'Terms' },
      { address: 'https://b.example', title: 'B' },
      { address: 'https://c.example', title: '__proto__' },
    ])
    expect(first.citations).toHaveLength(3)
  })

  it('are no more than a hundred', () => {
    const citations = Array.from({ length: 250 }, (_, n) => `https://${n}.example`)
    expect(withGrounds(none, { citations }).citations).toHaveLength(100)
    expect(citationsOf({ citations })[99]).toEqual(['https://99.example', ''])
  })

  it('named by an address that is no page are told as they were sent', () => {
    // The page makes links of those alone that may be followed.
    expect(citationsOf({ citations: ['javascript:alert(1)'] })).toEqual([['javascript:alert(1)', '']])
  })
})

describe('probabilities of an answer', () => {
  const ab = [
    ['a', -0.5],
    ['b', 0],
  ]
  it.each<[name: string, source: unknown]>([
    [
      'OpenAI chat',
      {
        logprobs: {
          content: [
            { token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [] },
            { token: 'b', logprob: 0 },
          ],
        },
      },
    ],
    ['OpenAI responses', { logprobs: ab.map(([token, logprob]) => ({ token, logprob })) }],
    [
      'Gemini',
      { logprobsResult: { chosenCandidates: ab.map(([token, logProbability]) => ({ token, logProbability })) } },
    ],
    [
      'Gemini in Python',
      { logprobs_result: { chosen_candidates: ab.map(([token, log_probability]) => ({ token, log_probability })) } },
    ],
  ])('%s', (_, source) => {
    expect(tokensOf(source)).toEqual(ab)
  })

  it('are numbers also where their spelling is kept', () => {
    const text = '{"logprobs":[{"token":"a","logprob":-0.50},{"token":"b","logprob":-1e-2}]}'
    expect(tokensOf(parsedAsSpelled(text))).toEqual([
      ['a', -0.5],
      ['b', -0.01],
    ])
  })

  it.each([
    { token: 'x' },
    { token: 'x', logprob: null },
    { token: 'x', logprob: '-0.5' },
    { token: 'x', logprob: Number.NaN },
    { token: 5, logprob: -1 },
    { logprob: -1 },
    null,
    'x',
    [],
  ])('are none of %j', (one) => {
    expect(tokensOf({ logprobs: { content: [one] } })).toEqual([])
    expect(tokensOf({ logprobs: [one] })).toEqual([])
  })

  it('keep tokens that are empty, marks or half a letter, follow those before, and have an end', () => {
    const logprobs = ['', ' ', '\n', '\ud83d', '__proto__'].map((token) => ({ token, logprob: -1 }))
    const once = withGrounds(none, { logprobs })
    expect(once.tokens.map(({ text }) => text)).toEqual(['', ' ', '\n', '\ud83d', '__proto__'])
    expect(withGrounds(once, { logprobs }).tokens).toHaveLength(10)
    expect(withGrounds(once, {})).toEqual(once)
    const many = Array.from({ length: 12_000 }, (_, n) => ({ token: String(n), logprob: -1 }))
    const cut = withGrounds(once, { logprobs: many })
    expect([cut.tokens.length, cut.tokens.at(-1)?.text]).toEqual([10_000, '9994'])
  })
})
