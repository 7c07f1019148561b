// What a window does not hold of a page: looked up in its boxes, by what clips and what scrolls.
import type { Page } from 'playwright-core'

/**
 * Run in the page. Controls that nobody can reach or see whole, as lines: beside the window, or cut off by a box that does
 * not scroll. Where a dialog is open the page behind it does not count.
 */
const controlsCutOff = `(() => {
  // Rounded edges, and the outline of what has the focus.
  const slack = 2
  const controls = 'a[href]:not([aria-hidden]), button, input, select, textarea, summary, [tabindex="0"]'
  const outX = (box, frame) => box.left < frame.left - slack || box.right > frame.right + slack
  const outY = (box, frame) => box.top < frame.top - slack || box.bottom > frame.bottom + slack
  const scrolls = (how) => how === 'auto' || how === 'scroll'
  const isTop = (one) => one.matches('dialog, :popover-open')

  // What is wrong with a box within one that is around it; a text that ends in dots may.
  const faultWithin = (box, around, { overflowX, overflowY, textOverflow }) => {
    const frame = around.getBoundingClientRect()
    if (outX(box, frame) && !scrolls(overflowX) && overflowX !== 'visible' && textOverflow !== 'ellipsis')
      return 'cut off beside, in .' + around.className
    if (outY(box, frame) && !scrolls(overflowY) && overflowY !== 'visible')
      return 'cut off below or above, in .' + around.className
  }
  const faultInWindow = (box) => {
    const frame = { left: 0, top: 0, right: innerWidth, bottom: innerHeight }
    if (outX(box, frame)) return 'beside the window'
    if (outY(box, frame)) return 'below or above the window'
  }
  const faultOf = (one) => {
    let box = one.getBoundingClientRect()
    if (box.width < 3 || box.height < 3) return
    for (let around = one.parentElement; around && around !== document.body; around = around.parentElement) {
      const style = getComputedStyle(around)
      // For screen readers alone.
      if (style.clipPath !== 'none') return
      const fault = faultWithin(box, around, style)
      if (fault) return fault
      const frame = around.getBoundingClientRect()
      // From here on it counts as where the box is that scrolls it; nothing around the top layer clips it.
      if (isTop(around)) return faultInWindow(frame)
      if ((scrolls(style.overflowX) && outX(box, frame)) || (scrolls(style.overflowY) && outY(box, frame))) box = frame
    }
    return faultInWindow(box)
  }

  const within = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  const isSeen = (one) =>
    one.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })
  return [...within.querySelectorAll(controls)].filter(isSeen).flatMap((one) => {
    const fault = faultOf(one)
    const name = (one.getAttribute('aria-label') ?? one.textContent).trim().slice(0, 60)
    return fault ? [one.tagName.toLowerCase() + ' "' + name + '": ' + fault] : []
  })
})()`

/** What the window as it is does not hold of the page. */
export async function widthFaults(page: Page): Promise<string[]> {
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  return [...(wide > 0 ? [`${wide} pixels too wide`] : []), ...(await page.evaluate<string[]>(controlsCutOff))]
}
