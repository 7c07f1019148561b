// The button of bars, dialogs and lists; one that is off says why.
import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icon.tsx'

type ButtonProps = ComponentProps<'button'> & {
  /** The reason why it is off. */
  whyNot?: string | undefined
}

export const Button = ({ whyNot, className = 'line', title, disabled, ...rest }: ButtonProps) => (
  <button
    type="button"
    className={className}
    disabled={whyNot !== undefined || disabled}
    title={whyNot ?? title}
    {...rest}
  />
)

type IconButtonProps = ButtonProps & { icon: IconName; label: string }

export const IconButton = ({ icon, label, className = 'icon', ...rest }: IconButtonProps) => (
  <Button className={className} aria-label={label} {...rest}>
    <Icon name={icon} />
  </Button>
)
