// A small evaluation-like program, traced by the published Weave Node SDK.
import type { DemoTarget } from './server.ts'

const samples = 20

/** Runs the traced program; resolves to the number of calls when the SDK has sent all of them. */
export async function traceWithSdk(target: DemoTarget): Promise<number> {
  Object.assign(process.env, {
    WF_TRACE_SERVER_URL: target.url,
    WANDB_BASE_URL: target.url,
    WANDB_API_KEY: target.key,
    WEAVE_PRINT_CALL_LINK: 'false',
  })
  const weave = await import('weave')
  const client = await weave.init(target.project)
  let calls = 0
  const retrieve = weave.op(async function retrieve(question: string) {
    calls++
    return [`passage about ${question}`, 'general terms']
  })
  const grade = weave.op(async function grade(answer: string) {
    calls++
    if (answer.endsWith('7')) throw new Error(`no grade for ${JSON.stringify(answer)}`)
    return { isGood: answer.length % 2 === 0, length: answer.length }
  })
  const answer = weave.op(async function answer(sample: number) {
    calls++
    const passages = await retrieve(`topic ${sample}`)
    const text = `${passages.length} passages support ${sample}`
    const graded = await grade(text).catch(() => null)
    return { text, graded }
  })
  for (let sample = 0; sample < samples; sample++) await answer(sample)
  await client.waitForBatchProcessing()
  return calls
}
