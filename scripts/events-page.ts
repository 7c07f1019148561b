// `npm run events`: writes docs/events.md from the declarations of services/events; `npm run check` refuses a stale one.
import { fileURLToPath } from 'node:url'
import type { ColumnKind, DeclaredTopic, TopicColumn } from '../services/events/declaration.ts'
import { topics } from '../services/events/registry.ts'
import { declaredViews } from '../services/worker/views.ts'
import { generatedPage } from './generated-page.ts'

const introduction = `# Events

Written by \`npm run events\` from \`services/events\`; \`npm run check\` refuses a page that is behind. What happens is appended to the log as rows of a topic, one JSON object on a line, in the order of the columns. The worker inserts the rows into the topic's landing table (engine \`Null\`, with the record header \`_record\` before these columns), and views fill the tables from it. A column that is left out has its default.
`

/** Form of a value in a row. */
const kinds: Record<ColumnKind, string> = {
  text: 'string',
  json: 'JSON: objects and arrays as they are, else a string that holds the text',
  optional: 'string; left out for null',
  choice: 'one of the names',
  number: 'number',
  list: 'array',
  map: 'object',
  jsonMap: 'object',
}

const rowOf = ([name, { kind, type, isAlwaysWritten }]: [string, TopicColumn]): string =>
  `| \`${name}\` | \`${type}\` | ${kinds[kind]}${isAlwaysWritten ? '; the default is written too' : ''} |`

const sectionOf = (topic: DeclaredTopic, views: readonly string[]): string => `
## ${topic.name}

${topic.about} Version ${topic.version}, landing table \`${topic.landing}\`; views ${views.map((view) => `\`${view}\``).join(', ')}.

| Column | Type | In a row |
| --- | --- | --- |
${Object.entries(topic.columns).map(rowOf).join('\n')}
`

export const eventsPage = generatedPage('docs/events.md', 'services/events', 'events', () => {
  const views = declaredViews()
  const sections = Object.values(topics).map((topic) => sectionOf(topic, views.get(topic.name) ?? []))
  return introduction + sections.join('')
})

if (process.argv[1] === fileURLToPath(import.meta.url)) eventsPage.write()
