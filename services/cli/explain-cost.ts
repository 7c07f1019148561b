// `callhouse explain-cost`: which usage, which price, which arithmetic.
import type { Config } from '../app/config.ts'
import { quantity } from '../core/quantity.ts'
import type { ExplainedCost, ExplainedModel } from '../query/call-costs/explain.ts'
import { staleAfterDays } from '../query/costs/price-age.ts'
import { ask } from './ask.ts'
import { print, printJson } from './command.ts'

function readText(read: string, days: number, page: string | null): string {
  const old = days > staleAfterDays ? ': the provider may have changed it since' : ''
  return `read on ${read}${page === null ? '' : ` from ${page}`}, ${quantity(days, 'day')} ago${old}`
}

/** An amount with at most 12 significant digits: sums of floating point numbers show no dust. */
const amount = (value: number): string => String(Number(value.toPrecision(12)))

function modelLines({
  model,
  usage,
  price,
  other_prices,
  rule,
  buckets,
  reasoning_tokens,
  unit,
  total,
  priced_as,
}: ExplainedModel): string[] {
  const lines = [model, `  usage    ${JSON.stringify(usage)}`]
  if (price === null) return [...lines, '  price    none is known: no cost']
  if (priced_as !== null) lines.push(`  name     ${priced_as.name}, without: ${priced_as.rules.join(', ')}`)
  const { source, id, effective_date, in_force, provider_id } = price
  lines.push(
    `  price    ${source}${id === null ? '' : ` ${id}`}, provider ${provider_id}, effective ${effective_date}${in_force ? '' : ', which is after the call began: there is no other'}`,
  )
  if (price.read !== null && price.read_days_ago !== null)
    lines.push(`           ${readText(price.read, price.read_days_ago, price.page)}`)
  for (const other of other_prices)
    lines.push(
      `  not      ${other.source}${other.id === null ? '' : ` ${other.id}`}, effective ${other.effective_date}`,
    )
  lines.push(`  rule     ${rule}`)
  const rows = buckets.map((one) => [
    one.bucket,
    String(one.tokens),
    amount(one.price),
    amount(one.cost),
    one.counted_as,
  ])
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  for (const [bucket = '', tokens = '', each = '', cost = '', counted = ''] of rows) {
    const [a = 0, b = 0, c = 0, d = 0] = widths
    lines.push(
      `  ${bucket.padEnd(a)}  ${tokens.padStart(b)} x ${each.padStart(c)} = ${cost.padStart(d)}   (${counted})`,
    )
  }
  if (reasoning_tokens > 0)
    lines.push(`  of the output ${quantity(reasoning_tokens, 'token is', 'tokens are')} reasoning`)
  return [...lines, `  total    ${amount(total)} ${unit}`]
}

export function explainedText(explained: ExplainedCost): string {
  const { project_id, call_id, op_name, started_at, models, total } = explained
  const head = [`call ${call_id} of ${project_id}, began ${started_at}`, `operation ${op_name}`, '']
  if (models.length === 0) return [...head, 'It reports no usage: no cost'].join('\n')
  const body = models.flatMap((model) => [...modelLines(model), ''])
  return [...head, ...body, `total ${amount(total)}`].join('\n')
}

/** @param words the call's id, and its project where several have such a call */
export async function explainCost(config: Config, words: string[], asJson: boolean): Promise<void> {
  const explained = (await ask(config, 'costs.explain', words)) as ExplainedCost
  if (asJson) printJson(explained)
  else print(explainedText(explained))
}
