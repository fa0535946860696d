import { basename } from 'node:path'
import type { Command } from 'commander'
import { fail } from '../../base/failure/failure.js'
import { describeOption, type OptionName } from '../../options/describe-option.js'
import { loadOptions, sayWarnings } from '../application/load-options.js'
import { csvOptions } from '../settings/library-options.js'
import { plural } from '../terminal/columns.js'
import { addOptions } from '../terminal/help.js'
import { interruptible } from '../terminal/interrupt.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineLook(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command.argument('<source...>', 'files or quoted globs, as for sluice ingest'), 'infer')
    .addHelpText(
      'after',
      `
Examples:
  sluice look orders.csv
  sluice look orders.csv --types total:double

Nothing is sent, and no cluster is needed. The exit code is 1 if a load would reject documents.`,
    )
    .action(async (source: string[], flags: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      sayWarnings(effective, terminal)
      if (source.some(name => name === '-' || name === '/dev/stdin'))
        throw fail('OPTION_INVALID', { option: 'source', problem: 'has stdin, which can be read only once' })
      const { format, pick, members, sample } = effective.values
      using interruption = interruptible(terminal, 'stopping')
      const { lookAt } = await import('../../features/mapping/look-at.js')
      const { signal } = interruption
      const { inputs, mapping } = await lookAt({
        source,
        format,
        pick,
        members,
        csv: csvOptions(effective),
        sample,
        signal,
      })
      for (const input of inputs) terminal.out(`${shown(input).join('\n')}\n\n`)
      if (mapping.documents > 0)
        terminal.out(`Mapping\n\n${indented(JSON.stringify({ mappings: mapping.mappings }, null, 2))}\n\n`)
      terminal.out(`To load ${inputs.length === 1 ? 'it' : 'them'}\n\n  ${commandFor(source, flags)}\n`)
      done(inputs.some(({ rejected }) => rejected.length > 0) ? 1 : 0)
    })
}

type LookedAt = Awaited<ReturnType<typeof import('../../features/mapping/look-at.js').lookAt>>['inputs'][number]

/** Characters of a document that are shown. */
const LONGEST = 1000

function shown({ name, found, documents, read, isWhole, rejected }: LookedAt): string[] {
  const of = `${isWhole ? '' : 'the first '}${plural(read, 'document')}`
  const lines = [name, `  ${found}`, '', `  The first of ${of}, as a load would store them`]
  for (const text of documents) lines.push(`    ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`)
  if (rejected.length > 0) lines.push('', `  A load would reject`)
  for (const { documents: many, reason, first } of rejected)
    lines.push(`    ${plural(many, 'document')}: ${reason}. First: ${first}`)
  return lines
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ')
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

function inShell(text: string): string {
  return /^[\w./:,@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
