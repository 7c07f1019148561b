// Facts of a thing by their names; those without a value are left out.
import { T } from './text.tsx'

export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: string])[] }) => (
  <dl className="facts">
    {facts
      .filter(([, value]) => value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <T text={value} max={200} />
          </dd>
        </div>
      ))}
  </dl>
)
