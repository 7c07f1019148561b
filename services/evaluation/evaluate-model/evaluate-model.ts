// Runs an evaluation of a completion model by judges: calls with ids that follow from the job, so that a job that is
// run again goes on where it was.
import { createHash } from 'node:crypto'
import { TemplateError } from '../../content/message-template.ts'
import type { Clock } from '../../core/clock/clock.ts'
import type { SharedSlots } from '../../core/concurrency/slots.ts'
import { Refusal } from '../../core/errors.ts'
import { asFault, Fault } from '../../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import { innerRoute, type Route } from '../../core/http/route.ts'
import { parseLossless, stringifyLossless } from '../../core/json/lossless.ts'
import { type Freshness, latestOfLog, throwIfStale } from '../../core/log/freshness.ts'
import { StoreError } from '../../core/store/store.ts'
import type { EvaluationJob } from '../../events/evaluation-jobs.ts'
import type { EnsureOps } from '../objects/ops.ts'
import { type CallWrite, type EvaluationCalls, isRow, nowUs, objectOf } from '../runs/calls.ts'
import { opNames, timeOf } from '../runs/shape.ts'
import { createPredict, inputOfJudge, inputOfRow, NoResult, type Predict, type PredictInput } from './predict.ts'
import { evaluationSummary, numberOf, type RowFailures, type RowResult } from './summary.ts'
import { type CompletionModel, createReader, type Judge, type Plan, Unusable } from './values.ts'

type EvaluateDeps = {
  invoke: Invoke
  freshness: Freshness
  ensureOps: EnsureOps
  clock: Clock
  calls: EvaluationCalls
  /** Slots for rows that are evaluated at one time, which jobs of a project share. */
  rowSlots: SharedSlots
}

type Fields = Record<string, unknown>

const predictOp = 'LLMStructuredCompletionModel.predict'
const scoreOp = 'LLMAsAJudgeScorer.score'

/** Passes: the same job may be done later. */
function isPassing(error: unknown): boolean {
  const status = asFault(error)?.status ?? 0
  return error instanceof StoreError || status === 429 || status >= 500
}

/** A UUID of version 7 (RFC 9562) with the time of the evaluation's, the same whenever the job is run. */
function callIdOf(evaluationId: string, ...part: (string | number)[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([evaluationId, ...part]))
    .digest('hex')
  const variant = ((Number.parseInt(hash[3] as string, 16) & 3) | 8).toString(16)
  return `${evaluationId.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`
}

/** The message of an error; our own errors have none. */
const messageOf = (error: unknown): string =>
  [Fault, Refusal, Unusable, NoResult, TemplateError].some((kind) => error instanceof kind)
    ? (error as Error).message
    : 'Internal server error'

type Run = {
  deps: EvaluateDeps & { predict: Predict }
  job: EvaluationJob
  as: InvokeCaller
  /** Refs by name. */
  ops: Record<string, string>
}

type Started = { id: string; startedUs: number }

const meta = (more: object = {}) => ({ _weave_eval_meta: { evaluate_model_worker: true, ...more } })

function starting(run: Run, id: string, parentId: string | null, op: string, inputs: unknown): [Started, CallWrite] {
  const startedUs = nowUs(run.deps.clock)
  const start = {
    id,
    traceId: run.job.callId,
    parentId,
    opName: run.ops[op] as string,
    startedUs,
    attributes: meta(parentId === null ? {} : { declarative: true }),
    inputs: stringifyLossless(inputs),
  }
  return [{ id, startedUs }, { start }]
}

const ending = (run: Run, { id, startedUs }: Started, output: unknown, exception: string | null = null): CallWrite => ({
  end: {
    id,
    startedUs,
    endedUs: nowUs(run.deps.clock),
    summary: '{}',
    exception,
    output: stringifyLossless(output ?? null),
  },
})

const write = (run: Run, parts: CallWrite[]) =>
  run.deps.calls.write(
    { caller: run.as.caller, signal: run.as.signal, requestId: run.job.callId },
    run.job.projectId,
    parts,
  )

type Outcome = { value: unknown } | { error: string }

async function predicted(
  run: Run,
  model: CompletionModel,
  ask: () => PredictInput,
  parentId: string,
): Promise<Outcome> {
  const { job, as } = run
  try {
    return {
      value: await run.deps.predict(model, ask(), { projectId: job.projectId, traceId: job.callId, parentId, as }),
    }
  } catch (error) {
    as.signal.throwIfAborted()
    if (error instanceof StoreError) throw error
    return { error: messageOf(error) }
  }
}

const outcomeParts = (outcome: Outcome): [unknown, string | null] =>
  'error' in outcome ? [null, outcome.error] : [outcome.value, null]

async function score(
  run: Run,
  judge: Judge,
  row: Fields,
  output: unknown,
  started: Started,
): Promise<[CallWrite, value: unknown, exception: string | null]> {
  const outcome = await predicted(run, judge.model, () => inputOfJudge(judge, row, output), started.id)
  const [value, exception] = outcomeParts(outcome)
  return [ending(run, started, value, exception), value, exception]
}

async function evaluateRow(run: Run, plan: Plan, row: Fields, key: [trial: number, index: number]): Promise<RowResult> {
  const { job } = run
  const id = (...part: (string | number)[]) => callIdOf(job.callId, ...key, ...part)
  const [around, aroundPart] = starting(run, id('row'), job.callId, opNames.row, {
    self: job.evaluationRef,
    model: job.modelRef,
    example: row,
  })
  const [predict, predictPart] = starting(run, id('predict'), around.id, predictOp, { self: job.modelRef, ...row })
  await write(run, [aroundPart, predictPart])
  const beganMs = performance.now()
  const outcome = await predicted(run, plan.model, () => inputOfRow(row), predict.id)
  const latency = (performance.now() - beganMs) / 1000
  const [output, exception] = outcomeParts(outcome)
  const predictEnd = ending(run, predict, output, exception)
  const scores: Fields = {}
  const failures: RowFailures = exception === null ? {} : { prediction: exception }
  const ends: CallWrite[] = []
  if (exception === null) {
    const begun = plan.judges.map((judge, at) =>
      starting(run, id('score', at), around.id, scoreOp, { self: judge.self, output, inputs: row }),
    )
    await write(run, [predictEnd, ...begun.map(([, part]) => part)])
    const scored = await Promise.all(
      plan.judges.map((judge, at) => score(run, judge, row, output, (begun[at] as [Started, CallWrite])[0])),
    )
    for (const [at, [end, value, failure]] of scored.entries()) {
      const { name } = plan.judges[at] as Judge
      ends.push(end)
      if (value !== null) scores[name] = value
      if (failure !== null) failures.scores = { ...failures.scores, [name]: failure }
    }
  } else ends.push(predictEnd)
  const shown = Object.keys(failures).length > 0 ? { failures } : {}
  await write(run, [...ends, ending(run, around, { output, scores, model_latency: latency, ...shown })])
  return { output, scores, latency, failures }
}

/** Texts say nothing in a summary: they are not kept. */
const kept = (result: RowResult): RowResult =>
  typeof result.output === 'string' ? { ...result, output: undefined } : result

/** Rows that were done when the job was run before, by the id of their call. */
async function doneRows({ deps, job, as }: Run): Promise<Map<string, RowResult>> {
  const done = new Map<string, RowResult>()
  const query = { filter: { parent_ids: [job.callId] }, columns: ['op_name', 'ended_at', 'output'] as const }
  const asked = { caller: as.caller, signal: as.signal, requestId: job.callId }
  for await (const call of deps.calls.list(asked, job.projectId, { ...query, columns: [...query.columns] })) {
    if (!isRow(call.opName) || call.endedAt === null) continue
    const { output, scores, model_latency: latency, failures } = objectOf(parseLossless(call.output))
    const seconds = numberOf(latency)
    const result = {
      output,
      scores: objectOf(scores),
      latency: Number.isFinite(seconds) ? seconds : null,
      failures: objectOf(failures) as RowFailures,
    }
    done.set(call.id, kept(result))
  }
  return done
}

async function evaluateRows(run: Run, plan: Plan): Promise<RowResult[]> {
  const done = await doneRows(run)
  const results: RowResult[] = []
  const working = new Set<Promise<void>>()
  let failure: { error: unknown } | undefined
  let at = 0
  try {
    for (let trial = 0; trial < plan.trials; trial++) {
      let index = 0
      for await (const row of plan.rows()) {
        const key: [number, number] = [trial, index++]
        const place = at++
        const known = done.get(callIdOf(run.job.callId, ...key, 'row'))
        if (known !== undefined) {
          results[place] = known
          continue
        }
        const leave = await run.deps.rowSlots.take(run.job.projectId, run.job.callId, run.as.signal)
        if (failure !== undefined) {
          leave()
          throw failure.error
        }
        const one: Promise<void> = evaluateRow(run, plan, row, key)
          .then((result) => {
            results[place] = kept(result)
          })
          .catch((error: unknown) => {
            failure ??= { error }
          })
          .finally(() => {
            working.delete(one)
            leave()
          })
        working.add(one)
      }
      // Further trials would find none either.
      if (index === 0) break
    }
  } finally {
    await Promise.all(working)
  }
  if (failure !== undefined) throw failure.error
  return results
}

/**
 * Runs a job to the end of its evaluation's call. Its fault becomes the exception of that call.
 * @param givesUp passing errors end the evaluation, too
 * @throws what passes, and the signal's reason
 */
async function evaluateModel(
  deps: EvaluateDeps,
  { job, givesUp }: { job: EvaluationJob; givesUp: boolean },
  as: InvokeCaller,
): Promise<void> {
  const { signal } = as
  const names = [opNames.run, opNames.row, opNames.summarize, predictOp, scoreOp]
  const { refs } = await deps.ensureOps(job.projectId, job.userId, names)
  const ops = Object.fromEntries(names.map((name, at) => [name, refs[at] as string]))
  const run: Run = { deps: { ...deps, predict: createPredict(deps.invoke) }, job, as, ops }
  // Writes before the job are visible from here on: an object that is not found later does not exist.
  throwIfStale(await deps.freshness.wait(latestOfLog(signal), ['calls', 'objects', 'object_labels', 'tables']))
  const asked = { caller: as.caller, signal, requestId: job.callId }
  const known = await deps.calls.read(asked, job.projectId, job.callId)
  if (known !== null && known.endedAt !== null) return
  let started: Started = { id: job.callId, startedUs: known === null ? 0 : timeOf(known.startedAt) }
  if (known === null) {
    const inputs = { self: job.evaluationRef, model: job.modelRef }
    const [begun, part] = starting(run, job.callId, null, opNames.run, inputs)
    started = begun
    await write(run, [part])
  }
  try {
    const plan = await createReader(deps.invoke, as).plan(job.evaluationRef, job.modelRef)
    const results = await evaluateRows(run, plan)
    const output = evaluationSummary(
      results,
      plan.judges.map(({ name }) => name),
    )
    const self = { self: job.evaluationRef }
    const [summarize, part] = starting(run, callIdOf(job.callId, 'summarize'), job.callId, opNames.summarize, self)
    await write(run, [part, ending(run, summarize, output), ending(run, started, output)])
  } catch (error) {
    signal.throwIfAborted()
    if (isPassing(error) && !givesUp) throw error
    await write(run, [ending(run, started, null, messageOf(error))])
  }
}

/** A job, in a thread: rows and answers of megabytes become values. */
export const evaluationWork = (deps: EvaluateDeps): Route =>
  innerRoute({
    name: 'evaluations.run',
    isLong: true,
    summary: 'Runs an evaluation that was asked for',
    async handle({ body, caller, signal, requestId }) {
      await evaluateModel(deps, JSON.parse(body.bytes.toString()), { caller, signal, requestId })
      return { json: null }
    },
  })
