// A request to a model as lines that somebody else can run: for a shell, for Python and for Node. Keys are never in them.
import { curlOf, quoted } from './curl.ts'

export type Language = 'curl' | 'python' | 'node'

type Asked = { base: string; projectId: string; body: Readonly<Record<string, unknown>> }

/** A Python literal: JSON, but for its three words. */
function pythonOf(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}: ${pythonOf(one)}`)
      .join(', ')}}`
  // Every JSON string is a string of Python, lone surrogates included.
  return JSON.stringify(value)
}

/** Parameters that the clients of OpenAI take by name; everything else goes as part of the body. */
const known = new Set([
  'model',
  'messages',
  'temperature',
  'max_tokens',
  'tools',
  'response_format',
  'stream',
  'stream_options',
])

export function codeOf(language: Language, { base, projectId, body }: Asked): string {
  const { stream: _, stream_options: __, ...plain } = body
  if (language === 'curl') {
    const line = curlOf(new URL('inference/v1/chat/completions', base), 'POST', JSON.stringify(plain))
    return `${line} -H ${quoted(`OpenAI-Project: ${projectId}`)}`
  }
  const address = new URL('inference/v1', base).href
  const own = Object.entries(plain).filter(([name]) => known.has(name))
  const more = Object.fromEntries(Object.entries(plain).filter(([name]) => !known.has(name)))
  const hasMore = Object.keys(more).length > 0
  if (language === 'python')
    return [
      'import os',
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url=${JSON.stringify(address)}, api_key=os.environ["KEY"], project=${JSON.stringify(projectId)})`,
      'answer = client.chat.completions.create(',
      ...own.map(([name, value]) => `    ${name}=${pythonOf(value)},`),
      ...(hasMore ? [`    extra_body=${pythonOf(more)},`] : []),
      ')',
      'print(answer.choices[0].message.content)',
      '',
    ].join('\n')
  return [
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: ${JSON.stringify(address)}, apiKey: process.env.KEY, project: ${JSON.stringify(projectId)} })`,
    `const answer = await client.chat.completions.create(${JSON.stringify({ ...Object.fromEntries(own), ...more }, null, 2)})`,
    'console.log(answer.choices[0].message.content)',
    '',
  ].join('\n')
}
