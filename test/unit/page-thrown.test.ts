// Exceptions in the page, from every convention that sends one.
import { expect, it } from 'vitest'
import { lineOfThrown, thrownOf } from '../../services/web/page/engine/thrown.ts'

const traceback = `Traceback (most recent call last):
  File "/srv/app.py", line 12, in answer
    return orders[key]
           ~~~~~~^^^^^
KeyError: 'order 8812'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app.py", line 15, in answer
    raise shop.Missing("no such order")
shop.errors.Missing: no such order
of this customer`
const js = 'TypeError: order not found\n    at lookup (tool.ts:3:9)\n    at async run (main.ts:1:1)'

it('events of OpenTelemetry tell type, message and stack, also of several and beside the status of the span', () => {
  const event = (exception: object) => ({ name: 'exception', attributes: { exception } })
  const attributes = {
    otel_span: {
      events: [
        event({ type: 'TypeError', message: 'order not found', stacktrace: js }),
        { name: 'retry', attributes: {} },
        event({ type: 'IOError', message: 'disk' }),
      ],
    },
  }
  expect(thrownOf({ exception: 'order not found', attributes })).toEqual([
    { type: 'TypeError', message: 'order not found', stack: js },
    { type: 'IOError', message: 'disk', stack: '' },
  ])
  // Recorded, and the span went on to succeed.
  expect(thrownOf({ exception: null, attributes })).toHaveLength(2)
  const flat = { 'exception.type': 'E.Bad', 'exception.message': 'm', 'exception.stacktrace': 's' }
  const named = { name: 'gen_ai.client.operation.exception', attributes: flat }
  expect(thrownOf({ attributes: { otel_span: { events: [named] } } })).toEqual([
    { type: 'E.Bad', message: 'm', stack: 's' },
  ])
})

it('attributes of a span tell it: of OpenTelemetry, of Langfuse, errors as objects, and a mere mark does not', () => {
  const own = (attributes: object) => thrownOf({ attributes: { otel_span: { attributes } } })
  expect(own({ exception: { type: 'ValueError', message: 'bad', stacktrace: 'at line 1' } })).toEqual([
    { type: 'ValueError', message: 'bad', stack: 'at line 1' },
  ])
  expect(
    own({ error: { name: 'AbortError', message: 'stopped', stack: 'AbortError: stopped\n    at f (a.js:1:1)' } }),
  ).toEqual([{ type: 'AbortError', message: 'stopped', stack: 'AbortError: stopped\n    at f (a.js:1:1)' }])
  const [langfuse] = own({ langfuse: { observation: { status_message: traceback } } })
  expect(langfuse).toMatchObject({ type: 'shop.errors.Missing', message: 'no such order\nof this customer' })
  for (const mark of [{ error: true }, { error: { type: 'timeout' } }, { exception: {} }, { exception: 3 }, {}])
    expect(own(mark), JSON.stringify(mark)).toEqual([])
  expect(thrownOf({})).toEqual([])
})

it('texts of Weave are JSON with frames in Python, and a message or a stack in JavaScript', () => {
  const exception = JSON.stringify({
    type: 'ValueError',
    message: 'bad input',
    traceback: [
      { filename: 'a.py', line_number: 3, function_name: 'main', text: 'run()' },
      { filename: 'b.py', line_number: 9, function_name: 'run', text: 'raise ValueError("bad input")' },
    ],
  })
  expect(thrownOf({ exception })).toEqual([
    {
      type: 'ValueError',
      message: 'bad input',
      stack: '  a.py:3 in main\n    run()\n  b.py:9 in run\n    raise ValueError("bad input")',
    },
  ])
  expect(thrownOf({ exception: js })).toEqual([
    {
      type: 'TypeError',
      message: 'order not found',
      stack: '    at lookup (tool.ts:3:9)\n    at async run (main.ts:1:1)',
    },
  ])
  expect(thrownOf({ exception: 'a plain message: with a colon' })).toEqual([
    { type: '', message: 'a plain message: with a colon', stack: '' },
  ])
})

it('Sentry lists what was thrown with frames', () => {
  const values = [
    {
      type: 'KeyError',
      value: "'x'",
      stacktrace: { frames: [{ filename: 'm.py', lineno: 4, function: 'f', context_line: '  d["x"]' }] },
    },
  ]
  expect(thrownOf({ attributes: { exception: { values } } })).toEqual([
    { type: 'KeyError', message: "'x'", stack: '  m.py:4 in f\n    d["x"]' },
  ])
})

it('stacks of every language begin where they do, and the rest is the message', () => {
  const cases: [text: string, type: string, message: string][] = [
    [traceback, 'shop.errors.Missing', 'no such order\nof this customer'],
    [`request failed\n${traceback}`, '', 'request failed'],
    [
      'java.lang.IllegalStateException: closed\n\tat com.acme.Pool.get(Pool.java:5)',
      'java.lang.IllegalStateException',
      'closed',
    ],
    ['System.TimeoutException: late\n   at Acme.Get() in a.cs:line 3', 'System.TimeoutException', 'late'],
    ['panic: index out of range\n\ngoroutine 1 [running]:\nmain.main()', '', 'panic: index out of range'],
    ['PDOException: gone\n#0 /a.php(12): run()', 'PDOException', 'gone'],
    ["NoMethodError: undefined\n\tfrom a.rb:3:in `run'", 'NoMethodError', 'undefined'],
  ]
  for (const [text, type, message] of cases) {
    const [found] = thrownOf({ exception: text })
    expect([found?.type, found?.message], text).toEqual([type, message])
    expect(found?.stack, text).not.toBe('')
  }
})

it('a list shows what was thrown in one line, whatever a text begins with', () => {
  expect(lineOfThrown(traceback)).toBe('shop.errors.Missing: no such order')
  expect(lineOfThrown('{"type":"ValueError","message":"bad","traceback":[]}')).toBe('ValueError: bad')
  // As the tree has it: its end is cut off.
  expect(lineOfThrown('{"type": "ValueError", "message": "a \\"bad\\" one", "traceback": [{"file')).toBe(
    'ValueError: a "bad" one',
  )
  expect(lineOfThrown(js)).toBe('TypeError: order not found')
  expect(lineOfThrown('\n  first\nsecond')).toBe('first')
  expect(lineOfThrown('{"some":"JSON"}')).toBe('{"some":"JSON"}')
})
