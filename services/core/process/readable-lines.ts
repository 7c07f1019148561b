// Log lines for somebody who looks at a terminal: what is well is not told, and the rest in one line each.

type Line = { level: number; time: string; msg: string; [name: string]: unknown }

/** Numbers of pino. */
const levels: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'fatal' }
/** Requests that take longer are told. */
const slowMs = 1_000
/** Longer values are cut. */
const maxValue = 200
/** Members that a line shows by itself. */
const shown = new Set(['level', 'time', 'msg'])

/** Whoever asked went away: pages give up what they no longer show. */
const clientGone = 499

/** Lines of frequent events that went well. */
const isOrdinary = ({ level, msg, status, ms }: Line): boolean =>
  level <= 30 &&
  (msg === 'batch' || (msg === 'request' && (status === clientGone || (Number(status) < 400 && Number(ms) < slowMs))))

/** `12:05:47`, as the clock on the wall has it. */
const clockTime = (iso: string): string => {
  const at = new Date(iso)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const cut = text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
  return /^\S+$/.test(cut) ? cut : JSON.stringify(cut)
}

const requestText = ({ method, route, status, ms, user, request }: Line): string =>
  `${method} ${route} answered ${status} in ${Math.round(Number(ms))} ms${user ? ` to ${user}` : ''} (${request})`

/** Errors of pino: the stack begins with type and message. */
const stackOf = ({ err }: Line): string | undefined =>
  typeof err === 'object' && err !== null && 'stack' in err && typeof err.stack === 'string' ? err.stack : undefined

/** @param json a line as pino writes it. @returns undefined for one that is not told */
export function readableLine(json: string): string | undefined {
  const line = JSON.parse(json) as Line
  if (isOrdinary(line)) return undefined
  const begin = [clockTime(line.time), levels[line.level]].filter(Boolean).join(' ')
  if (line.msg === 'request') return `${begin} ${requestText(line)}`
  const stack = stackOf(line)
  const more = Object.entries(line)
    .filter(([name, value]) => !shown.has(name) && value !== undefined && !(name === 'err' && stack !== undefined))
    .map(([name, value]) => ` ${name}=${valueText(value)}`)
  return `${begin} ${line.msg}${more.join('')}${stack === undefined ? '' : `\n${stack}`}`
}
