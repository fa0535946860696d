/** Makes HTML in which every value is text, unless this module made it. */
import { visible } from '../../base/text/shown.js'
import { localTime } from '../../base/time/clock.js'

/** HTML that is safe to show. Only `html` and `joined` make it. */
class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type { Html }

/** A part of a page. Nothing is shown of undefined and false. */
export type HtmlPart = Html | string | number | undefined | false | readonly HtmlPart[]

/** A template of our own around values from anywhere. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(textOf)))
}

function textOf(part: HtmlPart): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return escapeHtml(String(part))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return visible(text).replaceAll(/[&<>"']/g, character => ENTITIES[character] ?? '')
}

/** Shows a time, in ISO 8601, on one line. */
export function timeShown(time: string): Html {
  return html`<time datetime="${time}">${localTime(time)}</time>`
}

/** Shows what stands between backticks as a command or a name. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`
}
