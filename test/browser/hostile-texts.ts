// Texts that no page may run, load or break by, wherever they were recorded; and what would show that one did.

export const texts = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "';alert(1)//",
  '<svg/onload=alert(1)><animate onbegin=alert(1)>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '</script></style></textarea></title><iframe src=javascript:alert(1)>',
  '<a href="jAvAsCrIpT:alert(1)">x</a> [x](javascript:alert(1)) [y](data:text/html;base64,PHNjcmlwdD4=)',
  '<link rel=stylesheet href=//evil.example/x.css><meta http-equiv=refresh content="0;url=//evil.example">',
  '![x](https://evil.example/pixel.png) https://evil.example/a <base href=//evil.example>',
  '{{constructor.constructor("alert(1)")()}} ${alert(1)} <%= alert(1) %>',
  'user\u202egnp.exe \u2066isolated\u2069 zero\u200bwidth\ufeff',
  'nul\u0001\u0007\u001b[31m escape',
  '__proto__',
  'constructor',
  `a${'\u0301\u0489'.repeat(20_000)}`,
  'data:text/html,<script>alert(1)</script>',
]

/** Nothing in it lets a line break. */
export const longWord = 'W'.repeat(20_000)

/** JSON of many members and of great depth. */
export const hugeValue = (): Record<string, unknown> => {
  let deep: unknown = longWord
  for (let level = 0; level < 200; level++) deep = { [`level ${level}`]: deep }
  return {
    deep,
    many: Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`member ${n} ${'x'.repeat(50)}`, n])),
  }
}

/** Elements of the page that no data may add to. */
const allowed = `
  a article aside bdi body button canvas code datalist dd dialog div dl dt fieldset footer form h1 h2 h3 head header
  hr html i img input kbd label legend li link main meta nav noscript ol option p path pre script section select small
  span style svg line title ul base circle polyline details summary textarea progress strong em del blockquote br h4 figure time
  figcaption b table colgroup col thead tbody tr th td caption abbr`.split(/\s+/)

/** Finds names of elements, and addresses, that the page does not have by itself. */
export const strangeElements = `[...document.querySelectorAll('*')]
  .map((element) => element.localName)
  .filter((name) => !${JSON.stringify(allowed)}.includes(name))
  .concat([...document.querySelectorAll('img, a[href], [src], iframe, object, embed')]
    .map((element) => element.src || element.href || '')
    .filter((address) => address !== '' && !address.startsWith(location.origin))
    .filter((address) => address !== document.querySelector('link[rel=icon]').href))`
