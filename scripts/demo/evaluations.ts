// Two runs of one evaluation by two models, hours apart: a dataset, a judge's scores with reasons, some rows worse.
import { createHash, randomUUID } from 'node:crypto'
import { askServer, type DemoTarget } from './server.ts'

const topics = [
  'a refund',
  'an exchange',
  'a late parcel',
  'a wrong size',
  'a broken lamp',
  'an invoice',
  'a voucher',
  'a new address',
]
const ways = [
  'How do I get %?',
  'What do I have to send you for %?',
  'How long does it take to sort out %?',
  'Can a friend of mine ask for % in my name?',
  'Who pays for shipping in case of %?',
]
const answers = [
  'Open the order and choose Help; we answer within a day.',
  'The number of the order and a photo are enough.',
  'Five working days at most, usually two.',
  'Yes, with the number of the order and the e-mail address.',
  'We do, by the label that we send you.',
]

type Example = { question: string; expected: string }
const examples: Example[] = topics.flatMap((topic) =>
  ways.map((way, n) => ({ question: way.replace('%', topic), expected: answers[n] as string })),
)

/** The same number in 0 to 1 for the same words, in every demo. */
const chance = (...words: (string | number)[]): number =>
  createHash('sha256').update(words.join(' ')).digest().readUInt32BE() / 2 ** 32

const models = [
  { name: 'support-small', llm: 'gpt-4o-mini', right: 0.72, seconds: 0.9, hoursAgo: 20, tokens: 300 },
  { name: 'support-large', llm: 'claude-sonnet-4-5', right: 0.86, seconds: 2.1, hoursAgo: 3, tokens: 420 },
]
type Model = (typeof models)[number]

const scorers = ['correct', 'judge'] as const

/** The answer of a model, and its scores. */
function predicted(model: Model, { question, expected }: Example) {
  if (chance(model.name, question, 'fails') < 0.03) return undefined
  const isRight = chance(model.name, question) < model.right
  const output = isRight
    ? `${expected} ${model.name.endsWith('large') ? 'Is there anything else?' : ''}`.trim()
    : 'I am sorry, I cannot help with that; please write to the shop.'
  const helpfulness = Number(
    (isRight ? 0.75 + chance(question, model.llm) / 4 : chance(question, model.llm) / 2).toFixed(2),
  )
  const reason = isRight ? 'It says what the policy says.' : 'It sends the customer away.'
  return { output, scores: { correct: isRight, judge: { helpfulness, reason } } }
}

type Made = { digest: string; object_id: string }

/** Stores the run of one model; resolves to the number of its calls. */
async function sendRun(target: DemoTarget, evaluation: string, model: Model): Promise<number> {
  const [entity = '', project = ''] = target.project.split('/')
  const [made] = await askServer<Made & { model_ref: string }>(target, `/v2/${entity}/${project}/models`, {
    name: model.name,
    source_code: `def predict(question: str): return ask("${model.llm}", question)`,
    attributes: { llm: model.llm, temperature: 0.2 },
  })
  const self = made?.model_ref ?? model.name
  const trace_id = randomUUID()
  const beganMs = Date.now() - model.hoursAgo * 3_600_000
  const calls: Record<string, unknown>[] = []
  const add = (
    parent_id: string | null,
    op_name: string,
    fromMs: number,
    ms: number,
    more: Record<string, unknown>,
  ) => {
    const id = parent_id === null ? trace_id : randomUUID()
    const at = (value: number) => new Date(beganMs + value).toISOString()
    const times = { started_at: at(fromMs), ended_at: at(fromMs + ms) }
    calls.push({
      project_id: target.project,
      id,
      trace_id,
      parent_id,
      op_name,
      ...times,
      output: null,
      attributes: {},
      summary: {},
      ...more,
    })
    return id
  }
  const correct: number[] = []
  const helpful: number[] = []
  let ended = 0
  const run = add(null, 'Evaluation.evaluate', 0, 0, { inputs: { self: evaluation, model: self } })
  for (const [n, example] of examples.entries()) {
    const seconds = model.seconds * (0.6 + chance(example.question, model.name, 'time'))
    const fromMs = n * 900
    const ms = seconds * 1_000
    ended = Math.max(ended, fromMs + ms + 500)
    const result = predicted(model, example)
    const exception = 'TimeoutError: the provider did not answer within 30 s'
    const inputs = { self: evaluation, model: self, example }
    const output = result === undefined ? null : { ...result, model_latency: seconds }
    const row = add(run, 'Evaluation.predict_and_score', fromMs, ms + 400, {
      inputs,
      output,
      ...(result === undefined && { exception }),
    })
    const usage = { prompt_tokens: model.tokens, completion_tokens: Math.ceil(40 + 60 * seconds), requests: 1 }
    const predict =
      result === undefined ? { exception } : { output: result.output, summary: { usage: { [model.llm]: usage } } }
    add(row, `${model.name}.predict`, fromMs, ms, { inputs: { self, question: example.question }, ...predict })
    if (result === undefined) continue
    for (const [place, scorer] of scorers.entries())
      add(row, `${scorer}.score`, fromMs + ms + place * 150, 140, {
        inputs: { output: result.output, expected: example.expected },
        output: result.scores[scorer],
        attributes: { kind: 'scorer' },
      })
    correct.push(Number(result.scores.correct))
    helpful.push(result.scores.judge.helpfulness)
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  Object.assign(calls[0] as object, {
    ended_at: new Date(beganMs + ended).toISOString(),
    display_name: `${model.name} on support questions`,
    output: {
      correct: { true_count: correct.filter((one) => one === 1).length, true_fraction: mean(correct) },
      judge: { helpfulness: { mean: mean(helpful) } },
      model_latency: { mean: model.seconds * 1.1 },
    },
  })
  await askServer(target, `/v2/${entity}/${project}/calls/complete`, { batch: calls })
  return calls.length
}

/** Stores a dataset, an evaluation and its two runs; resolves to the number of calls. */
export async function sendEvaluations(target: DemoTarget): Promise<number> {
  const [entity = '', project = ''] = target.project.split('/')
  const path = `/v2/${entity}/${project}`
  const [dataset] = await askServer<Made>(target, `${path}/datasets`, { name: 'support-questions', rows: examples })
  const ref = `weave:///${target.project}/object/${dataset?.object_id}:${dataset?.digest}`
  const [evaluation] = await askServer<{ evaluation_ref: string }>(target, `${path}/evaluations`, {
    name: 'support-quality',
    dataset: ref,
    scorers: [],
  })
  let calls = 0
  for (const model of models) calls += await sendRun(target, evaluation?.evaluation_ref ?? '', model)
  return calls
}
