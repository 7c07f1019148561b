// A small program that answers from a manual, traced by the published Weave Node SDK.
import { setTimeout } from 'node:timers/promises'
import type { DemoTarget } from './server.ts'

const lamps = ['desk lamp', 'floor lamp', 'reading light', 'string lights', 'paper lantern']
const asked = ['How do I clean', 'Which bulb fits', 'Can I dim', 'How long may I return']
const questions = asked.flatMap((words) => lamps.map((lamp) => `${words} the ${lamp}?`))

/** Milliseconds that a step takes: some longer than others, the same in each demo. */
const stepMs = (n: number, least: number): number => least + ((n * 7) % 5) * least

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
    await setTimeout(stepMs(calls++, 4))
    return [
      `From the manual, about ${question.slice(question.indexOf('the'), -1)}`,
      'Two years of warranty on all lamps.',
    ]
  })
  const grade = weave.op(async function grade(answer: string) {
    const n = calls++
    await setTimeout(stepMs(n, 2))
    if (n % 30 === 23) throw new Error('TimeoutError: the grader did not answer')
    return { isGood: n % 7 !== 3, length: answer.length }
  })
  const answer = weave.op(async function answer(question: string) {
    calls++
    const passages = await retrieve(question)
    const text = `${passages[0]}: see page ${4 + (calls % 9)}. ${passages[1]}`
    const graded = await grade(text).catch(() => null)
    return { text, graded }
  })
  for (const question of questions) await answer(question)
  await client.waitForBatchProcessing()
  return calls
}
