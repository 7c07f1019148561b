// Says on every page that the server is away, and since it is asked again by itself, when.
import { useSyncExternalStore } from 'react'
import { connection } from '../api/session.ts'
import { Button } from '../parts/button.tsx'

export const useConnection = () => useSyncExternalStore(connection.subscribe, connection.state)

export function ConnectionBar() {
  const { isAway, leftS } = useConnection()
  return (
    <div role="status">
      {isAway && (
        <div className="notice bad">
          <span>
            Cannot reach the server. <span className="second">Data may be out of date.</span>
          </span>
          <span className="grow" />
          {/* Not read out each second. */}
          <span className="num" aria-hidden="true">
            {leftS > 0 ? `Trying again in ${leftS} s` : 'Trying again…'}
          </span>
          <Button disabled={leftS === 0} onClick={() => void connection.look()}>
            Retry
          </Button>
        </div>
      )}
    </div>
  )
}
