// Icons of 16 pixels, drawn as strokes. Paths follow lucide (ISC licence, Copyright (c) Lucide Contributors).

const paths = {
  agent:
    'M8 5V2.5M5.5 2.5h5M3.5 5h9a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1ZM1 8.5v1.5M15 8.5v1.5M6 8.5v1M10 8.5v1',
  llm: 'M8 2l1.4 4.6L14 8l-4.6 1.4L8 14l-1.4-4.6L2 8l4.6-1.4ZM13 2v2M12 3h2',
  tool: 'M9.8 4.2a3 3 0 0 1 3.9-1.9l-2 2 .2 1.8 1.8.2 2-2a3.3 3.3 0 0 1-4.5 4L5.5 14a1.6 1.6 0 0 1-2.3-2.3L8.9 6a3 3 0 0 1 .9-1.8Z',
  retrieval: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.7 10.7 14 14M7 5v4M5 7h4',
  embedding: 'M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z',
  evaluation: 'M8 2v12M4.5 14h7M2.5 4.5 8 3.5l5.5 1M2.5 4.5.8 9a2 2 0 0 0 3.4 0ZM13.5 4.5 11.8 9a2 2 0 0 0 3.4 0Z',
  guardrail: 'M8 14.5c3.5-1.2 5.5-3.3 5.5-6.5V3.5L8 1.5 2.5 3.5V8c0 3.2 2 5.3 5.5 6.5ZM6 8l1.5 1.5L10.5 6.5',
  other: 'M8 1.5 14 4.8v6.4L8 14.5 2 11.2V4.8ZM2 4.8l6 3.3 6-3.3M8 8.1v6.4',
  success: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.5 8.2l1.7 1.7 3.3-3.6',
  error: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6 6l4 4M10 6l-4 4',
  running: 'M8 2v2.5M8 11.5V14M2 8h2.5M11.5 8H14M3.8 3.8l1.7 1.7M10.5 10.5l1.7 1.7M3.8 12.2l1.7-1.7M10.5 5.5l1.7-1.7',
  descendant_error: 'M8 2.5 14.5 13.5H1.5ZM8 6.5v3M8 11.5v.1',
  calls: 'M2 3.5h12M2 8h12M2 12.5h7',
  menu: 'M2 4h12M2 8h12M2 12h12',
  threads: 'M2 3h9v6H6l-2.5 2V9H2ZM7.5 11v1H10l2.5 2v-2H14V6h-1.5',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.7 10.7 14 14',
  filter: 'M2 3h12l-4.7 5.5V13l-2.6-1.5v-3Z',
  grip: 'M6 3.5v.1M10 3.5v.1M6 8v.1M10 8v.1M6 12.5v.1M10 12.5v.1',
  close: 'M4 4l8 8M12 4l-8 8',
  right: 'M6 3.5 10.5 8 6 12.5',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  up: 'M3.5 10 8 5.5l4.5 4.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.3 1.5',
  refresh: 'M13.5 6.5A6 6 0 0 0 2.6 5.5M2.5 2.5v3h3M2.5 9.5a6 6 0 0 0 10.9 1M13.5 13.5v-3h-3',
  settings:
    'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 6.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM5.5 13.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.3 6.3a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.9.7-.9 1.3M8 11.3v.1',
  good: 'M5 7v6.5H2.5V7ZM5 7l2.5-5a1.6 1.6 0 0 1 1.6 1.9L8.6 6h3.6a1.4 1.4 0 0 1 1.4 1.7l-1 4.6a1.5 1.5 0 0 1-1.5 1.2H5',
  bad: 'M5 9V2.5H2.5V9ZM5 9l2.5 5a1.6 1.6 0 0 0 1.6-1.9L8.6 10h3.6a1.4 1.4 0 0 0 1.4-1.7l-1-4.6a1.5 1.5 0 0 0-1.5-1.2H5',
  leave: 'M6 2.5H3v11h3M10 5l3 3-3 3M13 8H6.5',
  wrap: 'M2 3.5h12M2 8h9.5a2.2 2.2 0 0 1 0 4.5H9M10.5 11 9 12.5l1.5 1.5M2 12.5h4',
  text: 'M3 4V2.5h10V4M8 2.5v11M6 13.5h4',
  image: 'M2 3h12v10H2zM2 11l3.5-3.5 3 3 2-2L14 12M10.5 6.2v.1',
  columns: 'M2 2.5h12v11H2zM6.5 2.5v11M10.5 2.5v11',
  person: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8ZM2.5 14a5.5 5.5 0 0 1 11 0',
  people:
    'M6 7.5A2.5 2.5 0 1 0 6 2.5a2.5 2.5 0 0 0 0 5ZM1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 2.8a2.5 2.5 0 0 1 0 4.5M12.5 9.8a4.5 4.5 0 0 1 2 3.7',
  key: 'M5.2 14a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM7.5 8.5 14 2M11.5 4.5l2 2',
  lock: 'M3 7.5h10V14H3ZM5 7.5V5a3 3 0 0 1 6 0v2.5',
  gauge: 'M2.5 13a6.5 6.5 0 1 1 11 0M8 9.5l3-3.5',
  price:
    'M8 1.5v13M11.5 4.5C11 3.5 9.7 3 8 3 6 3 4.5 3.8 4.5 5.4c0 3.6 7 1.6 7 5.2C11.5 12.2 10 13 8 13c-1.8 0-3.2-.6-3.7-1.8',
  pulse: 'M1.5 8.5h3L6.5 3l3 10 2-4.5h3',
  queue: 'M2 3h8M2 7h5M2 11h4M8.5 11.2l2 2 3.8-4.4',
  prompt: 'M2 2.5h12v8.5H7.5L4.5 14v-3H2ZM5 5.5h6M5 8h3.5',
  play: 'M5 3l8 5-8 5Z',
  wait: 'M4 2h8M4 14h8M5 2v2.5L8 8l3-3.5V2M5 14v-2.5L8 8l3 3.5V14',
} as const

export type IconName = keyof typeof paths

/** Without a label it stands beside the words that say the same. */
export function Icon({ name, label, className = '' }: { name: IconName; label?: string; className?: string }) {
  return (
    <svg
      className={`i ${className}`}
      viewBox="0 0 16 16"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <path d={paths[name]} />
    </svg>
  )
}
