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

it.each<[text: string, type: string, message: string]>([
  ['ValueError: bad', 'ValueError', 'bad'],
  ['Uncaught TypeError: x is not a function', 'TypeError', 'x is not a function'],
  ['Uncaught (in promise) TypeError: x', 'TypeError', 'x'],
  ['Unhandled RangeError: far', 'RangeError', 'far'],
  ['KeyboardInterrupt', 'KeyboardInterrupt', ''],
  ['openai.RateLimitError: 429', 'openai.RateLimitError', '429'],
  ['App\\Exceptions\\NotFound: gone', 'App\\Exceptions\\NotFound', 'gone'],
  ['std::io::Error: no file', 'std::io::Error', 'no file'],
  ['  ValueError:   two\nlines  ', 'ValueError', 'two\nlines'],
  ['Größenfehler: zu groß', '', 'Größenfehler: zu groß'],
  // No types: words before a colon, addresses, times and files.
  ['Note: read this', '', 'Note: read this'],
  ['www.example.com: refused', '', 'www.example.com: refused'],
  ['https://a.example/Error: no', '', 'https://a.example/Error: no'],
  ['12:30:05 Error: late', '', '12:30:05 Error: late'],
  ['error: lower case', '', 'error: lower case'],
  ['ValueError:bad', '', 'ValueError:bad'],
  ['not an Error: really', '', 'not an Error: really'],
  ['constructor', '', 'constructor'],
  ['[1, 2]', '', '[1, 2]'],
  ['{"a":1}', '', '{"a":1}'],
  ['{broken', '', '{broken'],
  ['💥', '', '💥'],
])('the text %j is of the type %j and says %j', (text, type, message) => {
  expect(thrownOf({ exception: text })).toEqual([{ type, message, stack: '' }])
})

it.each([undefined, null, '', '   \n', 0, 5, true, false, Number.NaN, [], {}, [[]], { values: [] }, { message: '' }])(
  'nothing is thrown by %j',
  (exception) => {
    expect(thrownOf({ exception })).toEqual([])
  },
)

it.each<[name: string, members: object, type: string, message: string, stack: string]>([
  ['of the first of its names', { msg: 'b', message: 'a', detail: 'c' }, '', 'a', ''],
  ['of a number', { type: 'HTTPError', message: 404 }, 'HTTPError', '404', ''],
  ['an empty one is passed over', { message: '', value: null, msg: 'c' }, '', 'c', ''],
  ['of a class', { class: 'Timeout', description: 'late' }, 'Timeout', 'late', ''],
  ['the type in the message', { message: 'ValueError: bad' }, 'ValueError', 'bad', ''],
  ['the type twice', { type: 'ValueError', message: 'ValueError: bad' }, 'ValueError', 'bad', ''],
  ['another type before it', { type: 'A.Error', message: 'ValueError: bad' }, 'A.Error', 'ValueError: bad', ''],
  [
    'a stack alone',
    { stack: 'TypeError: x\n    at f (a.js:1:1)' },
    'TypeError',
    'x',
    'TypeError: x\n    at f (a.js:1:1)',
  ],
  ['a stack in the message', { message: 'x\n    at f (a.js:1:1)' }, '', 'x', '    at f (a.js:1:1)'],
  ['frames as texts', { message: 'x', stack: ['a.py:1', 'b.py:2'] }, '', 'x', 'a.py:1\nb.py:2'],
  ['frames of nothing', { message: 'x', traceback: [null, 5, {}, [], { filename: 'a' }] }, '', 'x', '\n5\n  \n\n  a'],
  ['frames that are none', { message: 'x', stack: { frames: 'none' } }, '', 'x', ''],
  [
    'frames by other names',
    { message: 'x', trace: [{ file: 'a', line: 3, name: 'f', code: ' y ' }] },
    '',
    'x',
    '  a:3 in f\n    y',
  ],
  ['line 0', { message: 'x', trace: [{ file: 'a', line: 0 }] }, '', 'x', '  a:0'],
  ['members of every object', { message: 'x', type: '__proto__' }, '__proto__', 'x', ''],
])('an object tells it: %s', (_, members, type, message, stack) => {
  expect(thrownOf({ attributes: { error: members } })).toEqual([{ type, message, stack }])
  expect(thrownOf({ exception: JSON.stringify(members) })).toEqual([{ type, message, stack }])
})

it('a list tells each, in its order, those with a stack first, and no more than ten', () => {
  const values = [{ message: 'a' }, 'b', null, { value: 'c', stack: 's' }, [{ message: 'd' }]]
  expect(thrownOf({ exception: values }).map(({ message }) => message)).toEqual(['c', 'a', 'b', 'd'])
  const many = Array.from({ length: 50_000 }, (_, n) => ({ type: 'Error', message: `number ${n} of many` }))
  expect(thrownOf({ exception: many }).map(({ message }) => message)).toEqual(
    Array.from({ length: 10 }, (_, n) => `number ${n} of many`),
  )
})

it('what is told twice is told once: by the event, by the attribute and by the text of the call', () => {
  const told = { type: 'ValueError', message: 'bad input', stacktrace: 'ValueError: bad input\n    at f (a.js:1:1)' }
  const attributes = {
    error: { type: 'ValueError', message: 'bad input' },
    otel_span: {
      attributes: { 'exception.type': 'ValueError', 'exception.message': 'bad input' },
      events: [{ name: 'exception', attributes: { exception: told } }],
      status: { message: 'bad input' },
    },
    status_message: 'bad input',
  }
  expect(thrownOf({ exception: 'ValueError: bad input', attributes })).toEqual([
    { type: 'ValueError', message: 'bad input', stack: told.stacktrace },
  ])
  // Another type, or more words, are another one.
  expect(thrownOf({ exception: 'KeyError: bad input', attributes })).toHaveLength(2)
  expect(thrownOf({ exception: 'bad input, and more', attributes })).toHaveLength(2)
})

it.each([
  { otel_span: null },
  { otel_span: 'text' },
  { otel_span: { events: 'none' } },
  { otel_span: { events: [null, 5, 'exception', [], { name: 'exception' }, { name: 5, attributes: {} }] } },
  { otel_span: { events: [{ name: 'exceptional', attributes: { exception: { message: 'x' } } }] } },
  { otel_span: { attributes: [1, 2] } },
  { error: true },
  { exception: false },
  { 'error.type': 'timeout' },
  [],
  'text',
  null,
])('attributes without one: %j', (attributes) => {
  expect(thrownOf({ attributes })).toEqual([])
})

it('texts are bounded, wherever they stand', () => {
  const long = 'm'.repeat(1_000_000)
  const frames = '\n    at f (a.js:1:1)'
  const bad = [
    long,
    `${long}${frames}`,
    JSON.stringify({ message: long }),
    `{"type":"${'T'.repeat(9_000)}","message":"${long}","traceback":[{`,
    JSON.stringify({ type: long, message: `${long}${frames}`, stack: frames.repeat(20_000) }),
    `Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nValueError: ${long}`,
  ]
  for (const exception of bad) {
    const [found] = thrownOf({ exception })
    expect(found?.message).toMatch(/^m{1000}/)
    expect(found?.message.length).toBeLessThanOrEqual(20_000)
    expect(found?.type.length).toBeLessThanOrEqual(400)
    expect(found?.stack.length).toBeLessThanOrEqual(100_000)
  }
})

it.each<[text: string, line: string]>([
  ['', ''],
  ['ValueError: first\nsecond', 'ValueError: first'],
  ['KeyboardInterrupt', 'KeyboardInterrupt'],
  ['{"type":"E","message":"one\\ntwo"}', 'E: one'],
  ['{"message":"only this"}', 'only this'],
  ['{"type":"only"}', '{"type":"only"}'],
  // Cut off: a message that begins with a line end, and one that is itself cut.
  ['{"type":"E","message":"\\n  below","x":[{', 'E: below'],
  ['{"type":"E","message":"never en', '{"type":"E","message":"never en'],
  ['{"message":"bad \\x escape","x":[', '{"message":"bad \\x escape","x":['],
  ['[{"message":"in a list"}]', '[{"message":"in a list"}]'],
])('in one line %j is %j', (text, line) => {
  expect(lineOfThrown(text)).toBe(line)
})
