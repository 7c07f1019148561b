/** For what is chosen in a line that narrow windows scroll: it is in view. */
export const intoView = (chosen: HTMLElement | null): void =>
  chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
