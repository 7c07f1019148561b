// Figures of a whole trace in a row of the list.
import { expect, it } from 'vitest'
import { isLonger, outcomeOf, outcomeWith, type Totals } from '../../services/web/page/engine/trace-totals.ts'

const totals = (more: Partial<Totals>): Totals => ({
  errors: 0,
  spans: 5,
  is_running: false,
  duration_ms: 2_000,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  models: [],
  ...more,
})
const went = { status: 'success', exception: null } as const
const failed = { status: 'error', exception: 'Error: no' } as const

it('a root with failures below it is none that went well, and none that failed itself', () => {
  expect(outcomeOf(went, totals({ errors: 3 }))).toEqual({ status: 'descendant_error', label: '3 errors below' })
  expect(outcomeOf(went, totals({ errors: 1 })).label).toBe('1 error below')
  expect(outcomeOf(went, totals({ errors: 1_234 })).label).toBe('1,234 errors below')
  expect(outcomeOf(went, totals({}))).toEqual({ status: 'success', label: 'Success' })
})

it('the error of a root is not below it', () => {
  expect(outcomeOf(failed, totals({ errors: 1 }))).toEqual({ status: 'error', label: 'Error' })
  expect(outcomeOf(failed, totals({ errors: 3 }))).toEqual({ status: 'error', label: 'Error, 2 errors below' })
})

it('a root that runs says so, and what failed below it', () => {
  const running = { status: 'running', exception: null } as const
  expect(outcomeOf(running, totals({ errors: 2 }))).toEqual({ status: 'running', label: 'Running, 2 errors below' })
})

it('a call inside a trace says what failed below it alone', () => {
  expect(outcomeWith(went, 0)).toEqual({ status: 'success', label: 'Success' })
  expect(outcomeWith(went, 2)).toEqual({ status: 'descendant_error', label: '2 errors below' })
  expect(outcomeWith(failed, 1)).toEqual({ status: 'error', label: 'Error, 1 error below' })
})

it('says what the root says while totals are on their way, and where there are none', () => {
  for (const none of [undefined, 'Cannot reach the server'])
    expect(outcomeOf({ ...went, status: 'descendant_error' }, none)).toEqual({
      status: 'descendant_error',
      label: 'Error below',
    })
})

it('a trace is longer than its root by more than what rounds away', () => {
  expect(isLonger({ latencyMs: 1_000 }, totals({}))).toBe(true)
  expect(isLonger({ latencyMs: 1_999.5 }, totals({}))).toBe(false)
  expect(isLonger({ latencyMs: null }, totals({}))).toBe(false)
  expect(isLonger({ latencyMs: 1 }, undefined)).toBe(false)
})
