// A price of a model from a day on, in dollars per million tokens.
import { useState } from 'react'
import { json } from '../api/client.ts'
import { FormDialog, TextField } from '../parts/forms.tsx'

const amounts = {
  prompt_token_cost: 'Input',
  completion_token_cost: 'Output',
  cache_read_input_token_cost: 'Cache read',
  cache_creation_input_token_cost: 'Cache write',
} as const
type Name = keyof typeof amounts
const names = Object.keys(amounts) as Name[]

/** Per token, of what was typed per million: without the noise of a division. */
const perToken = (typed: string): number => Number(`${Number(typed)}e-6`) || Number(typed) / 1e6

type Props = { projectId: string; model: string; onClose(): void }

export function NewPrice({ projectId, model: start, onClose }: Props) {
  const [model, setModel] = useState(start)
  const [typed, setTyped] = useState<Partial<Record<Name, string>>>({})
  const [from, setFrom] = useState('')
  const save = () => {
    const cost = {
      prompt_token_cost: 0,
      completion_token_cost: 0,
      ...Object.fromEntries(names.map((name) => [name, perToken(typed[name] ?? '0')])),
      ...(from !== '' && { effective_date: new Date(from).toISOString() }),
    }
    return json('costs.create', { project_id: projectId, costs: { [model.trim()]: cost } })
  }
  return (
    <FormDialog title="New price" act="Save price" run={save} isReady={model.trim() !== ''} onClose={onClose}>
      <TextField label="Model" hint="Exactly as in your calls. Case-sensitive." value={model} onText={setModel} />
      <div className="set-fields">
        {names.map((name) => (
          <TextField
            key={name}
            label={amounts[name]}
            hint="$ per million tokens"
            type="number"
            min={0}
            step="any"
            placeholder="0"
            value={typed[name] ?? ''}
            onText={(text) => setTyped((before) => ({ ...before, [name]: text }))}
          />
        ))}
      </div>
      <TextField
        label="From"
        hint="Applies to calls that start at this time or later. Empty: from now on."
        type="datetime-local"
        value={from}
        onText={setFrom}
      />
    </FormDialog>
  )
}
