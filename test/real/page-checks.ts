/** What is true of every page of ours, asked in a browser. */
export const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-sync',
  '--no-first-run',
]

/** Parts that are not within the page. Wide tables scroll. */
export const OUTSIDE = `[...document.querySelectorAll('main *')].filter(one => {
  const { left, right, width } = one.getBoundingClientRect()
  return width > 0 && (left < 0 || right > innerWidth) && one.closest('.scroll') === null && one.closest('svg') === null
}).map(one => one.outerHTML.slice(0, 80))`

/** Texts whose contrast is less than the 4.5 of WCAG AA. */
export const LOW_CONTRAST = `[...document.querySelectorAll('main *')].filter(one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '')).flatMap(one => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const layers = []
  for (let at = one; at !== null; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor)
  const luminance = colours => {
    canvas.fillStyle = '#fff'
    canvas.fillRect(0, 0, 1, 1)
    for (const colour of colours) {
      canvas.fillStyle = colour
      canvas.fillRect(0, 0, 1, 1)
    }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(value => value / 255).map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const [text, ground] = [luminance([...layers, getComputedStyle(one).color]), luminance(layers)]
  const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)
  return contrast < 4.5 ? [contrast.toFixed(1) + ' ' + one.outerHTML.slice(0, 80)] : []
})`

/** Buttons and fields without an accessible name. */
export const UNNAMED = `[...document.querySelectorAll('button, input, select, textarea, [role=region], [tabindex]')].filter(one => {
  const label = one.labels && one.labels.length > 0 ? one.labels[0].textContent : ''
  return (one.getAttribute('aria-label') || label || (one.localName === 'button' ? one.textContent : '')).trim() === ''
}).map(one => one.outerHTML.slice(0, 80))`
