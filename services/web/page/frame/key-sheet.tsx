// The sheet of all keys, from the table that drives the handlers.
import { type KeyName, keyTable } from '../key-table.ts'
import { shownKey } from '../keys.ts'
import { Dialog } from '../parts/dialog.tsx'

export function KeySheet({ onClose }: { onClose(): void }) {
  const names = Object.keys(keyTable) as KeyName[]
  const scopes = [...new Set(names.map((name) => keyTable[name].scope))]
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {scopes.map((scope) => (
        <section key={scope}>
          <h3>{scope}</h3>
          <dl className="keys">
            {names
              .filter((name) => keyTable[name].scope === scope)
              .map((name) => (
                <div key={name}>
                  <dt>{keyTable[name].help}</dt>
                  <dd>
                    {keyTable[name].keys.map((key) => (
                      <span key={key}>
                        {shownKey(key).map((one) => (
                          <kbd key={one}>{one}</kbd>
                        ))}{' '}
                      </span>
                    ))}
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
