// Code that sends the first call, for this server and project, in the reader's language.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { mayAdminister, useSession } from '../api/session.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

const snippets = (url: string, project: string, key: string): Record<string, string> => {
  const host = url.replace(/\/$/, '')
  return {
    Python: `# pip install weave
import os
os.environ["WANDB_BASE_URL"] = os.environ["WF_TRACE_SERVER_URL"] = "${host}"
os.environ["WANDB_API_KEY"] = "${key}"

import weave
weave.init("${project}")

@weave.op
def answer(question: str) -> str:
    return f"You asked: {question}"

answer("Is anybody there?")`,
    Node: `// npm install weave
process.env.WANDB_BASE_URL = process.env.WF_TRACE_SERVER_URL = '${host}'
process.env.WANDB_API_KEY = '${key}'

const weave = await import('weave')
await weave.init('${project}')
const answer = weave.op(async function answer(question) {
  return \`You asked: \${question}\`
})
await answer('Is anybody there?')`,
    OpenTelemetry: `export OTEL_EXPORTER_OTLP_ENDPOINT=${host}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20${key},project_id=${project}"`,
    curl: `ID=$(openssl rand -hex 8) NOW=$(date -u +%FT%TZ)
curl -X POST ${host}/v2/${project}/calls/complete -H 'authorization: Bearer ${key}' -d '{"batch":[{
  "project_id": "${project}", "id": "'$ID'", "trace_id": "'$ID$ID'", "op_name": "hello",
  "started_at": "'$NOW'", "ended_at": "'$NOW'", "attributes": {}, "summary": {},
  "inputs": {"question": "Is anybody there?"}, "output": "Yes"}]}'`,
    'OpenAI client': `from openai import OpenAI
client = OpenAI(base_url="${host}/inference/v1", api_key="${key}", project="${project}")
client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hello"}])`,
  }
}

/** @param apiKey that has just been made */
export function QuickStart({ project, apiKey }: { project: string; apiKey?: string }) {
  const { data: session } = useSession()
  const all = snippets(baseUrl, project, apiKey ?? '<key>')
  const [chosen, setChosen] = useState('Python')
  const [isCopied, setCopied] = useState(false)
  const text = all[chosen] ?? ''
  return (
    <section className="quick" aria-label="Send the first call">
      <h2>Send the first call</h2>
      <div className="tabs" role="tablist" aria-label="Languages">
        {Object.keys(all).map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={name === chosen}
            onClick={() => {
              setChosen(name)
              setCopied(false)
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <pre tabIndex={0} role="tabpanel" aria-label={chosen}>
        {text}
      </pre>
      <div className="acts">
        <Button onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>
          <Icon name="copy" /> {isCopied ? 'Copied' : 'Copy'}
        </Button>
        {apiKey === undefined && mayAdminister(session) && (
          <Link
            to="/settings/$section"
            params={{ section: 'keys' }}
            search={{ project, new: '1' }}
            className="line"
            title="Create a key, and see these lines with it"
          >
            <Icon name="key" /> Create key
          </Link>
        )}
      </div>
    </section>
  )
}
