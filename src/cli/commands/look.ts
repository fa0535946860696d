import { basename } from 'node:path'
import { describeOption, type OptionName } from '../../options/describe-option.js'
import { inShell, visible } from '../../base/text/shown.js'
import { plural } from '../terminal/columns.js'

type LookedAt = Awaited<ReturnType<typeof import('../../ingest.js').lookAtInputs>>['inputs'][number]

/** Characters of a document that are shown. */
const LONGEST = 1000

/** Returns what a person sees of an input. */
export function shownInput({ name, found, documents, read, isWhole, rejected }: LookedAt): string[] {
  const of = `${isWhole ? '' : 'the first '}${plural(read, 'document')}`
  const lines = [name, `  ${found}`, '', `  The first of ${of}, as a load would store them`]
  for (const text of documents) lines.push(`    ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`)
  if (rejected.length > 0) lines.push('', `  A load would reject`)
  for (const { documents: many, reason, first } of rejected)
    lines.push(`    ${plural(many, 'document')}: ${reason}${first === reason ? '' : `. First: ${first}`}`)
  // A name or a value of others must not make lines.
  return lines.map(visible)
}

export function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}

/** Says the command that loads the files, and the one that also loads columns with the types that they could have. */
export function waysToLoad(
  source: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  inputs: readonly LookedAt[],
  more: Readonly<Record<string, unknown>>,
): string[] {
  const it = inputs.length === 1 ? 'it' : 'them'
  const given = { ...flags, ...more }
  const lines = [`To load ${it}`, '', `  ${commandFor(source, given)}`]
  const { types } = flags as { readonly types?: string }
  const offered = inputs.flatMap(({ offered: of }) => Object.entries(of).map(([name, type]) => `${name}:${type}`))
  if (offered.length === 0) return lines
  const all = [...(types === undefined ? [] : [types]), ...new Set(offered)].join(',')
  return [
    ...lines,
    '',
    `To load ${it} with the types that columns of text could have`,
    '',
    `  ${commandFor(source, { ...given, types: all })}`,
  ]
}

/** Returns the command that loads the files with the same options. */
function commandFor(source: readonly string[], flags: Readonly<Record<string, unknown>>): string {
  const options = Object.entries(flags).flatMap(([name, value]) => {
    const { flag } = describeOption(name as OptionName)
    // A load has no sample.
    if (flag === undefined || name === 'sample' || !['string', 'boolean'].includes(typeof value)) return []
    return value === true ? [flag] : [flag, inShell(String(value))]
  })
  return ['sluice ingest', ...source.map(inShell), '--index', indexFor(source[0] ?? ''), ...options].join(' ')
}

function indexFor(path: string): string {
  const [stem = ''] = basename(path).toLowerCase().split('.')
  return stem.replaceAll(/[^a-z0-9_-]+/g, '-').replaceAll(/^[-_]+|-+$/g, '') || 'documents'
}
